import { Checkbox, Group, Modal, Radio, Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { DAY_MS } from '../../../../core/shared/durations.ts';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { EXPIRIES, findDateFault, readExpiry } from '../../parts/choices.ts';
import { Command } from '../../parts/command.tsx';
import { MainButton } from '../../parts/controls.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.ts';
import {
  POLICY_PARTS,
  PolicyFields,
  policyErrors,
  policyInput,
  policyValues,
  USAGE_PARTS,
} from '../../parts/send-policy.tsx';
import { CautionAlert, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { baseUrl, useViewer } from '../../shell/viewer.ts';

export const KEYS = graphql(
  `query DashboardKeys($first: Int!, $isRevoked: Boolean!) {
    apiKeys(first: $first, isRevoked: $isRevoked) {
      totalCount
      edges {
        node {
          id name status isCurrent scopes
          domains { id name }
          addresses createdAt expiresAt revokedAt lastUsedAt lastUsedFrom hint
          policy { ...PolicyParts }
          policyUsage { ...UsageParts }
        }
      }
      pageInfo { hasNextPage }
    }
  }`,
  [POLICY_PARTS, USAGE_PARTS],
);

/** A key in the list. */
export type ShownKey = ResultOf<typeof KEYS>['apiKeys']['edges'][number]['node'];

/** Scope of a key. */
type KeyScope = NonNullable<ShownKey['scopes']>[number];

/** The scopes with their descriptions. */
const KEY_SCOPES: readonly { scope: KeyScope; label: string; about: string }[] = [
  {
    scope: 'READ',
    label: 'Read',
    about: 'Read all data: emails with attachments, threads, domains, deliveries and live events.',
  },
  {
    scope: 'SEND',
    label: 'Send',
    about: 'Send new emails, replies and forwards; reschedule or cancel scheduled emails; retry failed ones.',
  },
  {
    scope: 'MANAGE',
    label: 'Manage',
    about: 'Change everything else: domains, addresses, endpoints, guard rules, labels and API keys.',
  },
  { scope: 'APPROVE', label: 'Approve', about: 'Approve or reject emails that wait for approval, except its own.' },
];

/** Returns the rights of a key, such as "Read and send". */
export function describeScopes(scopes: readonly KeyScope[] | null): string {
  if (scopes === null) return 'Full access';
  const labels = KEY_SCOPES.filter(({ scope }) => scopes.includes(scope)).map(({ label }) => label.toLowerCase());
  const text = new Intl.ListFormat('en').format(labels);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Days before its expiry from which a key is highlighted, as in the findings of the overview. */
const SOON_DAYS = 7;

/** Returns whether the key expires soon; false for a key without an expiry date. */
export function expiresSoon(expiresAt: string | null): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_DAYS * DAY_MS;
}

/** A new key, and what a sample request for it depends on. */
interface MadeKey {
  secret: string;
  /** null: full access */
  scopes: readonly KeyScope[] | null;
  /** an address that can send; null if there is none yet */
  sendsFrom: string | null;
  sendsTo: string;
}

/** Creates a key and shows its secret once. */
export function NewKeyModal({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<MadeKey | null>(null);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={made === null ? 'Create API key' : 'Copy API key'}
      size="lg"
      // An accidental click outside must not lose the key.
      closeOnClickOutside={false}
      closeOnEscape={made === null}
      withCloseButton={made === null}
    >
      {made === null ? (
        <NewKeyForm onMade={setMade} onCancel={onClose} />
      ) : (
        <NewKeySecret made={made} onDone={onClose} />
      )}
    </Modal>
  );
}

const CHOICES = graphql(`
  query DashboardKeyChoices {
    domains(first: 100) { edges { node { id name status canSend } } }
    emailAddresses(first: 100) { edges { node { id address } } }
    viewer { firstMail { address } }
  }
`);

const CREATE_KEY = mutation('createApiKey', 'secret apiKey { id name scopes }');

const NEW_KEY = {
  name: '',
  rights: 'full',
  scopes: ['READ'] as KeyScope[],
  domains: [] as string[],
  addresses: [] as string[],
  expiry: 'never',
  date: '',
  isLimited: false,
  policy: policyValues(null),
};

/** Scopes that a key of domains or addresses, or with a send policy, cannot have. */
const BEYOND_LIMITS: ReadonlySet<KeyScope> = new Set(['MANAGE', 'APPROVE']);

/** Form that creates a key. */
function NewKeyForm({ onMade, onCancel }: { onMade: (made: MadeKey) => void; onCancel: () => void }) {
  const viewer = useViewer();
  const [{ data }] = useQuery({ query: CHOICES, variables: {}, requestPolicy: 'cache-and-network' });
  const { act } = useAct(CREATE_KEY, { quiet: true });
  const domains = data?.domains.edges.map(({ node }) => node) ?? [];
  const addresses = data?.emailAddresses.edges.map(({ node }) => node) ?? [];
  const form = useRecordForm({
    values: NEW_KEY,
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      scopes: (scopes, { rights }) => (rights === 'some' && scopes.length === 0 ? 'Choose at least one scope.' : null),
      date: findDateFault,
    },
    submit: (values) =>
      act({
        name: values.name.trim(),
        scopes: values.rights === 'full' ? null : values.scopes,
        domains: values.domains.length === 0 ? null : values.domains,
        addresses: values.addresses.length === 0 ? null : values.addresses,
        policy: values.isLimited ? policyInput(values.policy) : null,
        expiresAt: readExpiry(values),
      }),
    rename: ({ expiresAt, ...faults }) => {
      const own = Object.entries(faults).filter(([name]) => name in NEW_KEY);
      const ofPolicy = Object.entries(faults).filter(([name]) => !(name in NEW_KEY));
      return {
        ...Object.fromEntries(own),
        ...policyErrors(Object.fromEntries(ofPolicy)),
        ...(expiresAt !== undefined && { date: expiresAt }),
      };
    },
    saved: ({ payload: { secret, apiKey } }) => {
      const chosen = form.getValues();
      const isWhole = chosen.domains.length + chosen.addresses.length === 0;
      const sender = domains.find(({ id, canSend }) => canSend && (isWhole || chosen.domains.includes(id)));
      const address = addresses.find(({ id }) => chosen.addresses.includes(id))?.address ?? null;
      onMade({
        secret,
        scopes: apiKey?.scopes ?? (chosen.rights === 'full' ? null : chosen.scopes),
        sendsFrom: sender === undefined ? address : `hello@${sender.name}`,
        sendsTo: data?.viewer.firstMail?.address ?? viewer.email ?? '',
      });
    },
  });
  const { values } = form;
  const isNarrow = values.domains.length + values.addresses.length > 0 || values.isLimited;
  /** Narrows the key, which then loses the scopes that a narrow key cannot have. */
  const narrow = (field: 'domains' | 'addresses' | 'isLimited', value: string[] | boolean) => {
    form.setFieldValue(field, value as never);
    if (value === true || (Array.isArray(value) && value.length > 0))
      form.setFieldValue('scopes', (scopes) => scopes.filter((scope) => !BEYOND_LIMITS.has(scope)));
  };
  return (
    <RecordForm form={form} submit="Create key" label="Create API key" cancel={onCancel}>
      <form.Text
        name="name"
        label="Name"
        description="Identifies the key, for example by program and environment."
        placeholder="Help desk, production"
        maxLength={100}
        data-autofocus
      />
      <form.Choices
        name="domains"
        label="Domains"
        description="Limits the key to the mail of these domains, and of the addresses below."
        data={domains.map(({ id, name }) => ({ value: id, label: name }))}
        placeholder={isNarrow ? '' : 'All domains'}
        clearable
        searchable
        clearButtonProps={{ 'aria-label': 'Clear domains' }}
        onChange={(chosen) => narrow('domains', chosen)}
      />
      <form.Choices
        name="addresses"
        label="Addresses"
        description="Limits the key to the mail of these addresses, and of the domains above."
        data={addresses.map(({ id, address }) => ({ value: id, label: address }))}
        placeholder={isNarrow ? '' : 'All addresses'}
        clearable
        searchable
        clearButtonProps={{ 'aria-label': 'Clear addresses' }}
        onChange={(chosen) => narrow('addresses', chosen)}
      />
      <Radio.Group label="Access" {...form.getInputProps('rights')}>
        <Stack gap="xs" mt="xs">
          <Radio
            value="full"
            label="Full access"
            description={
              isNarrow ? 'Everything that such a key can do: read and send.' : 'Everything that your account can do.'
            }
          />
          <Radio value="some" label="Selected scopes" />
        </Stack>
      </Radio.Group>
      {values.rights === 'some' && (
        <Checkbox.Group aria-label="Scopes" {...form.getInputProps('scopes')}>
          <Stack gap="xs" pl="xl">
            {KEY_SCOPES.map(({ scope, label, about }) => (
              <Checkbox
                key={scope}
                value={scope}
                label={label}
                description={
                  BEYOND_LIMITS.has(scope) && isNarrow
                    ? 'Not available for a key with domains, addresses or a send policy.'
                    : about
                }
                disabled={BEYOND_LIMITS.has(scope) && isNarrow}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <form.Choice name="expiry" label="Expiry" data={EXPIRIES} />
        {values.expiry === 'date' && <form.Text name="date" label="Last day" type="date" />}
      </Group>
      <Switch
        label="Limit what it sends"
        description="A send policy, for programs and agents that you do not fully trust."
        checked={values.isLimited}
        onChange={(event) => narrow('isLimited', event.currentTarget.checked)}
      />
      {values.isLimited && <PolicyFields recipients={values.policy.recipients} />}
    </RecordForm>
  );
}

/** The new key, shown once, with a sample request. */
function NewKeySecret({ made, onDone }: { made: MadeKey; onDone: () => void }) {
  const { service } = useViewer();
  const { about, command } = writeFirstRequest(made, baseUrl(service));
  return (
    <Stack>
      <CautionAlert icon={<Icon name="eye-off" />} role="status" py="sm">
        <Small>
          The key is shown only once, because Postroom stores only a digest. Save it where your program keeps its
          secrets.
        </Small>
      </CautionAlert>
      <Command text={made.secret} label="Copy key" />
      <Small>{about}</Small>
      <Command text={command} />
      <Group justify="flex-end">
        <MainButton label="Done" onClick={onDone} />
      </Group>
    </Stack>
  );
}

/** Returns a shell command that the key can run, and its description. It changes nothing, unless the key can only send. */
function writeFirstRequest(
  { secret, scopes, sendsFrom, sendsTo }: MadeKey,
  base: string,
): { about: string; command: string } {
  const bearer = `-H 'Authorization: Bearer ${secret}'`;
  const json = "-H 'Content-Type: application/json'";
  if (scopes === null || scopes.includes('READ'))
    return { about: 'Lists the newest emails:', command: `curl ${bearer} \\\n  '${base}/api/e2/emails?limit=3'` };
  if (scopes.includes('SEND') && sendsFrom !== null) {
    const email = { from: sendsFrom, to: sendsTo, subject: 'Hello', text: 'Sent by a new API key.' };
    return {
      about: `Sends an email from ${sendsFrom} to ${sendsTo}:`,
      command: `curl ${bearer} ${json} \\\n  -d '${JSON.stringify(email).replaceAll("'", "'\\''")}' \\\n  ${base}/api/e2/emails`,
    };
  }
  return {
    about: 'Checks the key with a GraphQL request:',
    command: `curl ${bearer} ${json} \\\n  -d '{"query":"{ __typename }"}' ${base}/graphql`,
  };
}
