import type { EventKind } from '../events/event-kinds.ts';
import { LargeText } from '../shared/large-text.ts';
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
 * Returns the body of a webhook request whose `data` is the result of a payload query, JSON in UTF-8. If it exceeds `maxPayloadOctets`, links
 * to the raw message replace texts of emails, the longest first and only as many as necessary, and `truncated` names their paths. What cannot
 * become a link is always sent.
 */
export function buildSelectedPayload({ selected: given, ...facts }: SelectedPayloadFacts): Buffer {
  const { truncated, ...selected } = settleLargeTexts(given, facts);
  const whole = write(facts, selected, selected.data, truncated);
  if (whole.length <= facts.maxPayloadOctets) return whole;
  const data = structuredClone(selected.data);
  let bytes = whole.length;
  const texts = selected.texts.map((text) => ({ ...text, bytes: jsonBytesAt(data, text.path) }));
  for (const text of texts.toSorted((a, b) => b.bytes - a.bytes)) {
    if (bytes <= facts.maxPayloadOctets || text.bytes < MIN_LINKED_BYTES) break;
    const link = facts.rawLinkOf(text.emailId);
    replaceAt(data, text.path, link);
    const name = pathName(text.path);
    truncated.push(name);
    bytes += Buffer.byteLength(JSON.stringify(link)) - text.bytes + Buffer.byteLength(JSON.stringify(name)) + 1;
  }
  return write(facts, selected, data, truncated);
}

/** Returns the bytes of large texts that a body has at most. */
export function countLargeTexts({ texts, data }: SelectedPayload, maxPayloadOctets: number): number {
  const bytes = texts.map(({ path }) => {
    const text = readAt(data, path);
    return text instanceof LargeText ? text.bytes : 0;
  });
  return Math.min(
    maxPayloadOctets,
    bytes.reduce((sum, each) => sum + each, 0),
  );
}

/**
 * Returns the result with strings for its large texts. Where these exceed the limit together, links replace the longest of them, whose strings
 * are never made.
 */
function settleLargeTexts(
  selected: SelectedPayload,
  { maxPayloadOctets, rawLinkOf }: Pick<SelectedPayloadFacts, 'maxPayloadOctets' | 'rawLinkOf'>,
): SelectedPayload & { truncated: string[] } {
  const large = selected.texts.flatMap(({ path, emailId }) => {
    const text = readAt(selected.data, path);
    return text instanceof LargeText ? [{ name: pathName(path), emailId, bytes: text.bytes }] : [];
  });
  const links = new Map<string, string>();
  let bytes = large.reduce((sum, text) => sum + text.bytes, 0);
  for (const text of large.toSorted((a, b) => b.bytes - a.bytes)) {
    if (bytes <= maxPayloadOctets) break;
    links.set(text.name, rawLinkOf(text.emailId));
    bytes -= text.bytes;
  }
  const settle = (value: unknown, path: SelectedText['path']): unknown => {
    if (value instanceof LargeText) return links.get(pathName(path)) ?? value.toString();
    if (Array.isArray(value)) return value.map((each, at) => settle(each, [...path, at]));
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, settle(each, [...path, name])]));
  };
  const data = large.length === 0 ? selected.data : (settle(selected.data, []) as Record<string, unknown>);
  return { ...selected, data, truncated: [...links.keys()] };
}

/** Returns a path as text, such as `email.thread.messages.edges[0].node.text`. */
export function pathName(path: readonly (string | number)[]): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('');
}

function write(
  { timestamp, endpoint }: Pick<SelectedPayloadFacts, 'timestamp' | 'endpoint'>,
  { event, errors }: SelectedPayload,
  data: Record<string, unknown>,
  truncated: readonly string[],
): Buffer {
  const { id, kind, cursor } = event;
  return Buffer.from(
    JSON.stringify({
      id,
      type: kind,
      event: kind,
      timestamp,
      cursor,
      data,
      ...(errors.length === 0 ? {} : { errors }),
      truncated,
      endpoint: { id: endpoint.id, name: endpoint.name, type: endpoint.type },
    }),
  );
}

function jsonBytesAt(data: Record<string, unknown>, path: SelectedText['path']): number {
  return Buffer.byteLength(JSON.stringify(readAt(data, path)));
}

function readAt(data: Record<string, unknown>, path: SelectedText['path']): unknown {
  return path.reduce<unknown>((within, part) => (within as Record<string | number, unknown>)[part], data);
}

function replaceAt(data: Record<string, unknown>, path: SelectedText['path'], value: string): void {
  const last = path.at(-1);
  const place = path
    .slice(0, -1)
    .reduce<unknown>((within, part) => (within as Record<string | number, unknown>)[part], data);
  if (last !== undefined) (place as Record<string | number, unknown>)[last] = value;
}
