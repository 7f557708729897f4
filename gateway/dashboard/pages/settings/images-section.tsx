import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { Section } from './section.tsx';

const IMAGE_SENDERS = graphql(`
  query DashboardImageSenders { viewer { id imageSenders { address createdAt } } }
`);

const REMOVE_IMAGE_SENDER = graphql(`
  mutation BlockImages($input: RemoveImageSenderInput!) {
    removeImageSender(input: $input) {
      __typename
      ... on RemoveImageSenderPayload { address }
      ... on Error { message code }
    }
  }
`);

/** Senders whose remote images are always shown. */
export function ImagesSection() {
  const { data, error, refresh } = useLiveQuery({ query: IMAGE_SENDERS, variables: {}, kinds: [] });
  const { act, isBusy } = useAct(REMOVE_IMAGE_SENDER);
  const senders = data?.viewer.imageSenders;
  const remove = async (address: string) => {
    await act({ input: { address } });
    refresh();
  };
  return (
    <Section
      title="Remote images"
      about="Images on other servers tell a sender when and where you read an email, so they are blocked. Emails from these senders load them at once, but only if the domain of the sender confirms the email (SPF or DKIM, and DMARC): a forged sender gets nothing. Tracking pixels are always removed."
    >
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {senders === undefined && error === undefined && <Skeleton h={40} />}
      {senders?.length === 0 && (
        <Text size="sm">No senders yet. Choose “Always show images” in an email to add its sender.</Text>
      )}
      {senders !== undefined && senders.length > 0 && (
        <Stack
          component="ul"
          gap="xs"
          p={0}
          m={0}
          style={{ listStyle: 'none' }}
          aria-label="Senders whose images are shown"
        >
          {senders.map(({ address, createdAt }) => (
            <Group component="li" key={address} justify="space-between" gap="sm">
              <Stack gap={0} miw={0} flex="1 1 12rem">
                <Text size="sm" fw={600} className="postroom-wrap">
                  {address}
                </Text>
                <Text size="xs" c="dimmed">
                  <RelativeTime at={createdAt} prefix="Added " />
                </Text>
              </Stack>
              <Button
                {...needs('organize', 'everything')}
                variant="default"
                size="xs"
                disabled={isBusy}
                aria-label={`Remove ${address}`}
                onClick={() => void remove(address)}
              >
                Remove
              </Button>
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  );
}
