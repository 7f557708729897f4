import { Button, Group, Text, TextInput } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActButton } from '../../parts/buttons.tsx';
import { confirmSignIn } from '../../parts/confirm-sign-in.ts';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { IconDownload } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { notify } from '../../parts/notify.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded, PlainList, Section } from '../../parts/section.tsx';
import { auth } from '../sign-in/auth-calls.ts';
import { SettingRow } from './setting-parts.tsx';
import { useAsked } from './use-asked.ts';

/** Name and address of the account. */
export function ProfileSection() {
  const { answer } = useAsked(auth.session);
  const form = useRecordForm({
    values: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
    submit: ({ name }) => auth.rename(name.trim()),
    saved: () => {
      notify({ message: 'Your name was saved.', color: 'green' });
      form.resetDirty();
    },
  });
  const fill = useEffectEvent((name: string) => {
    form.setInitialValues({ name });
    form.reset();
  });
  const known = answer?.user.name;
  useEffect(() => {
    if (known !== undefined) fill(known);
  }, [known]);
  return (
    <Section
      title="Profile"
      about={answer ? <RelativeTime at={answer.user.createdAt} prefix="Account created " /> : undefined}
    >
      <RecordForm form={form} submit="Save" label="Profile" justify="flex-start" isDisabled={!form.isDirty()}>
        <form.Text
          name="name"
          label="Name"
          description="Visible only to you."
          autoComplete="name"
          maxLength={100}
          disabled={answer === undefined}
        />
        <TextInput
          label="Email address"
          description="You sign in with this address. It cannot be changed."
          value={answer?.user.email ?? ''}
          readOnly
        />
      </RecordForm>
    </Section>
  );
}

const IMAGE_SENDERS = graphql(`query DashboardImageSenders { viewer { id imageSenders { address createdAt } } }`);
const REMOVE_IMAGE_SENDER = graphql(`
  mutation BlockImages($input: RemoveImageSenderInput!) {
    removeImageSender(input: $input) { __typename ... on RemoveImageSenderPayload { address } }
  }
`);

/** Senders whose remote images are always shown. */
export function ImagesSection() {
  const query = useLiveQuery({ query: IMAGE_SENDERS, variables: {}, kinds: [] });
  return (
    <Section
      title="Remote images"
      about="Images on other servers tell a sender when and where you read an email, so they are blocked. Emails from these senders load them at once, but only if the domain of the sender confirms the email (SPF or DKIM, and DMARC): a forged sender gets nothing. Tracking pixels are always removed."
    >
      <Loaded query={query} height={40}>
        {({ viewer: { imageSenders } }) =>
          imageSenders.length === 0 ? (
            <Text size="sm">No senders yet. Choose “Always show images” in an email to add its sender.</Text>
          ) : (
            <PlainList label="Senders whose images are shown" gap="xs">
              {imageSenders.map(({ address, createdAt }) => (
                <SettingRow key={address} name={address} about={<RelativeTime at={createdAt} prefix="Added " />}>
                  <ActButton
                    needed={['organize', 'everything']}
                    aria-label={`Remove ${address}`}
                    mutation={REMOVE_IMAGE_SENDER}
                    variables={{ input: { address } }}
                    onDone={query.refresh}
                  >
                    Remove
                  </ActButton>
                </SettingRow>
              ))}
            </PlainList>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Starts the download, after the person has confirmed the sign-in if that is needed. */
export async function startExport(): Promise<void> {
  const { answer } = await auth.secondFactor();
  if (answer?.isFresh === false && !(await confirmSignIn())) return;
  window.location.assign('/api/auth/export');
}

/** Downloads all data of the account. */
export function ExportSection() {
  return (
    <Section
      title="Your data"
      about="All mail, threads, domains, endpoints and settings of this account, as one archive: JSON lines for documents, and each message as an .eml file."
    >
      <Text size="sm" c="dimmed">
        Webhook secrets, private keys of domains and API keys are not included. The download starts at once; a large
        account takes minutes.
      </Text>
      <Group>
        <Button
          {...needs('export')}
          component="a"
          href="/api/auth/export"
          download
          onClick={(event) => {
            event.preventDefault();
            void startExport();
          }}
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export account
        </Button>
      </Group>
    </Section>
  );
}
