import { describeKind, type PostedKind } from '../events/event-kinds.ts';
import { buildEventChatPayload, type ChatFormat } from './chat-payload.ts';
import { pathName } from './payload-query.ts';

/** An event as it is posted. */
export interface PostedEvent {
  id: string;
  kind: PostedKind;
  at: Date;
  cursor: string;
  /** its subject as the interfaces show it; null: it was deleted */
  data: Record<string, unknown> | null;
  endpoint: { id: string; name: string; type: string };
}

/** A shorter text stays: leaving it out hardly helps. Bytes. */
const MIN_CUT_BYTES = 200;

/**
 * Returns the default body that posts an event, JSON in UTF-8. If it exceeds `maxBytes`, texts of the subject are null, the longest first, and
 * then lists are empty; `truncated` names their paths in `data`.
 */
export function buildEventBody(event: PostedEvent, maxBytes: number): Buffer {
  const whole = write(event, event.data, []);
  if (whole.length <= maxBytes || event.data === null) return whole;
  const data = structuredClone(event.data);
  const truncated: string[] = [];
  let bytes = whole.length;
  for (const isCut of [isText, Array.isArray]) {
    const parts = listParts(data, isCut).toSorted((a, b) => b.bytes - a.bytes);
    for (const part of parts) {
      if (bytes <= maxBytes || part.bytes < MIN_CUT_BYTES) break;
      part.cut();
      truncated.push(part.name);
      bytes -= part.bytes - Buffer.byteLength(part.name) - 10;
    }
  }
  return write(event, data, truncated);
}

interface Part {
  name: string;
  bytes: number;
  /** Replaces it by null, or by an empty list. */
  cut: () => void;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** Returns the parts within a value that are of a sort; none within another. */
function listParts(within: object, isOfSort: (value: unknown) => boolean, path: (string | number)[] = []): Part[] {
  return Object.entries(within).flatMap(([key, value]: [string, unknown]) => {
    const at = [...path, Array.isArray(within) ? Number(key) : key];
    if (isOfSort(value)) {
      const cut = () => Reflect.set(within, key, Array.isArray(value) ? [] : null);
      return [{ name: pathName(at), bytes: Buffer.byteLength(JSON.stringify(value)), cut }];
    }
    return typeof value === 'object' && value !== null ? listParts(value, isOfSort, at) : [];
  });
}

function write(
  { id, kind, at, cursor, endpoint }: PostedEvent,
  data: PostedEvent['data'],
  truncated: readonly string[],
): Buffer {
  const { id: endpointId, name, type } = endpoint;
  return Buffer.from(
    JSON.stringify({
      id,
      type: kind,
      event: kind,
      timestamp: at.toISOString(),
      cursor,
      data,
      ...(truncated.length === 0 ? {} : { truncated }),
      endpoint: { id: endpointId, name, type },
    }),
  );
}

/** Returns the body that announces an event in a chat channel. `publicUrl` has no trailing slash. */
export function buildEventChat(format: ChatFormat, event: PostedEvent, publicUrl: string): Buffer {
  const data = event.data ?? {};
  const recipient = toMember(data, 'recipient');
  const thread = toMember(data, 'thread');
  const refusal = toMember(recipient, 'refusal');
  const fields = [
    { name: 'Recipient', value: readText(recipient['address']) },
    { name: 'Reason', value: readText(refusal['title']) },
    { name: 'Subject', value: readText(data['subject'] ?? thread['normalized_subject']) },
    { name: 'From', value: readText(data['from']) },
    { name: 'To', value: joinTexts(data['to'] ?? thread['participant_emails']) },
    { name: 'Domain', value: readText(data['domain']) },
    { name: 'Who', value: readText(data['actor_name'] ?? data['actor_kind']) },
    { name: 'Object', value: readText(data['object_name'] ?? data['object_id']) },
    { name: 'Endpoint', value: readText(data['name']) },
    { name: 'Status', value: readText(data['status']) },
  ];
  return Buffer.from(
    buildEventChatPayload(format, {
      title: describeKind(event.kind).split('. ')[0] ?? event.kind,
      at: event.at,
      detail: typeof recipient['last_response'] === 'string' ? recipient['last_response'] : null,
      fields,
      link: findLink(event.kind, data, publicUrl),
    }),
  );
}

/** Pages of the dashboard. */
function findLink(kind: PostedKind, data: Record<string, unknown>, publicUrl: string): string | null {
  const pages: Record<string, [string, unknown]> = {
    email: ['emails', data['id']],
    thread: ['inbox', toMember(data, 'thread')['id']],
    delivery: ['emails', data['emailId']],
    endpoint: ['endpoints', data['id']],
    domain: ['domains', data['id']],
  };
  const [page, id] = pages[kind.slice(0, kind.indexOf('.'))] ?? [];
  return page === undefined || typeof id !== 'string' ? null : `${publicUrl}/${page}/${id}`;
}

function toMember(within: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = within[name];
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function joinTexts(value: unknown): string {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(', ') : '';
}
