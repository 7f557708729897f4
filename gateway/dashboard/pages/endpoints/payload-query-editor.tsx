import { Button, Group, Modal, Select, Stack, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { graphql, type ResultOf } from '../../graphql.ts';
import { problemOf } from '../../parts/use-act.ts';

/** The newest events, to try a query on. */
const EVENTS = graphql(`
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

export interface PayloadQueryEditorProps {
  /** empty: none yet */
  query: string;
  filter: { domains: string[]; addresses: string[] } | null;
  maxPayloadOctets: number;
  onUse: (query: string) => void;
  onClose: () => void;
}

/** The explorer's editor for a payload query, in a frame, and the result for a stored event. */
export function PayloadQueryEditor({ query, filter, maxPayloadOctets, onUse, onClose }: PayloadQueryEditorProps) {
  const client = useClient();
  const theme = useComputedColorScheme();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const [chosen, setChosen] = useState<string | null>(null);
  const [{ data }] = useQuery({ query: EVENTS, requestPolicy: 'cache-and-network' });
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
      const answer = (result: object) => tell({ postroom: 'result', id, result });
      if (now.cursor === null) return answer({ errors: [{ message: 'There is no event yet to try the query on.' }] });
      const variables = {
        query: told.query,
        cursor: now.cursor,
        filter: now.filter,
        maxPayloadOctets: now.maxPayloadOctets,
      };
      void client
        .query(PREVIEW, variables, { requestPolicy: 'network-only' })
        .toPromise()
        .then(({ data: answered, error }) =>
          answer(answered ? resultOf(answered) : { errors: [{ message: error ? problemOf(error).message : '' }] }),
        );
    };
    addEventListener('message', listen);
    return () => removeEventListener('message', listen);
  }, [client]);

  return (
    <Modal opened onClose={onClose} title="Payload query" size="90%">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          A selection on the type Event. Its result becomes data of the payload. Run it to see the result for the event
          below.
        </Text>
        <Select
          label="Try on event"
          placeholder="No events yet"
          searchable
          allowDeselect={false}
          value={cursor}
          onChange={setChosen}
          data={events.map(({ cursor: value, node }) => ({ value, label: nameOf(node) }))}
        />
        <iframe
          ref={frame}
          title="Query editor"
          src="/graphql/explorer/payload"
          style={{ width: '100%', height: '55vh', border: '1px solid var(--mantine-color-default-border)' }}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={!isReady} onClick={() => tell({ postroom: 'read' })}>
            Use query
          </Button>
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
function resultOf({ previewPayload: { data, truncated, sizeBytes, errors } }: ResultOf<typeof PREVIEW>): object {
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

type PreviewEvent = ResultOf<typeof EVENTS>['events']['edges'][number]['node'];

function nameOf({ kind, at, email }: PreviewEvent): string {
  const name = kind.toLowerCase().replace('_', '.');
  const time = new Date(at).toLocaleString();
  return [name, email?.subject, time].filter((part) => part !== undefined && part !== '').join(' · ');
}
