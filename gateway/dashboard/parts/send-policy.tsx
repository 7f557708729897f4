import { Group, Stack } from '@mantine/core';
import { graphql, type ResultOf } from '../graphql.ts';
import { FIELDS } from './form.tsx';
import { RelativeTime } from './relative-time.tsx';
import { Small } from './text.tsx';

/** A send policy with what is left of its budgets. */
export const POLICY_PARTS = graphql(`
  fragment PolicyParts on SendPolicy {
    recipients allow perHour perDay attachments links undoSeconds autoRepliesPerThreadPerHour approval
  }
`);
export const USAGE_PARTS = graphql(`fragment UsageParts on PolicyUsage { budget limit used remaining nextAt }`);

type ShownPolicy = ResultOf<typeof POLICY_PARTS>;
type ShownUsage = ResultOf<typeof USAGE_PARTS>;

type PolicyInput = ReturnType<typeof graphql.scalar<'SendPolicyInput'>>;

/** Values of the fields of a policy; empty and the first choices limit nothing. */
type PolicyValues = ReturnType<typeof policyValues>;

/** Returns the values of the fields for a policy; null: no limits. */
export function policyValues(policy: ShownPolicy | null) {
  return {
    recipients: policy?.recipients ?? 'ANY',
    allow: [...(policy?.allow ?? [])],
    perHour: policy?.perHour ?? ('' as const),
    perDay: policy?.perDay ?? ('' as const),
    attachments: policy?.attachments ?? true,
    links: policy?.links ?? true,
    undoSeconds: policy?.undoSeconds ?? ('' as const),
    autoRepliesPerThreadPerHour: policy?.autoRepliesPerThreadPerHour ?? ('' as const),
    approval: policy?.approval ?? 'NEVER',
  };
}

/** Returns the policy of the fields, without rules that limit nothing; null when none is left. */
export function policyInput(values: PolicyValues): PolicyInput | null {
  const { recipients, allow, attachments, links, approval } = values;
  const numbers = (['perHour', 'perDay', 'undoSeconds', 'autoRepliesPerThreadPerHour'] as const).flatMap((name) => {
    const value = values[name];
    return value === '' ? [] : [[name, value] as const];
  });
  const policy: PolicyInput = {
    ...(recipients === 'ANY' ? {} : { recipients }),
    ...(recipients === 'LIST' ? { allow } : {}),
    ...Object.fromEntries(numbers),
    ...(attachments ? {} : { attachments }),
    ...(links ? {} : { links }),
    ...(approval === 'NEVER' ? {} : { approval }),
  };
  return Object.keys(policy).length === 0 ? null : policy;
}

/** Returns the errors of the fields, by their names in the form, from those of the input; entries of the list are named by their place. */
export function policyErrors(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, message]) => [`policy.${/^\d+$/.test(name) ? 'allow' : name}`, message]),
  );
}

const RECIPIENTS: { value: PolicyValues['recipients']; label: string }[] = [
  { value: 'ANY', label: 'Everyone' },
  { value: 'PARTICIPANTS', label: 'Participants of the thread (replies only)' },
  { value: 'LIST', label: 'Selected addresses and domains' },
];
const APPROVALS: { value: PolicyValues['approval']; label: string }[] = [
  { value: 'NEVER', label: 'Never' },
  { value: 'ON_REVIEW', label: 'After mail with text aimed at agents' },
  { value: 'NEW_RECIPIENTS', label: 'For new recipients' },
  { value: 'ALWAYS', label: 'For every email' },
];

const APPROVAL_WORDS: Record<PolicyValues['approval'], string | null> = {
  NEVER: null,
  ON_REVIEW: 'needs approval after mail with text aimed at agents',
  NEW_RECIPIENTS: 'new recipients need approval',
  ALWAYS: 'needs approval',
};

const { Choice, Tags, Number: NumberField, Checkbox } = FIELDS;

/** The fields of a send policy, in a form that has it in `policy`. */
export function PolicyFields({ recipients }: { recipients: PolicyValues['recipients'] }) {
  return (
    <Stack gap="sm">
      <Choice name="policy.recipients" label="Allowed recipients" data={RECIPIENTS} />
      {recipients === 'LIST' && (
        <Tags
          name="policy.allow"
          label="Addresses and domains"
          description="A domain excludes its subdomains."
          placeholder="ann@example.com, @example.com"
          acceptValueOnBlur
        />
      )}
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <NumberField name="policy.perHour" label="Emails per hour" min={1} miw={140} />
        <NumberField name="policy.perDay" label="Emails per day" min={1} miw={140} />
      </Group>
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <NumberField
          name="policy.undoSeconds"
          label="Time to undo, in seconds"
          description="Emails wait this long and can be cancelled."
          placeholder="Sent at once"
          min={0}
          miw={180}
        />
        <NumberField
          name="policy.autoRepliesPerThreadPerHour"
          label="Automatic replies per thread and hour"
          description="Counts what API keys and webhooks send."
          min={0}
          miw={180}
        />
      </Group>
      <Checkbox name="policy.attachments" label="Allow attachments" />
      <Checkbox name="policy.links" label="Allow links and remote images" />
      <Choice
        name="policy.approval"
        label="Approval"
        description="Emails that need approval wait until a person approves them."
        data={APPROVALS}
      />
    </Stack>
  );
}

/** What is left of the budgets of a policy; nothing without budgets. */
export function PolicyUsage({ usage }: { usage: readonly ShownUsage[] }) {
  return usage.map(({ budget, limit, used, nextAt }) => (
    <Small key={budget} fw={nextAt === null ? 400 : 600} component="div">
      {used} of {limit} emails in the last {budget === 'PER_HOUR' ? 'hour' : 'day'}
      {nextAt !== null && <RelativeTime at={nextAt} prefix=". Next possible " />}
    </Small>
  ));
}

function allowedInWords(count: number): string {
  return count === 1 ? 'one allowed recipient' : `${count} allowed recipients`;
}

/** Returns what a policy limits, in a few words, such as "3 per hour, no links". */
export function policyInWords(policy: ShownPolicy): string {
  const { recipients, perHour, perDay, attachments, links, undoSeconds, approval } = policy;
  const words = [
    recipients === 'PARTICIPANTS' ? 'replies to participants only' : null,
    recipients === 'LIST' ? allowedInWords(policy.allow?.length ?? 0) : null,
    perHour === null ? null : `${perHour} per hour`,
    perDay === null ? null : `${perDay} per day`,
    attachments === false ? 'no attachments' : null,
    links === false ? 'no links' : null,
    undoSeconds === null || undoSeconds === 0 ? null : `${undoSeconds} s to undo`,
    policy.autoRepliesPerThreadPerHour === null ? null : 'limited automatic replies',
    approval == null ? null : APPROVAL_WORDS[approval],
  ];
  return words.filter((word) => word !== null).join(', ') || 'no limits';
}
