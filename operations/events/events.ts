import { decodeEventCursor, encodeEventCursor } from '../../core/events/event-cursor.ts';
import { EVENT_KINDS, type EventKind, isEventKind } from '../../core/events/event-kinds.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import {
  countReadable,
  type FeedEnd,
  type FeedEvent,
  findEvents,
  findReceivedEvents,
  listEvents,
  MAX_COUNTED_EVENTS,
  readEventsAfter,
  readFeedEnd,
} from '../../db/queries/events/event-list.ts';
import { invalid, type OperationContext } from '../context.ts';
import type { EventReader } from './event-reader.ts';

export type { EventKind } from '../../core/events/event-kinds.ts';
export type { FeedEvent } from '../../db/queries/events/event-list.ts';
export type { EventReader, StreamEnd } from './event-reader.ts';

export { MAX_COUNTED_EVENTS };

/** Where a reader starts: after a cursor, at the oldest event, or with new events. */
export type EventStart = { cursor: string } | 'beginning' | 'now';

/** Returns where a request with this `after` starts: a cursor, `latest`, or nothing for the oldest event. */
export function startAfter(after: string | null | undefined): EventStart {
  if (after == null) return 'beginning';
  return after === 'latest' ? 'now' : { cursor: after };
}

export interface EventQuery {
  start: EventStart;
  /** null: every kind */
  kinds: readonly EventKind[] | null;
}

export interface EventPage {
  /** oldest first */
  events: FeedEvent[];
  /** whether more events after nextCursor can be read immediately */
  hasMore: boolean;
  /** cursor for the next page; the given cursor when there is nothing yet */
  nextCursor: string;
  /** cursor of the newest event of any kind */
  newestCursor: string;
}

/** Maximum time to wait for events; seconds. */
export const MAX_WAIT_SECONDS = 30;

/** Returns the cursor of an event of the user. */
export function encodeCursor(context: OperationContext, event: FeedEvent): string {
  return encodeEventCursor(context.workspaceId, event.seq);
}

/** Parses texts as kinds; null for none. Throws validation. */
export function readKinds(texts: readonly string[] | null): EventKind[] | null {
  if (texts === null || texts.length === 0) return null;
  return texts.map((text) => {
    if (!isEventKind(text)) throw invalid(`Kinds are: ${Object.keys(EVENT_KINDS).join(', ')}`, 'kinds');
    return text;
  });
}

/**
 * Returns the events after a cursor, oldest first and without gaps. For rare kinds a page may be short or empty although more follow.
 * Throws validation for a cursor that is invalid, another user's, or in the future, and gone for one after which events were removed.
 */
async function readEvents(context: OperationContext, { start, kinds }: EventQuery, limit: number): Promise<EventPage> {
  const after = await readSeq(context, start);
  const ahead = await readEventsAfter(context.database, context.workspaceId, { after, kinds, limit });
  if (ahead.lastSeq < after) throw invalidCursor('after');
  if (start !== 'beginning' && after < ahead.firstSeq - 1) throw outdatedCursor();
  return {
    events: ahead.events,
    hasMore: ahead.scannedTo < ahead.lastSeq,
    nextCursor: encodeEventCursor(context.workspaceId, ahead.scannedTo),
    newestCursor: encodeEventCursor(context.workspaceId, ahead.lastSeq),
  };
}

/**
 * Like readEvents, but waits for the first event, for a limited time or until the client has disconnected. Throws unauthorized when the
 * key or session is no longer valid.
 */
export async function awaitEvents(
  context: OperationContext,
  { start, kinds }: EventQuery,
  { limit, waitMs }: { limit: number; waitMs: number },
): Promise<EventPage> {
  const endAt = performance.now() + waitMs;
  let page = await readEvents(context, { start, kinds }, limit);
  if (waitMs === 0) return page;
  while (page.events.length === 0 && page.hasMore)
    page = await readEvents(context, { start: { cursor: page.nextCursor }, kinds }, limit);
  if (page.events.length > 0) return page;
  const reader = openReaderAt(context, decodeEventCursor(context.workspaceId, page.nextCursor) ?? 0, kinds);
  try {
    const pulled = await reader.pull(endAt - performance.now());
    if (pulled.kind === 'ended' && pulled.reason === 'UNAUTHORIZED')
      throw new UserError('unauthorized', 'Authentication required', { name: 'invalid_api_key' });
    const reached = pulled.kind === 'events' ? page.nextCursor : reader.cursor();
    return await readEvents(context, { start: { cursor: reached }, kinds }, limit);
  } finally {
    reader.close();
  }
}

/**
 * Opens a reader of the feed, which the caller must close. Throws validation for a cursor that is invalid, another user's, or in the
 * future; gone for one after which events were removed; rate_limited and unavailable when too many readers are open.
 */
