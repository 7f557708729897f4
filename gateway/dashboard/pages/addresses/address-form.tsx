import { Group, Select } from '@mantine/core';
import { connection, graphql, mutation, type ResultOf, record } from '../../graphql.ts';
import { useEndpointChoices, useVerifiedDomains } from '../../parts/choices.ts';
import { FormLoading, RecordForm, useRecordForm } from '../../parts/form.tsx';
import { POLICY_PARTS, USAGE_PARTS } from '../../parts/send-policy.tsx';
import { PageLink, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useNoField } from '../../shell/keys.ts';

const ADDRESS = graphql(
  `fragment AddressParts on EmailAddress {
    id address isActive isReceiving warning routing signature createdAt
    endpoint { id name isActive }
    domain { id name catchAll { isEnabled endpoint { id name } } }
    emailStatistics { last24Hours last7Days last30Days }
    policy { ...PolicyParts }
    policyUsage { ...UsageParts }
  }`,
  [POLICY_PARTS, USAGE_PARTS],
);

/** Fields of an address. */
export type ShownAddress = ResultOf<typeof ADDRESS>;

export const ADDRESSES = connection(`emailAddresses($domainId: ID, $filter: EmailAddressFilter) { ...AddressParts }`, [
  ADDRESS,
]);

export const ONE_ADDRESS = record(`emailAddress { ...AddressParts }`, [ADDRESS]);

export const CREATE_ADDRESS = mutation('createEmailAddress', 'emailAddress { id address }');

/** Returns the destination of an address's mail as text. */
export function describeRoute({ endpoint, routing, domain }: ShownAddress): string {
  if (endpoint !== null) {
    const name = endpoint.isActive ? endpoint.name : `${endpoint.name} (off, so mail is only stored)`;
    return routing === 'WEBHOOK' ? `Webhook ${name}` : name;
  }
  const catchAll = domain?.catchAll;
  return catchAll?.isEnabled === true && catchAll.endpoint !== null
    ? `Catch-all of the domain: ${catchAll.endpoint.name}`
    : 'Stored only';
}

interface AddressFormProps {
  domainId: string | null;
  /** closes the form before it is loaded */
  cancel?: () => void;
  done: (made: { id: string; address: string }) => void;
}

/** Form that creates an address: the part before the @, the domain, and the destination. `domainId` is the preselected domain. */
export function AddressForm({ domainId, done, cancel = () => undefined }: AddressFormProps) {
  const { domains, hasDomains, error, refresh } = useVerifiedDomains();
  const endpoints = useEndpointChoices();
  const { act } = useAct(CREATE_ADDRESS, { quiet: true, done: 'The address was created and receives mail.' });
  const findDomain = (id: string | null) => domains?.find((domain) => domain.id === id) ?? domains?.[0];
  const form = useRecordForm({
    values: { local: '', domainId, endpointId: null as string | null, isActive: true },
    validate: { local: findLocalFault },
    submit: async ({ local, domainId: chosen, endpointId, isActive }) => {
      const domain = findDomain(chosen);
      const address = `${local.trim()}@${domain?.name}`;
      const outcome = await act({ address, domainId: domain?.id ?? '', endpointId, isActive });
      // The address exists already.
      if (outcome.problem?.type === 'Conflict') outcome.problem.fields = { address: `${outcome.problem.message}.` };
      return outcome;
    },
    rename: ({ address, ...fields }) => ({ ...fields, ...(address !== undefined && { local: address }) }),
    saved: ({ payload }) => done(payload.emailAddress),
  });
  if (domains === undefined) return <FormLoading height={180} cancel={cancel} error={error} retry={refresh} />;
  const domain = findDomain(form.values.domainId);
  if (domain === undefined) return <NeedsDomain what="An address" hasDomains={hasDomains} />;
  return (
    <RecordForm form={form} submit="Create address" gap="sm">
      <Group align="flex-start" gap="xs" grow preventGrowOverflow={false}>
        <form.Text
          name="local"
          label="Address"
          placeholder="hello"
          autoCapitalize="none"
          spellCheck={false}
          miw={140}
          data-autofocus
        />
        <Select
          label="Domain"
          data={domains.map(({ id, name }) => ({ value: id, label: `@${name}` }))}
          value={domain.id}
          error={form.errors['domainId']}
          onChange={(value) => form.setFieldValue('domainId', value)}
          allowDeselect={false}
          searchable={domains.length > 10}
          miw={180}
        />
      </Group>
      <form.Choice
        name="endpointId"
        label="Deliver mail to"
        description={
          endpoints.length === 0 ? 'You have no endpoints yet. Mail is stored and shown in the inbox.' : undefined
        }
        placeholder="Stored only"
        data={endpoints}
        clearable
        clearButtonProps={{ 'aria-label': 'No endpoint' }}
      />
      <form.Switch name="isActive" label="Receive mail" description="If off, mail to the address is rejected." />
    </RecordForm>
  );
}

/** Says that something needs a verified domain, with the way to one. */
export function NeedsDomain({ what, hasDomains }: { what: string; hasDomains: boolean }) {
  useNoField();
  return (
    <Small>
      {what} needs a verified domain.{' '}
      <PageLink href={hasDomains ? '/domains' : '/domains?new'}>
        {hasDomains ? 'Check your domains' : 'Add domain'}
      </PageLink>
    </Small>
  );
}

function findLocalFault(text: string): string | null {
  const local = text.trim();
  if (local === '') return 'Enter the part before the @.';
  if (local.includes('@')) return 'Enter only the part before the @.';
  if (/\s/.test(local)) return 'An address cannot contain spaces.';
  // Senders may append a plus-tag themselves.
  return local.includes('+')
    ? 'Leave out the + and the text after it. The address receives mail with every +tag.'
    : null;
}
