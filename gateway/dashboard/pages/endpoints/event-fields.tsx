import { Button, Code, Group, Input, MultiSelect, Select, Stack, Switch, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { useQuery } from 'urql';
import { AUDIT_EVENT_KINDS, EVENT_KINDS } from '../../../../core/events/event-kinds.ts';
import { graphql } from '../../graphql.ts';
import type { EndpointValues, SubscriptionValues } from './endpoint-values.ts';
import { PayloadQueryEditor } from './payload-query-editor.tsx';

/** Names for the filter. */
const NAMES = graphql(`
  query DashboardFilterNames {
    domains(first: 100) { edges { node { id name } } }
    emailAddresses(first: 100) { edges { node { id address } } }
  }
`);

const prefixes = [...new Set(Object.keys(EVENT_KINDS).map((kind) => `${kind.slice(0, kind.indexOf('.'))}.*`))];
const patterns = [
  { group: 'All of', items: ['*', ...prefixes, 'audit.*'] },
  { group: 'Single kinds', items: Object.keys(EVENT_KINDS) },
  { group: 'Audit log', items: [...AUDIT_EVENT_KINDS] },
];

/** The fields of a webhook that choose its events, and what is posted for each. */
export function EventFields({
  form,
  maxPayloadOctets,
}: {
  form: UseFormReturnType<EndpointValues>;
  maxPayloadOctets: number;
}) {
  return (
    <>
      <SubscriptionFields form={form} />
      <PayloadQueryField form={form} maxPayloadOctets={maxPayloadOctets} />
      <Switch
        label="Allow actions"
        description="Responses may reply, forward, label, archive, hold or route the email."
        {...form.getInputProps('allowActions', { type: 'checkbox' })}
        key={form.key('allowActions')}
      />
    </>
  );
}

/** The fields of a webhook that choose its events and their order. */
export function SubscriptionFields({
  form,
}: {
  form: Pick<UseFormReturnType<SubscriptionValues>, 'getInputProps' | 'key'>;
}) {
  const [{ data }] = useQuery({ query: NAMES });
  return (
    <>
      <MultiSelect
        label="Events"
        description="email.received is posted for mail that is routed to the endpoint."
        searchable
        hidePickedOptions
        maxDropdownHeight={300}
        data={patterns}
        {...form.getInputProps('events')}
        key={form.key('events')}
      />
      <Group grow preventGrowOverflow={false} align="flex-start">
        <TagsInput
          label="Only these domains"
          placeholder="All domains"
          data={data?.domains.edges.map(({ node }) => node.name) ?? []}
          {...form.getInputProps('filterDomains')}
          key={form.key('filterDomains')}
        />
        <TagsInput
          label="Only these addresses"
          placeholder="All addresses"
          data={data?.emailAddresses.edges.map(({ node }) => node.address) ?? []}
          {...form.getInputProps('filterAddresses')}
          key={form.key('filterAddresses')}
        />
      </Group>
      <Select
        label="Order"
        allowDeselect={false}
        data={[
          { value: 'NONE', label: 'None: deliveries are independent' },
          { value: 'THREAD', label: 'By thread: earlier messages of a thread come first' },
          { value: 'SENDER', label: 'By sender: earlier messages of a sender come first' },
        ]}
        {...form.getInputProps('ordering')}
        key={form.key('ordering')}
      />
    </>
  );
}

/** Shows the payload query, and opens its editor. */
function PayloadQueryField({
  form,
  maxPayloadOctets,
}: {
  form: UseFormReturnType<EndpointValues>;
  maxPayloadOctets: number;
}) {
  const [query, setQuery] = useState(form.getValues().payloadQuery);
  const [isOpen, setOpen] = useState(false);
  const change = (changed: string) => {
    form.setFieldValue('payloadQuery', changed);
    form.clearFieldError('payloadQuery');
    setQuery(changed);
    setOpen(false);
  };
  const { filterDomains: domains, filterAddresses: addresses } = form.getValues();
  return (
    <Input.Wrapper
      label="Payload query"
      labelElement="div"
      description="A GraphQL query that selects the payload. Without one, the default payload is posted."
      error={form.errors['payloadQuery']}
    >
      <Stack gap="xs" mt={4} align="flex-start">
        {query !== '' && (
          <Code block w="100%" mah={240} style={{ overflow: 'auto' }} aria-label="Payload query">
            {query}
          </Code>
        )}
        <Group gap="sm">
          <Button variant="default" onClick={() => setOpen(true)}>
            {query === '' ? 'Write query' : 'Edit query'}
          </Button>
          {query !== '' && (
            <Button variant="default" onClick={() => change('')}>
              Use default payload
            </Button>
          )}
        </Group>
      </Stack>
      {isOpen && (
        <PayloadQueryEditor
          query={query}
          filter={domains.length + addresses.length === 0 ? null : { domains, addresses }}
          maxPayloadOctets={maxPayloadOctets}
          onUse={change}
          onClose={() => setOpen(false)}
        />
      )}
    </Input.Wrapper>
  );
}