export async function openEvents(context: OperationContext, { start, kinds }: EventQuery): Promise<EventReader> {
  const after = await readSeq(context, start);
  if (start !== 'now') {
    const { lastSeq, firstSeq } = await readFeedBounds(context);
    if (after > lastSeq) throw invalidCursor('after');
    if (start !== 'beginning' && after < firstSeq - 1) throw outdatedCursor();
  }
  return openReaderAt(context, after, kinds);
}

/**
 * Returns the events between two positions (event numbers), in order or, inverted, from the end. Throws validation for positions in the
 * future.
 */
export function pageEvents(
  context: OperationContext,
  { after, before, isInverted, limit }: KeysetPage<number>,
): Promise<FeedEvent[]> {
  return asWorkspace(context.database, context.workspaceId, async (transaction) => {
    const { lastSeq, firstSeq } = await readFeedEnd(transaction, context.workspaceId);
    if (after !== null && after > 0 && after < firstSeq - 1) throw outdatedCursor();
    if ((after ?? 0) > lastSeq) throw invalidCursor('after');
    if ((before ?? 0) > lastSeq) throw invalidCursor('before');
    return listEvents(transaction, context.workspaceId, { after: after ?? 0, before, isInverted, limit });
  });
}

/**
 * Returns the event `email.received` of each email. If it was removed from the feed, returns one whose cursor is the beginning of the feed, with
 * an ID of its own.
 */
export async function readReceivedEvents(
  { database, workspaceId }: OperationContext,
  emails: readonly { emailId: string; receivedAt: Date }[],
): Promise<FeedEvent[]> {
  if (emails.length === 0) return [];
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    findReceivedEvents(transaction, workspaceId, emails),
  );
  const byEmail = new Map(found.map((event) => [event.emailId, event]));
  const none = { threadId: null, deliveryId: null, endpointId: null, domainId: null, data: {} };
  return emails.map(({ emailId, receivedAt }) => {
    const id = emailId.replace(/^[a-z]+_/, 'evt_');
    return byEmail.get(emailId) ?? { ...none, seq: 0, id, kind: 'email.received', at: receivedAt, emailId };
  });
}

/** Returns the number of events that the client can read; with a limited key, up to MAX_COUNTED_EVENTS. */
export async function countEvents(context: OperationContext): Promise<number> {
  const { database, workspaceId } = context;
  if (database.limit !== undefined)
    return asWorkspace(database, workspaceId, (transaction) => countReadable(transaction, workspaceId));
  const { firstSeq, lastSeq } = await readFeedBounds(context);
  return lastSeq - firstSeq + 1;
}

/** Returns the ends of the feed, and the current time. */
export function readFeedBounds(context: OperationContext): Promise<FeedEnd> {
  return asWorkspace(context.database, context.workspaceId, (transaction) =>
    readFeedEnd(transaction, context.workspaceId),
  );
}

/** Opens a reader after an event number. Throws rate_limited, unavailable. */
export function openReaderAt(
  context: OperationContext,
  afterSeq: number,
  kinds: readonly EventKind[] | null,
): EventReader {
  const reader = context.events.open(context.workspaceId, { afterSeq, kinds, caller: context.caller });
  return context.database.limit === undefined ? reader : limitedReader(context, reader);
}

async function readSeq(context: OperationContext, start: EventStart): Promise<number> {
  if (start === 'beginning') return 0;
  if (start === 'now') return (await readFeedBounds(context)).lastSeq;
  const seq = decodeEventCursor(context.workspaceId, start.cursor);
  if (seq === null) throw invalidCursor('after');
  return seq;
}

/** Reading on after this cursor would skip removed events silently. */
export function outdatedCursor(advice = 'Start again without after, or with after=latest.'): UserError {
  return new UserError('gone', 'Cursor too old', {
    reason: 'CURSOR_TOO_OLD',
    details: `Events after it were removed because old mail is deleted. ${advice}`,
    isFinal: true,
  });
}

function invalidCursor(field: string) {
  return invalid('Invalid cursor', field);
}

/**
 * Wraps a reader so that it returns only events that the context's database shows. All readers of a feed share their reads, including
 * those of keys limited to one domain. Visibility is checked at the time of the pull.
 */
function limitedReader({ database, workspaceId }: OperationContext, reader: EventReader): EventReader {
  return {
    cursor: () => reader.cursor(),
    close: () => reader.close(),
    async pull(waitMs) {
      const endAt = waitMs === undefined ? null : performance.now() + waitMs;
      for (;;) {
        const pulled = await reader.pull(endAt === null ? undefined : Math.max(0, endAt - performance.now()));
        if (pulled.kind !== 'events') return pulled;
        const seqs = pulled.events.map(({ seq }) => seq);
        const events = await asWorkspace(database, workspaceId, (transaction) =>
          findEvents(transaction, workspaceId, seqs),
        );
        const { cursor } = pulled;
        if (events.length > 0) return { kind: 'events', events: events.toSorted((a, b) => a.seq - b.seq), cursor };
        if (endAt !== null && performance.now() >= endAt) return { kind: 'nothing', cursor };
      }
    },
  };
}
