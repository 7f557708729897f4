import { Anchor, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { RefusalNote } from '../../parts/refusal-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { LIFT, REASONS, type ShownSuppression, SUPPRESSIONS } from './suppression-documents.ts';

const PAGE = 50;

/** The first `count` pages of suppressions, like AddressList. `empty` is shown when there is none. */
export function SuppressionList({
  filter,
  after,
  pages,
  more,
  empty,
}: {
  filter: NonNullable<VariablesOf<typeof SUPPRESSIONS>['filter']> | null;
  after: string | null;
  pages: number;
  more: () => void;
  empty: ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: SUPPRESSIONS,
    variables: { first: PAGE, after, filter },
    kinds: ['EMAIL_BOUNCED', 'EMAIL_COMPLAINED'],
    types: ['Suppression', 'RemoveSuppressionPayload'],
  });
  const list = data?.suppressions;
  const next = list?.pageInfo.hasNextPage === true ? (list.pageInfo.endCursor ?? null) : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Stack component="ul" gap="xs" p={0} m={0} mb="xs" style={{ listStyle: 'none' }} aria-label="Suppressions">
          {list.edges.map(({ node }) => (
            <SuppressionRow key={node.id} suppression={node} />
          ))}
        </Stack>
      )}
      {next !== null &&
        (pages > 1 ? (
          <SuppressionList filter={filter} after={next} pages={pages - 1} more={more} empty={null} />
        ) : (
          <Group justify="center" mt="md">
            <Button variant="default" onClick={more}>
              Load more
            </Button>
          </Group>
        ))}
    </>
  );
}

function SuppressionRow({ suppression }: { suppression: ShownSuppression }) {
  const { act } = useAct(LIFT, { done: `The suppression of ${suppression.address} was removed.` });
  const { address, reason, list, detail, refusal, createdAt, email, id } = suppression;
  return (
    <Paper component="li" withBorder p="sm" bg="var(--postroom-raised)">
      <Group justify="space-between" gap="xs" align="flex-start">
        <Stack gap={2} flex={1} miw={200}>
          <Text fw={600} className="postroom-wrap">
            {address}
          </Text>
          <Text size="sm" component="div">
            {REASONS[reason].words}
            {list !== null && ` from the list "${list}"`}, <RelativeTime at={createdAt} />
          </Text>
          <RefusalNote refusal={refusal} />
          {detail !== null && (
            <Text size="sm" c="dimmed" className="postroom-wrap">
              {detail}
            </Text>
          )}
          {email !== null && (
            <Anchor component={Link} href={`/emails/${email.id}`} size="sm" className="postroom-wrap">
              {email.subject === '' ? 'Caused by this email' : `Caused by the email "${email.subject}"`}
            </Anchor>
          )}
        </Stack>
        <ConfirmButton
          label="Remove"
          aria-label={`Remove suppression of ${address}`}
          question={`Send mail to ${address} again?`}
          about={REASONS[reason].lifting}
          confirm="Remove suppression"
          act={() => act({ input: { idOrAddress: id } })}
        />
      </Group>
    </Paper>
  );
}
