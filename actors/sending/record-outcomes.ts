import { setTimeout as pause } from 'node:timers/promises';
import { makeIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction, isConnectionLost } from '../../db/connection/database.ts';
import { type ForwardEvent, settleForwards } from '../../db/queries/endpoints/forward-settle.ts';
import {
  appendUserEventsSql,
  type FinishedRecipientRow,
  finishRecipientsSql,
  refreshEmailsSql,
} from '../../db/queries/sending/recipient-finish.ts';
import { suppressAddresses } from '../../db/queries/sending/suppression-write.ts';
import type { ActorContext } from '../actor.ts';
import { setAside } from '../set-aside.ts';
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
/** Before one that the database refuses is tried again; milliseconds. */
const FIRST_PAUSE_MS = 1_000;

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

  /**
   * Tries one that the database refuses again and again: forgotten, its message would be sent again as soon as the lease is over. It is set
   * aside, so that it is not, even if this process ends; when it is dead its outcome is given up.
   */
  const insist = async (outcome: Outcome): Promise<void> => {
    const recipientId = outcome.row.id;
    const { signal } = ending;
    // Once at least: what is recorded while the actor stops has no other moment.
    for (let pauseMs = FIRST_PAUSE_MS, isLast = false; !isLast; ) {
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      try {
        return await write([outcome]);
      } catch (error) {
        pauseMs = RETRY_MS;
        isLast = signal.aborted;
        if (isConnectionLost(error)) continue;
        const { retrySeconds } = await setAside(context, {
          userId: outcome.row.user_id,
          step: 'send',
          subjectId: recipientId,
          error,
        });
        if (retrySeconds === null) return;
        pauseMs = retrySeconds * 1_000;
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
      const rows = new Map(finished.map((row) => [row.id, row]));
      const written = outcomes.filter(({ row }) => rows.has(row.id));
      await suppressAddresses(
        client,
        written.filter(suppresses).map((outcome) => toSuppression(context, outcome)),
      );
      const settled = written.filter(({ row }) => row.status !== 'pending');
      const emails = uniqueBy(
        settled.filter(({ row }) => rows.get(row.id)?.delivery_id === null),
        ({ row }) => row.email_id,
      );
      if (emails.length > 0)
        await client.query({
          name: 'sending-refresh-emails',
          text: refreshEmailsSql,
          values: [emails.map(({ row }) => row.user_id), emails.map(({ row }) => row.email_id)],
        });
      const forwards = await settleForwards(client, forwardsOf(settled, rows));
      const users = eventsByUser(context, written, rows, forwards);
      if (users.length === 0) return { finished: rows, feeds: [] };
      const { rows: feeds } = await client.query<{ user_id: string; last_seq: number }>({
        name: 'sending-append-events',
        text: appendUserEventsSql,
        values: [JSON.stringify(users)],
      });
      return { finished: rows, feeds };
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

/** By the id of the recipient. */
type FinishedRows = ReadonlyMap<string, FinishedRecipientRow>;

/** The deliveries that settled recipients are of. */
function forwardsOf(settled: readonly Outcome[], rows: FinishedRows): { userId: string; deliveryId: string }[] {
  const forwards = settled.flatMap(({ row }) => {
    const deliveryId = rows.get(row.id)?.delivery_id ?? null;
    return deliveryId === null ? [] : [{ userId: row.user_id, deliveryId }];
  });
  return uniqueBy(forwards, ({ deliveryId }) => deliveryId);
}

/**
 * The events of each user, users in the order of their ids, so that their feeds are locked in one order by everybody. What becomes of a
 * forwarded copy is told of its delivery, once: the email is one that came in.
 */
function eventsByUser(
  context: ActorContext,
  outcomes: readonly Outcome[],
  rows: FinishedRows,
  forwards: readonly { userId: string; event: ForwardEvent }[],
) {
  const now = context.now();
  const users = new Map<string, unknown[]>();
  const append = (userId: string, event: object) => {
    const events = users.get(userId) ?? [];
    users.set(userId, events);
    events.push({ id: makeIdentifier('event', now, context.random(RANDOM_OCTETS)), ...event });
  };
  for (const { row, address, eventKind } of outcomes) {
    const finished = rows.get(row.id);
    if (eventKind === null || finished === undefined || finished.delivery_id !== null) continue;
    append(row.user_id, {
      kind: eventKind,
      emailId: row.email_id,
      threadId: finished.thread_id,
      data: { recipient: address, code: row.code, status: row.enhanced_status, text: row.text },
    });
  }
  for (const { userId, event } of forwards) append(userId, event);
  return [...users]
    .map(([user_id, events]) => ({ user_id, events }))
    .toSorted((one, other) => (one.user_id < other.user_id ? -1 : 1));
}

function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
