import { Code, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { graphql, mutation } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { BusyButton, ConfirmButton } from '../../parts/buttons.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { LoadedSection, Section } from '../../parts/section.tsx';
import { Fine, Small, Strong } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';
import { auth, type ProviderSettings, type ProviderStep } from '../sign-in/auth-calls.ts';
import { change, ShownOnce, tellOutcome, useAsked, WhenRead } from './setting-parts.tsx';

/** The OpenID provider of the workspace, for its owner. */
export function SingleSignOnSection() {
  const asked = useAsked(auth.singleSignOn);
  return (
    <Section
      title="Single sign-on"
      about="Members with an address in a verified domain of this workspace sign in by the OpenID provider of your company."
    >
      <WhenRead asked={asked} height={200}>
        {({ provider, redirectUri }) => (
          <ProviderForm
            key={JSON.stringify(provider)}
            redirectUri={redirectUri}
            stored={provider}
            onChange={asked.askAgain}
          />
        )}
      </WhenRead>
    </Section>
  );
}

const ROLES = [{ value: '', label: 'None: they cannot sign in' }, 'admin', 'developer', 'agent', 'viewer'];
const STEPS: Record<ProviderStep['step'], string> = {
  discovery: 'Configuration',
  keys: 'Keys',
  authorization: 'Sign-in page',
  token: 'Client secret',
};

interface ProviderFormProps {
  redirectUri: string;
  /** null: none yet */
  stored: ProviderSettings | null;
  onChange: () => Promise<void>;
}

function ProviderForm({ redirectUri, stored, onChange }: ProviderFormProps) {
  const [steps, setSteps] = useState<ProviderStep[] | null>(null);
  const form = useRecordForm({
    values: {
      issuer: stored?.issuer ?? '',
      clientId: stored?.clientId ?? '',
      clientSecret: '',
      groupsClaim: stored?.groupsClaim ?? 'groups',
      groupRoles: (stored?.groupRoles ?? []).map(({ group, role }) => `${group} = ${role}`).join('\n'),
      defaultRole: stored === null ? 'agent' : (stored.defaultRole ?? ''),
      trustsAddresses: stored?.trustsAddresses ?? false,
      isRequired: stored?.isRequired ?? false,
    },
    validate: {
      issuer: (value) => (value.trim() === '' ? 'Enter the issuer.' : null),
      clientId: (value) => (value.trim() === '' ? 'Enter the client ID.' : null),
      clientSecret: (value) => (stored === null && value === '' ? 'Enter the client secret.' : null),
      groupRoles: (value) =>
        readGroupRoles(value) === null ? 'Write one group a line, such as: support = agent' : null,
    },
    submit: (values) => auth.setSingleSignOn(writeProvider(values)),
    saved: (outcome) => {
      tellOutcome(outcome, 'Single sign-on was saved.');
      void onChange();
    },
  });
  const test = async () => {
    if (form.validate().hasErrors) return;
    const outcome = await auth.testSingleSignOn(writeProvider(form.getValues()));
    form.refuse(outcome.problem);
    if (outcome.problem === null) setSteps(outcome.result.steps);
  };
  return (
    <RecordForm
      form={form}
      submit="Save"
      label="Single sign-on"
      justify="flex-start"
      aside={
        <>
          <BusyButton label="Test" act={test} />
          {stored !== null && (
            <ConfirmButton
              size="sm"
              label="Remove"
              question="Remove single sign-on?"
              about="Sessions that began by it end. Members without a password sign in by a password reset."
              confirm="Remove single sign-on"
              act={() => change(auth.removeSingleSignOn(), 'Single sign-on was removed.', onChange)}
            />
          )}
        </>
      }
    >
      <Small className="postroom-wrap">
        Redirect URI, for the settings of the provider: <code>{redirectUri}</code>
      </Small>
      <form.Text name="issuer" label="Issuer" placeholder="https://login.example.com" />
      <form.Text name="clientId" label="Client ID" />
      <form.Text
        name="clientSecret"
        label="Client secret"
        type="password"
        placeholder={stored === null ? '' : 'Stored. Enter a new one to replace it.'}
      />
      <form.Text name="groupsClaim" label="Claim with the groups" />
      <form.LongText
        name="groupRoles"
        label="Roles of groups"
        description="One group a line, such as: support = agent. The role with the most rights counts, at each sign-in."
        minRows={2}
      />
      <form.Choice name="defaultRole" label="Role of persons in none of these groups" data={ROLES} />
      <form.Checkbox
        name="trustsAddresses"
        label="Accept addresses without the claim email_verified"
        description="Only if no one but administrators can set the addresses at the provider, as in Microsoft Entra."
      />
      <form.Checkbox
        name="isRequired"
        label="Members sign in by single sign-on only"
        description="Your own password or passkey, as the owner, stays the way back in."
      />
      {steps !== null && (
        <List listStyleType="none" size="sm" spacing={4} aria-label="Steps of the test">
          {steps.map(({ step, isPassed, text }) => (
            <List.Item key={step}>
              <Strong span {...(!isPassed && { c: 'var(--mantine-color-error)' })}>
                {isPassed ? 'Passed' : 'Failed'}
              </Strong>
              {' · '}
              {STEPS[step]}: {text}
            </List.Item>
          ))}
        </List>
      )}
    </RecordForm>
  );
}

/** Returns the values of the form as the call takes them. An empty secret leaves the stored one. */
function writeProvider<Values extends { clientSecret: string; groupRoles: string; defaultRole: string }>(
  values: Values,
) {
  return {
    ...values,
    clientSecret: values.clientSecret || undefined,
    groupRoles: readGroupRoles(values.groupRoles) ?? [],
    defaultRole: values.defaultRole || null,
  };
}

/** Returns the groups and roles of lines such as `support = agent`; null if one is not valid. */
function readGroupRoles(text: string): { group: string; role: string }[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const read = lines.map((line) => /^(.+)=\s*(admin|developer|agent|viewer)\s*$/.exec(line));
  if (read.includes(null)) return null;
  return read.map((match) => ({ group: (match?.[1] ?? '').trim(), role: match?.[2] ?? '' }));
}

const DIRECTORY = graphql(`
  query DashboardScim {
    scimDirectory { url users groups waiting token { id name hint createdAt createdBy lastUsedAt } }
  }
`);
const CREATE_TOKEN = mutation('createScimToken', 'directory { secret }');
const REVOKE_TOKEN = mutation('revokeScimToken', 'directory { url }');

/** The token by which the directory of a company provisions members, for the owner of the workspace. */
export function ScimSection() {
  const query = useLiveQuery({ query: DIRECTORY, types: ['ScimDirectory'] });
  const { act: revoke } = useAct(REVOKE_TOKEN, { done: 'The SCIM token was revoked.' });
  const [secret, setSecret] = useState<string | null>(null);
  const show = (next: string | null) => {
    setSecret(next);
    query.refresh();
  };
  return (
    <LoadedSection
      title="SCIM provisioning"
      about="The directory of your company adds members and removes them. Groups give roles as in single sign-on."
      query={query}
      height={100}
    >
      {({ scimDirectory: { url, users, groups, waiting, token } }) => (
        <>
          <Small className="postroom-wrap">
            Base URL, for the settings of the directory: <code>{url}</code>
          </Small>
          {secret !== null && (
            <ShownOnce
              title="Copy the token"
              about="It is shown only now."
              text={secret}
              copyLabel="Copy token"
              done={() => setSecret(null)}
            >
              <Code className="postroom-wrap">{secret}</Code>
            </ShownOnce>
          )}
          {token === null ? (
            <TokenForm made={show} />
          ) : (
            <Group justify="space-between" align="flex-start" gap="sm" wrap="nowrap">
              <Stack gap={0} miw={0} flex={1}>
                <Text fw={600} className="postroom-wrap">
                  {token.name}
                </Text>
                <Small>
                  {counted(users, 'user')}, {counted(groups, 'group')}
                  {waiting > 0 &&
                    `. ${waiting === 1 ? '1 waits' : `${formatCount(waiting)} wait`}: an address in a verified domain, or a role, is missing`}
                </Small>
                <Fine className="postroom-wrap">
                  {token.hint}
                  <RelativeTime at={token.createdAt} prefix=" · created " />
                  {token.createdBy !== null && ` by ${token.createdBy}`}
                  {token.lastUsedAt === null ? (
                    ' · not used yet'
                  ) : (
                    <RelativeTime at={token.lastUsedAt} prefix=" · last used " />
                  )}
                </Fine>
              </Stack>
              <ConfirmButton
                label="Revoke token"
                question="Revoke the SCIM token?"
                about="The directory can no longer change members. Members that it added stay."
                act={() => revoke({ id: token.id }).then(() => show(null))}
              />
            </Group>
          )}
        </>
      )}
    </LoadedSection>
  );
}

function TokenForm({ made }: { made: (secret: string | null) => void }) {
  const { act } = useAct(CREATE_TOKEN, { quiet: true, done: 'The SCIM token was created.' });
  const form = useRecordForm({
    values: { name: '' },
    submit: (input) => act(input),
    saved: ({ payload }) => made(payload.directory.secret),
  });
  return (
    <RecordForm
      form={form}
      submit="Create token"
      label="Create SCIM token"
      justify="flex-start"
      isDisabled={form.values.name.trim() === ''}
    >
      <form.Text name="name" label="Name of the directory" placeholder="Okta" maxLength={100} />
    </RecordForm>
  );
}
