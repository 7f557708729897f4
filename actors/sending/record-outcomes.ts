import { setTimeout as pause } from 'node:timers/promises';
import { makeIdentifier } from '../../core/identifiers.ts';
import { inTransaction, isConnectionLost } from '../../db/database.ts';
import {
  appendUserEventsSql,
  type FinishedRecipientRow,
  finishRecipientsSql,
  refreshEmailsSql,
} from '../../db/queries/recipient-finish.ts';
import { suppressAddresses } from '../../db/queries/suppression-write.ts';
import type { ActorContext } from '../actor.ts';
import { type Outcome, suppresses } from './outcome.ts';

/** Writes outcomes of attempts down, in groups: while one group is committed the next one gathers. */
export interface OutcomeRecorder {
  /**
   * Resolves when the outcomes are committed, or when the claims turned out to be lost; until then the recipients are to be held, as
   * those that were sent would go again. Never rejects.
   */
  record(outcomes: readonly Outcome[]): Promise<void>;
  /** Outcomes that could not be recorded are tried once more, and then given up. */
  stop(): void;
}

/** Outcomes in one transaction at most, unless one record has more. */
const MAX_GROUP = 100;
/** An outcome waits that long for company: nobody is waiting for it, and a group costs little more than one. Milliseconds. */
const GATHER_MS = 15;
/** While PostgreSQL is away; milliseconds. */
const RETRY_MS = 500;
/** Between tries to record one that the database refuses, doubling; milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createOutcomeRecorder(context: ActorContext, onRecorded: () => void): OutcomeRecorder {
  const waiting: { outcomes: readonly Outcome[]; done: () => void }[] = [];
  const ending = new AbortController();
  let isWriting = false;

  const writeAll = async () => {
    await pause(GATHER_MS);
    while (waiting.length > 0) {
      const group = takeGroup();
      const refused = await writeGroup(group.flatMap(({ outcomes }) => outcomes));
      for (const entry of group) void finish(entry, refused);
    }
    isWriting = false;
  };

  const finish = async ({ outcomes, done }: (typeof waiting)[number], refused: readonly Outcome[]) => {
    const own = refused.filter(({ row }) => outcomes.some((outcome) => outcome.row.id === row.id));
    await Promise.all(own.map(insist));
    done();
  };

  const takeGroup = () => {
    let count = 0;
    const end = waiting.findIndex(({ outcomes }, n) => (count += outcomes.length) > MAX_GROUP && n > 0);
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };

  /** A group that fails is tried outcome by outcome, so that none can hold up the others. Answers those that the database refuses. */
  const writeGroup = async (given: readonly Outcome[]): Promise<Outcome[]> => {
    let outcomes = given;
    for (;;) {
      try {
        await write(outcomes);
        return [];
      } catch (error) {
        if (isConnectionLost(error)) {
          context.log.warn({ err: error, count: outcomes.length }, 'sending: outcomes wait for the database');
          await pause(RETRY_MS);
        } else if (outcomes.length > 1) {
          const refused: Outcome[] = [];
          for (const outcome of outcomes) refused.push(...(await writeGroup([outcome])));
          return refused;
        } else {
          const [outcome] = outcomes;
          context.log.error({ err: error, recipientId: outcome?.row.id }, 'sending: an outcome could not be recorded');
          if (outcome === undefined || outcome.isPlain === true) return [...outcomes];
          outcomes = [withoutWords(outcome)];
        }
      }
    }
  };

  /** Tries one that the database refuses again and again: forgotten, its message would be sent again as soon as the lease is over. */
  const insist = async (outcome: Outcome): Promise<void> => {
    const recipientId = outcome.row.id;
    const { signal } = ending;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      try {
        return await write([outcome]);
      } catch (error) {
        context.log.error({ err: error, recipientId }, 'sending: an outcome still could not be recorded');
      }
    }
    context.log.error({ recipientId, outcome: outcome.row.outcome }, 'sending: an outcome is lost with the stop');
  };

  const write = async (outcomes: readonly Outcome[]) => {
    const { finished, feeds } = await inTransaction(context.database, async (client) => {
      const { rows: finished } = await client.query<FinishedRecipientRow>({
        name: 'sending-finish',
        text: finishRecipientsSql,
        values: [context.name, JSON.stringify(outcomes.map(({ row }) => row))],
      });
      const threads = new Map(finished.map((row) => [row.id, row.thread_id]));
      const written = outcomes.filter(({ row }) => threads.has(row.id));
      await suppressAddresses(
        client,
        written.filter(suppresses).map((outcome) => toSuppression(context, outcome)),
      );
      const settled = uniqueBy(
        written.filter(({ row }) => row.status !== 'pending'),
        ({ row }) => row.email_id,
      );
      if (settled.length > 0)
        await client.query({
          name: 'sending-refresh-emails',
          text: refreshEmailsSql,
          values: [settled.map(({ row }) => row.user_id), settled.map(({ row }) => row.email_id)],
        });
      const users = eventsByUser(context, written, threads);
      if (users.length === 0) return { finished: threads, feeds: [] };
      const { rows: feeds } = await client.query<{ user_id: string; last_seq: number }>({
        name: 'sending-append-events',
        text: appendUserEventsSql,
        values: [JSON.stringify(users)],
      });
      return { finished: threads, feeds };
    });
    onRecorded();
    for (const feed of feeds) context.bus.publish('event.appended', { userId: feed.user_id, lastSeq: feed.last_seq });
    for (const { row } of outcomes)
      if (!finished.has(row.id))
        context.log.warn({ recipientId: row.id }, 'sending: the claim was lost before its outcome was recorded');
  };

  return {
    record(outcomes) {
      if (outcomes.length === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ outcomes, done: resolve });
      if (!isWriting) {
        isWriting = true;
        void writeAll();
      }
      return promise;
    },
    stop: () => ending.abort(),
  };
}

/** An outcome with nothing in it that a server said. */
function withoutWords(outcome: Outcome): Outcome {
  const row = {
    ...outcome.row,
    host: null,
    remote_address: null,
    enhanced_status: null,
    text: 'The reply could not be recorded',
  };
  return { ...outcome, row, isReply: false, isPlain: true };
}

/** Octets of randomness in an identifier. */
const RANDOM_OCTETS = 10;

function toSuppression(context: ActorContext, { row, address }: Outcome) {
  return {
    user_id: row.user_id,
    id: makeIdentifier('suppression', context.now(), context.random(RANDOM_OCTETS)),
    address,
    reason: 'bounce' as const,
    detail: row.text,
    email_id: row.email_id,
  };
}

/** The events of each user, users in the order of their ids, so that their feeds are locked in one order by everybody. */
function eventsByUser(
  context: ActorContext,
  outcomes: readonly Outcome[],
  threads: ReadonlyMap<string, string | null>,
) {
  const now = context.now();
  const users = new Map<string, unknown[]>();
  for (const { row, address, eventKind } of outcomes) {
    if (eventKind === null) continue;
    const events = users.get(row.user_id) ?? [];
    users.set(row.user_id, events);
    events.push({
      id: makeIdentifier('event', now, context.random(RANDOM_OCTETS)),
      kind: eventKind,
      emailId: row.email_id,
      threadId: threads.get(row.id) ?? null,
      data: { recipient: address, code: row.code, status: row.enhanced_status, text: row.text },
    });
  }
  return [...users]
    .map(([user_id, events]) => ({ user_id, events }))
    .toSorted((one, other) => (one.user_id < other.user_id ? -1 : 1));
}

function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
