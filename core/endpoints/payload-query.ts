import type { EventKind } from '../events/event-kinds.ts';
import { countJsonBytes, jsonChunks } from '../shared/json-chunks.ts';
import { LargeText } from '../shared/large-text.ts';
import type { Steps } from '../shared/steps.ts';
import type { EventFilter } from './endpoint-events.ts';

/** A payload query and the filter of its endpoint, which limits what it reads. */
export interface PayloadQuery {
  /** a GraphQL selection on the type Event */
  query: string;
  filter: EventFilter | null;
}

/** What is wrong with a payload query, and where; line and column start at 1 and are null when it is the whole query. */
export interface PayloadQueryError {
  message: string;
  line: number | null;
  column: number | null;
}

/** The result of a payload query for one event. */
export interface SelectedPayload {
  event: { id: string; kind: EventKind; cursor: string };
  /** texts of megabytes are each a LargeText */
  data: Record<string, unknown>;
  /** texts in `data` that are part of an email, so that a link to its raw message can replace them */
  texts: readonly SelectedText[];
  /** why single fields are null, as users may see it */
  errors: readonly { message: string; path: string }[];
}

/** A text of an email in the result of a payload query. */
export interface SelectedText {
  /** names of fields, and positions in lists */
  path: readonly (string | number)[];
  emailId: string;
}

export interface SelectedPayloadFacts {
  /** creation time of the delivery */
  timestamp: Date;
  endpoint: { id: string; name: string; type: string };
  selected: SelectedPayload;
  /** maximum bytes of the body */
  maxPayloadOctets: number;
  /** returns a signed link to the raw message of an email */
  rawLinkOf: (emailId: string) => string;
}

/** A text that is shorter than this stays, because its link is hardly shorter. Bytes. */
const MIN_LINKED_BYTES = 1_000;

/**
 * Builds the body of a webhook request whose `data` is the result of a payload query, JSON in UTF-8. If it exceeds `maxPayloadOctets`, links
 * to the raw message replace texts of emails, the longest first and only as many as necessary, and `truncated` names their paths. What cannot
 * become a link is always sent. Texts of megabytes are never strings.
 */
export function* buildSelectedPayload(facts: SelectedPayloadFacts): Steps<Buffer> {
  const { data, truncated, sizeBytes } = yield* laySelectedPayloadOut(facts);
  const body = Buffer.allocUnsafeSlow(sizeBytes);
  let length = 0;
  for (const chunk of jsonChunks(bodyObject(facts, data, truncated))) {
    length += body.write(chunk, length);
    yield;
  }
  return body.subarray(0, length);
}

/** What a body has of the result of its query. */
export interface LaidOutPayload {
  /** with links for texts that do not fit; texts of megabytes are each a LargeText */
  data: Record<string, unknown>;
  /** paths in `data` of texts that links replace */
  truncated: string[];
  /** of the body */
  sizeBytes: number;
}

/** Returns what the body from `buildSelectedPayload` has, without building it. */
export function* laySelectedPayloadOut(facts: SelectedPayloadFacts): Steps<LaidOutPayload> {
  const { selected, maxPayloadOctets, rawLinkOf } = facts;
  const truncated: string[] = [];
  let sizeBytes = yield* countJsonBytes(bodyObject(facts, selected.data, truncated));
  if (sizeBytes <= maxPayloadOctets) return { data: selected.data, truncated, sizeBytes };
  const texts: (SelectedText & { bytes: number })[] = [];
  for (const text of selected.texts)
    texts.push({ ...text, bytes: yield* countJsonBytes(readAt(selected.data, text.path)) });
  const links = new Map<string, string>();
  for (const text of texts.toSorted((a, b) => b.bytes - a.bytes)) {
    if (sizeBytes <= maxPayloadOctets || text.bytes < MIN_LINKED_BYTES) break;
    const link = rawLinkOf(text.emailId);
    const name = pathName(text.path);
    links.set(JSON.stringify(text.path), link);
    sizeBytes +=
      Buffer.byteLength(JSON.stringify(link)) -
      text.bytes +
      Buffer.byteLength(JSON.stringify(name)) +
      (truncated.length === 0 ? 0 : 1);
    truncated.push(name);
  }
  const settle = (value: unknown, path: SelectedText['path']): unknown => {
    if (typeof value === 'string' || value instanceof LargeText) return links.get(JSON.stringify(path)) ?? value;
    if (Array.isArray(value)) return value.map((each, at) => settle(each, [...path, at]));
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, settle(each, [...path, name])]));
  };
  return { data: settle(selected.data, []) as Record<string, unknown>, truncated, sizeBytes };
}

/** Returns a path as text, such as `email.thread.messages.edges[0].node.text`. */
export function pathName(path: readonly (string | number)[]): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('');
}

function bodyObject(
  { timestamp, endpoint, selected: { event, errors } }: SelectedPayloadFacts,
  data: Record<string, unknown>,
  truncated: readonly string[],
): object {
  const { id, kind, cursor } = event;
  return {
    id,
    type: kind,
    event: kind,
    timestamp,
    cursor,
    data,
    ...(errors.length === 0 ? {} : { errors }),
    truncated,
    endpoint: { id: endpoint.id, name: endpoint.name, type: endpoint.type },
  };
}

function readAt(data: Record<string, unknown>, path: SelectedText['path']): unknown {
  return path.reduce<unknown>((within, part) => (within as Record<string | number, unknown>)[part], data);
}
