import { CLAIM_BATCH } from '../../db/claim.ts';
import type { DueRecipientRow } from '../../db/queries/recipient-claim.ts';
import type { ActorContext, Run } from '../actor.ts';
import { claimListed, claimOfEmails, claimOfLane, type DuePlace, FIRST_PLACE, listDue } from './claim-recipients.ts';
import type { DestinationQueue } from './destination-queue.ts';
import type { Lane, Transaction } from './job.ts';

export interface DueTakerOptions {
  context: ActorContext;
  queue: Pick<DestinationQueue, 'size' | 'sizeOf' | 'lanesAbove' | 'has'>;
  /** takes claimed transactions on */
  add: (transactions: Transaction[]) => void;
}

/** Claims due recipients as far as there is room for them; what there is no room for waits in its rows. */
export interface DueTaker {
  /** Takes the recipients of emails that were told of. */
  takeWoken(run: Run<'sending.send.wake'>): Promise<void>;
  /** Walks over all due recipients once. */
  sweep(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** Takes more of lanes that were passed over and have room again. */
  refill(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** What is to be done when recipients of that lane left our hands: nothing, or one of the above. */
  needOf(lane: Lane): 'refill' | 'sweep' | null;
}

/** Recipients in hand, in all and of one lane: above these the rest waits in its rows. */
const MOST_IN_HAND = 5_000;
const MOST_OF_LANE = 100;
/** A lane with that few in hand and more in its rows is served again. */
const FEW_OF_LANE = 50;
/** Rows that a step of the walk reads. */
const WINDOW = 1_000;
/** A walk that found nothing to take is not repeated before this many times its own duration, so that a long backlog of one lane costs
 * PostgreSQL a tenth of a core at most. */
const REST = 9;

export function createDueTaker({ context, queue, add }: DueTakerOptions): DueTaker {
  // Lanes with recipients that wait in their rows because too many are in hand.
  const behind = new Map<string, Lane>();
  let isAllFull = false;
  let restUntil = 0;
  let lastClaim: Promise<unknown> = Promise.resolve();

  /** Claims one after another: two at once would share the recipients of one email between them, and make two transactions of one. */
  const claimAlone = async (claim: () => Promise<Transaction[]>): Promise<number> => {
    const claiming = lastClaim.then(claim);
    lastClaim = claiming.catch(() => undefined);
    const transactions = await claiming;
    const count = transactions.reduce((sum, { jobs }) => sum + jobs.length, 0);
    if (count === 0) return 0;
    try {
      await context.octets.keepStored(transactions.flatMap(({ rawId }) => rawId ?? []));
    } finally {
      // They are claimed: each attempt reads what it needs by itself.
      add(transactions);
    }
    return count;
  };

  const hasRoom = () => {
    const has = queue.size() < MOST_IN_HAND;
    if (!has) isAllFull = true;
    return has;
  };

  /** Of the rows, those that are free and whose lane has room. */
  const choose = (rows: readonly DueRecipientRow[]): DueRecipientRow[] => {
    const counts = new Map<string, number>();
    return rows.filter((row) => {
      if (!row.is_free || queue.has(row.id)) return false;
      const lane = { userId: row.user_id, domain: row.domain };
      const key = keyOf(lane);
      const count = counts.get(key) ?? queue.sizeOf(lane);
      if (count >= MOST_OF_LANE) {
        behind.set(key, lane);
        return false;
      }
      counts.set(key, count + 1);
      return true;
    });
  };

  return {
    async takeWoken(run) {
      const emails = run.wakes.flatMap(({ userId, emailIds }) => emailIds.map((emailId) => ({ userId, emailId })));
      for (let at = 0; at < emails.length && !run.isStopping(); ) {
        if (!hasRoom()) return;
        const full = queue.lanesAbove(MOST_OF_LANE);
        for (const lane of full) behind.set(keyOf(lane), lane);
        const some = emails.slice(at, at + CLAIM_BATCH);
        const count = await claimAlone(() => claimOfEmails(context, some, full));
        // A full batch: these emails may have more recipients.
        if (count < CLAIM_BATCH) at += CLAIM_BATCH;
      }
    },

    async sweep(run) {
      if (performance.now() < restUntil) return;
      let place: DuePlace = FIRST_PLACE;
      let idleMs = 0;
      while (hasRoom() && !run.isStopping()) {
        const startedTick = performance.now();
        const rows = await listDue(context, place, WINDOW);
        const chosen = choose(rows);
        for (let at = 0; at < chosen.length && hasRoom() && !run.isStopping(); at += CLAIM_BATCH) {
          const batch = chosen.slice(at, at + CLAIM_BATCH);
          await claimAlone(() => claimListed(context, batch));
        }
        if (chosen.length === 0) idleMs += performance.now() - startedTick;
        const last = rows.at(-1);
        if (last === undefined || rows.length < WINDOW) break;
        place = { at: last.next_attempt_at, id: last.id };
      }
      restUntil = performance.now() + REST * idleMs;
    },

    async refill(run) {
      for (const [key, lane] of behind) {
        while (queue.sizeOf(lane) < FEW_OF_LANE && hasRoom() && !run.isStopping()) {
          const count = await claimAlone(() => claimOfLane(context, lane));
          if (count === CLAIM_BATCH) continue;
          behind.delete(key);
          break;
        }
      }
    },

    needOf(lane) {
      if (isAllFull && queue.size() < MOST_IN_HAND / 2) {
        isAllFull = false;
        return 'sweep';
      }
      return behind.has(keyOf(lane)) && queue.sizeOf(lane) < FEW_OF_LANE ? 'refill' : null;
    },
  };
}

function keyOf({ userId, domain }: Lane): string {
  return `${domain} ${userId}`;
}
