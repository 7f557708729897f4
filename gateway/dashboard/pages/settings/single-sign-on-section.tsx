import { Button, Checkbox, Group, List, Select, Skeleton, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { type AuthProblem, auth, type ProviderSettings, type ProviderStep } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { Section } from './section.tsx';
import { tellOutcome } from './tell-outcome.ts';
import { useAsked } from './use-asked.ts';

/** The OpenID provider of the workspace, for its owner. */
export function SingleSignOnSection() {
  const { answer, problem, askAgain } = useAsked(auth.singleSignOn);
  return (
    <Section
      title="Single sign-on"
      about="Members with an address in a verified domain of this workspace sign in by the OpenID provider of your company."
    >
      <AuthProblemNote problem={problem} />
      {answer === undefined && problem === null && <Skeleton h={200} />}
      {answer !== undefined && (
        <ProviderForm
          key={JSON.stringify(answer.provider)}
          redirectUri={answer.redirectUri}
          stored={answer.provider}
          onChange={askAgain}
        />
      )}
    </Section>
  );
}

const ROLES = ['admin', 'developer', 'agent', 'viewer'];
const STEPS: Record<ProviderStep['step'], string> = {
  discovery: 'Configuration',
  keys: 'Keys',
  authorization: 'Sign-in page',
  token: 'Client secret',
};

function ProviderForm({
  redirectUri,
  stored,
  onChange,
}: {
  redirectUri: string;
  stored: ProviderSettings | null;
  onChange: () => Promise<void>;
}) {
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [steps, setSteps] = useState<ProviderStep[] | null>(null);
  const [busy, setBusy] = useState<'save' | 'test' | null>(null);
  const form = useForm({
    initialValues: {
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
  });
  const run = async (what: 'save' | 'test', values: typeof form.values) => {
    setBusy(what);
    const body = {
      ...values,
      clientSecret: values.clientSecret === '' ? undefined : values.clientSecret,
      groupRoles: readGroupRoles(values.groupRoles) ?? [],
      defaultRole: values.defaultRole === '' ? null : values.defaultRole,
    };
    const outcome = what === 'test' ? await auth.testSingleSignOn(body) : await auth.setSingleSignOn(body);
    setBusy(null);
    const fields = outcome.problem?.fields ?? {};
    form.setErrors(fields);
    setProblem(outcome.problem !== null && Object.keys(fields).length === 0 ? outcome.problem : null);
    if (outcome.problem !== null) return;
    if ('steps' in outcome.answer) return setSteps(outcome.answer.steps);
    tellOutcome(outcome, 'Single sign-on was saved.');
    await onChange();
  };
  return (
    <form aria-label="Single sign-on" noValidate onSubmit={form.onSubmit((values) => void run('save', values))}>
      <Stack>
        <Text size="sm" className="postroom-wrap">
          Redirect URI, for the settings of the provider: <code>{redirectUri}</code>
        </Text>
        <TextInput label="Issuer" placeholder="https://login.example.com" {...form.getInputProps('issuer')} />
        <TextInput label="Client ID" {...form.getInputProps('clientId')} />
        <TextInput
          label="Client secret"
          type="password"
          autoComplete="off"
          placeholder={stored === null ? '' : 'Stored. Enter a new one to replace it.'}
          {...form.getInputProps('clientSecret')}
        />
        <TextInput label="Claim with the groups" {...form.getInputProps('groupsClaim')} />
        <Textarea
          label="Roles of groups"
          description="One group a line, such as: support = agent. The role with the most rights counts, at each sign-in."
          autosize
          minRows={2}
          {...form.getInputProps('groupRoles')}
        />
        <Select
          label="Role of persons in none of these groups"
          data={[{ value: '', label: 'None: they cannot sign in' }, ...ROLES]}
          allowDeselect={false}
          {...form.getInputProps('defaultRole')}
        />
        <Checkbox
          label="Accept addresses without the claim email_verified"
          description="Only if no one but administrators can set the addresses at the provider, as in Microsoft Entra."
          {...form.getInputProps('trustsAddresses', { type: 'checkbox' })}
        />
        <Checkbox
          label="Members sign in by single sign-on only"
          description="Your own password or passkey, as the owner, stays the way back in."
          {...form.getInputProps('isRequired', { type: 'checkbox' })}
        />
        <AuthProblemNote problem={problem} />
        {steps !== null && (
          <List listStyleType="none" size="sm" spacing={4} aria-label="Steps of the test">
            {steps.map(({ step, isPassed, text }) => (
              <List.Item key={step}>
                <strong>{isPassed ? 'Passed' : 'Failed'}</strong>
                {' · '}
                {STEPS[step]}: {text}
              </List.Item>
            ))}
          </List>
        )}
        <Group>
          <Button type="submit" loading={busy === 'save'}>
            Save
          </Button>
          <Button
            variant="default"
            loading={busy === 'test'}
            onClick={() => {
              if (!form.validate().hasErrors) void run('test', form.values);
            }}
          >
            Test
          </Button>
          {stored !== null && (
            <ConfirmButton
              size="sm"
              label="Remove"
              question="Remove single sign-on?"
              about="Sessions that began by it end. Members without a password sign in by a password reset."
              confirm="Remove single sign-on"
              act={async () => {
                if (tellOutcome(await auth.removeSingleSignOn(), 'Single sign-on was removed.')) await onChange();
              }}
            />
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** Returns the groups and roles of lines such as `support = agent`; null if one is not valid. */
function readGroupRoles(text: string): { group: string; role: string }[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const read = lines.map((line) => /^(.+)=\s*(admin|developer|agent|viewer)\s*$/.exec(line));
  if (read.includes(null)) return null;
  return read.map((match) => ({ group: (match?.[1] ?? '').trim(), role: match?.[2] ?? '' }));
}
