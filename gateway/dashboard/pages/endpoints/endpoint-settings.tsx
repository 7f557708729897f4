import { Code, Group, Input, Modal, Select, Stack, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { useLocation } from 'wouter';
import { AUDIT_EVENT_KINDS, EVENT_KINDS } from '../../../../core/events/event-kinds.ts';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { makeChoices } from '../../parts/choices.ts';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { FIELDS, RecordForm, type RecordFormState, useRecordForm } from '../../parts/form.tsx';
import { ErrorAlert, Hint } from '../../parts/text.tsx';
import { describeError, type Problem, useAct } from '../../parts/use-act.ts';
import {
  type Endpoint,
  type EndpointChanges,
  type EndpointValues,
  FORMAT_CHOICES,
  readValues,
  UPDATE_EMAIL,
  UPDATE_GROUP,
  UPDATE_WEBHOOK,
  type Webhook,
  writeChanges,
} from './endpoint-values.ts';

/** Returns a function that changes an endpoint of that type. Absent fields stay unchanged. It returns the error, or null on success. */
export function useEndpointUpdate(
  type: Endpoint['__typename'],
  options: { quiet?: boolean; done?: string } = {},
): { act: (changes: EndpointChanges) => Promise<{ problem: Problem | null }>; isBusy: boolean } {
  const updates = {
    WebhookEndpoint: useAct(UPDATE_WEBHOOK, options),
    EmailEndpoint: useAct(UPDATE_EMAIL, options),
    EmailGroupEndpoint: useAct(UPDATE_GROUP, options),
  };
  const { act, isBusy } = updates[type];
  return { act: (input) => act(input), isBusy };
}

const DELETE_ENDPOINT = mutation(
  'deleteEndpoint',
  'deletedId emailAddresses catchAllDomains endedDeliveryCount guardRuleCount',
);

/** All settings of an endpoint, and its deletion. */
export function EndpointSettings({ endpoint }: { endpoint: Endpoint }) {
  const { id, name, emailAddresses, catchAllDomains } = endpoint;
  const [, go] = useLocation();
  const { act: update } = useEndpointUpdate(endpoint.__typename, {
    quiet: true,
    done: 'Saved. The next delivery uses the new settings.',
  });
  const { act: remove } = useAct(DELETE_ENDPOINT, {
    done: 'The endpoint was deleted.',
    onDone: () => go('/endpoints'),
  });
  const form = useRecordForm({
    values: readValues(endpoint),
    submit: (values) => update(writeChanges(endpoint, values)),
  });
  const users = emailAddresses.totalCount + catchAllDomains.length;
  return (
    <Stack gap="lg" maw={760}>
      <RecordForm
        form={form}
        submit="Save"
        needed="endpoints"
        justify="flex-start"
        aside={<QuietButton label="Test endpoint" href={`/endpoints/${id}?tab=test`} />}
      >
        <form.Text name="name" label="Name" maxLength={255} />
        <form.LongText name="description" label="Description" minRows={1} />
        {endpoint.__typename === 'WebhookEndpoint' ? (
          <WebhookFields form={form} webhook={endpoint} />
        ) : (
          <ForwardingFields form={form} isGroup={endpoint.__typename === 'EmailGroupEndpoint'} />
        )}
      </RecordForm>
      <ErrorAlert title="Delete endpoint">
        <Stack gap="sm" align="flex-start">
          {users === 0
            ? 'No address uses this endpoint. Pending deliveries stop. Emails are kept.'
            : `${users === 1 ? 'One address or domain uses' : `${users} addresses and domains use`} this endpoint. Their mail will only be stored. Pending deliveries stop. Emails are kept.`}
          <ConfirmButton
            needed="endpoints"
            label="Delete endpoint"
            color="red"
            question={`Delete ${name}?`}
            about="You cannot undo this."
            act={() => remove({ id })}
          />
        </Stack>
      </ErrorAlert>
    </Stack>
  );
}

const PAYLOADS = makeChoices({ NESTED: 'Nested', FLAT: 'Flat', RESEND: 'As Resend' });
const ATTACHMENTS = makeChoices({ CONTENT: 'In the payload', LINK: 'As download links' });

function WebhookFields({ form, webhook }: { form: RecordFormState<EndpointValues>; webhook: Webhook }) {
  return (
    <>
      <form.Text name="url" label="URL" />
      <Group grow preventGrowOverflow={false} align="flex-start">
        <form.Choice name="format" label="Format" data={FORMAT_CHOICES} />
        <form.Choice name="payload" label="JSON structure" data={PAYLOADS} />
        <form.Choice name="attachments" label="Attachments" data={ATTACHMENTS} />
      </Group>
      <Group grow preventGrowOverflow={false} align="flex-start">
        <form.Number name="timeoutSeconds" label="Timeout (seconds)" placeholder="" min={1} max={300} />
        <form.Number name="retryAttempts" label="Retries" placeholder="" min={0} max={10} />
      </Group>
      <form.LongText
        name="headers"
        label="Custom headers"
        description="One per line, for example Authorization: Bearer abc"
        minRows={2}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      <SubscriptionFields />
      <PayloadQueryField form={form} maxPayloadOctets={webhook.maxPayloadOctets} />
      <form.Switch
        name="allowActions"
        label="Allow actions"
        description="Responses may reply, forward, label, archive, hold or route the email."
      />
    </>
  );
}

function ForwardingFields({ form, isGroup }: { form: RecordFormState<EndpointValues>; isGroup: boolean }) {
  return (
    <>
      {isGroup ? (
        <form.Tags name="addresses" label="Forward to" maxTags={50} />
      ) : (
        <form.Text name="forwardTo" label="Forward to" />
      )}
      <Group grow preventGrowOverflow={false} align="flex-start">
        <form.Text name="subjectPrefix" label="Subject prefix" placeholder="[Support]" />
        <form.Text name="senderName" label="Sender name" />
      </Group>
      <form.Switch name="includeAttachments" label="Include attachments" />
      <form.Switch
        name="preserveHeaders"
        label="Relay the original message"
        description="Keeps the original header and uses a signed return address, instead of sending a new message with a rewritten sender."
      />
    </>
  );
}

/** Names for the filter. */
const NAMES = graphql(`
  query DashboardFilterNames {
    domains(first: 100) { edges { node { id name } } }
    emailAddresses(first: 100) { edges { node { id address } } }
  }
`);

const PREFIXES = [...new Set(Object.keys(EVENT_KINDS).map((kind) => `${kind.slice(0, kind.indexOf('.'))}.*`))];
const EVENTS = [
  { group: 'All of', items: ['*', ...PREFIXES, 'audit.*'] },
  { group: 'Single kinds', items: Object.keys(EVENT_KINDS) },
  { group: 'Audit log', items: [...AUDIT_EVENT_KINDS] },
];
const ORDERS = [
  { value: 'NONE', label: 'None: deliveries are independent' },
  { value: 'THREAD', label: 'By thread: earlier messages of a thread come first' },
  { value: 'SENDER', label: 'By sender: earlier messages of a sender come first' },
];

/** The fields of a webhook that choose its events and their order, in a form that has them. */
export function SubscriptionFields() {
  const [{ data }] = useQuery({ query: NAMES });
  return (
    <>
      <FIELDS.Choices
        name="events"
        label="Events"
        description="email.received is posted for mail that is routed to the endpoint."
        searchable
        hidePickedOptions
        maxDropdownHeight={300}
        data={EVENTS}
      />
      <Group grow preventGrowOverflow={false} align="flex-start">
        <FIELDS.Tags
          name="filterDomains"
          label="Only these domains"
          placeholder="All domains"
          data={data?.domains.edges.map(({ node }) => node.name) ?? []}
        />
        <FIELDS.Tags
          name="filterAddresses"
          label="Only these addresses"
          placeholder="All addresses"
          data={data?.emailAddresses.edges.map(({ node }) => node.address) ?? []}
        />
      </Group>
      <FIELDS.Choice name="ordering" label="Order" data={ORDERS} />
    </>
  );
}

type PayloadQueryFieldProps = { form: RecordFormState<EndpointValues>; maxPayloadOctets: number };

/** Shows the payload query, and opens its editor. */
function PayloadQueryField({ form, maxPayloadOctets }: PayloadQueryFieldProps) {
  const { payloadQuery: query, filterDomains: domains, filterAddresses: addresses } = form.values;
  const [isOpen, setOpen] = useState(false);
  const change = (changed: string) => {
    form.setFieldValue('payloadQuery', changed);
    form.clearFieldError('payloadQuery');
    setOpen(false);
  };
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
          <QuietButton label={query === '' ? 'Write query' : 'Edit query'} onClick={() => setOpen(true)} />
          {query !== '' && <QuietButton label="Use default payload" onClick={() => change('')} />}
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

/** The newest events, to try a query on. */
const PREVIEW_EVENTS = graphql(`
  query DashboardPreviewEvents { events(last: 30) { edges { cursor node { kind at email { subject } } } } }
`);
const PREVIEW = graphql(`
  query DashboardPreviewPayload($query: String!, $cursor: String!, $filter: EventFilterInput, $maxPayloadOctets: Int) {
    previewPayload(query: $query, cursor: $cursor, filter: $filter, maxPayloadOctets: $maxPayloadOctets) {
      data truncated sizeBytes
      errors { message line column }
    }
  }
`);

/** The query of a new payload. */
const EXAMPLE = `{
  kind
  at
  email {
    id
    subject
    from { address }
    text
    thread { id messages(last: 3) { edges { node { preview } } } }
  }
}
`;

interface PayloadQueryEditorProps {
  /** empty: none yet */
  query: string;
  filter: { domains: string[]; addresses: string[] } | null;
  maxPayloadOctets: number;
  onUse: (query: string) => void;
  onClose: () => void;
}

/** The explorer's editor for a payload query, in a frame, and the result for a stored event. */
function PayloadQueryEditor({ query, filter, maxPayloadOctets, onUse, onClose }: PayloadQueryEditorProps) {
  const client = useClient();
  const theme = useComputedColorScheme();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const [chosen, setChosen] = useState<string | null>(null);
  const [{ data }] = useQuery({ query: PREVIEW_EVENTS, requestPolicy: 'cache-and-network' });
  const events = (data?.events.edges ?? []).toReversed();
  const cursor = chosen ?? events[0]?.cursor ?? null;
  const latest = useRef({ query, cursor, filter, maxPayloadOctets, theme, onUse });
  latest.current = { query, cursor, filter, maxPayloadOctets, theme, onUse };
  const tell = (message: object) => frame.current?.contentWindow?.postMessage(message, location.origin);

  useEffect(() => {
    const listen = ({ source, origin, data: told }: MessageEvent<FrameMessage>) => {
      if (origin !== location.origin || source !== frame.current?.contentWindow) return;
      const now = latest.current;
      if (told.postroom === 'ready') {
        tell({ postroom: 'open', query: now.query === '' ? EXAMPLE : now.query, theme: now.theme });
        setReady(true);
      }
      if (told.postroom === 'query') now.onUse(told.query);
      if (told.postroom !== 'preview') return;
      const { id } = told;
      const reply = (result: object) => tell({ postroom: 'result', id, result });
      if (now.cursor === null) return reply({ errors: [{ message: 'There is no event yet to try the query on.' }] });
      const variables = {
        query: told.query,
        cursor: now.cursor,
        filter: now.filter,
        maxPayloadOctets: now.maxPayloadOctets,
      };
      void client
        .query(PREVIEW, variables, { requestPolicy: 'network-only' })
        .toPromise()
        .then(({ data: shown, error }) =>
          reply(shown ? toResult(shown) : { errors: [{ message: error ? describeError(error).message : '' }] }),
        );
    };
    addEventListener('message', listen);
    return () => removeEventListener('message', listen);
  }, [client]);

  return (
    <Modal opened onClose={onClose} title="Payload query" size="90%">
      <Stack gap="sm">
        <Hint>
          A selection on the type Event. Its result becomes data of the payload. Run it to see the result for the event
          below.
        </Hint>
        <Select
          label="Try on event"
          placeholder="No events yet"
          searchable
          allowDeselect={false}
          value={cursor}
          onChange={setChosen}
          data={events.map(({ cursor: value, node }) => ({ value, label: nameEvent(node) }))}
        />
        <iframe
          ref={frame}
          title="Query editor"
          src="/graphql/explorer/payload"
          style={{ width: '100%', height: '55vh', border: '1px solid var(--mantine-color-default-border)' }}
        />
        <Group justify="flex-end">
          <QuietButton label="Cancel" onClick={onClose} />
          <MainButton label="Use query" disabled={!isReady} onClick={() => tell({ postroom: 'read' })} />
        </Group>
      </Stack>
    </Modal>
  );
}

/** What the frame says (gateway/graphql/explorer.ts). */
type FrameMessage =
  | { postroom: 'ready' }
  | { postroom: 'query'; query: string }
  | { postroom: 'preview'; id: string; query: string };

/** Returns a preview in the form of a GraphQL response, which the editor shows. */
function toResult({ previewPayload: { data, truncated, sizeBytes, errors } }: ResultOf<typeof PREVIEW>): object {
  return {
    ...(errors.length === 0
      ? {}
      : {
          errors: errors.map(({ message, line, column }) => ({
            message,
            ...(line === null ? {} : { locations: [{ line, column }] }),
          })),
        }),
    ...(data === null ? {} : { data, truncated, sizeBytes }),
  };
}

type PreviewEvent = ResultOf<typeof PREVIEW_EVENTS>['events']['edges'][number]['node'];

function nameEvent({ kind, at, email }: PreviewEvent): string {
  const name = kind.toLowerCase().replace('_', '.');
  const time = new Date(at).toLocaleString();
  return [name, email?.subject, time].filter((part) => part !== undefined && part !== '').join(' · ');
}
