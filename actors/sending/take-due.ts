import { CLAIM_BATCH } from '../../db/claim.ts';
import type { DueRecipientRow } from '../../db/queries/sending/recipient-claim.ts';
import type { ActorContext, Run } from '../actor.ts';
import { claimListed, claimOfEmails, claimOfLane, type DuePlace, FIRST_PLACE, listDue } from './claim-recipients.ts';
import type { InHand } from './in-hand.ts';
import type { Lane, Transaction } from './job.ts';

export interface DueTakerOptions {
  context: ActorContext;
  inHand: InHand;
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

/**
 * Recipients in hand, in all and of one lane: above these the rest waits in its rows. A user may have as many as there is room left for, so
 * that there is room for others, too: one alone gets half, two get a third each.
 */
const MOST_IN_HAND = 5_000;
const MOST_OF_LANE = 100;
/** A lane with that few in hand and more in its rows is served again. */
const FEW_OF_LANE = 50;
/** Lanes that are noted to be served again. */
const MOST_BEHIND = 20_000;
/** Rows that a step of the walk reads. */
const WINDOW = 1_000;
/** A walk that found nothing to take is not repeated before this many times its own duration, so that a long backlog of one lane costs
 * PostgreSQL a tenth of a core at most. */
const REST = 9;

export function createDueTaker({ context, inHand, add }: DueTakerOptions): DueTaker {
  // Lanes with recipients that wait in their rows because too many are in hand, and users of whom that is so.
  const behind = new Map<string, Lane>();
  const crowded = new Set<string>();
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
    const has = inHand.size() < MOST_IN_HAND;
    if (!has) isAllFull = true;
    return has;
  };

  /** Whether that user may have more in hand, `more` of whose and `allMore` of anybody's are about to be. */
  const hasRoomOf = (userId: string, more = 0, allMore = 0): boolean => {
    const has = inHand.sizeOfUser(userId) + more < MOST_IN_HAND - inHand.size() - allMore;
    if (!has) crowded.add(userId);
    return has;
  };

  const passOver = (lane: Lane) => {
    // What is not noted here the sweep finds again.
    if (behind.size < MOST_BEHIND) behind.set(keyOf(lane), lane);
  };

  /** Of the rows, those that are free and whose lane and user have room. */
  const choose = (rows: readonly DueRecipientRow[]): DueRecipientRow[] => {
    const counts = new Map<string, number>();
    const more = new Map<string, number>();
    let allMore = 0;
    return rows.filter((row) => {
      if (!row.is_free || inHand.has(row.id)) return false;
      const lane = { userId: row.user_id, domain: row.domain };
      const key = keyOf(lane);
      const count = counts.get(key) ?? inHand.sizeOf(lane);
      const moreOfUser = more.get(row.user_id) ?? 0;
      if (count >= MOST_OF_LANE || !hasRoomOf(row.user_id, moreOfUser, allMore)) {
        passOver(lane);
        return false;
      }
      counts.set(key, count + 1);
      more.set(row.user_id, moreOfUser + 1);
      allMore++;
      return true;
    });
  };

  const mayRefill = (lane: Lane) => inHand.sizeOf(lane) < FEW_OF_LANE && hasRoomOf(lane.userId);

  return {
    async takeWoken(run) {
      const emails = run.wakes.flatMap(({ userId, emailIds }) => emailIds.map((emailId) => ({ userId, emailId })));
      for (let at = 0; at < emails.length && !run.isStopping(); ) {
        if (!hasRoom()) return;
        const full = inHand.lanesAbove(MOST_OF_LANE);
        for (const lane of full) passOver(lane);
        const some = emails.slice(at, at + CLAIM_BATCH).filter(({ userId }) => hasRoomOf(userId));
        const count = some.length === 0 ? 0 : await claimAlone(() => claimOfEmails(context, some, full));
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
        while (mayRefill(lane) && hasRoom() && !run.isStopping()) {
          const count = await claimAlone(() => claimOfLane(context, lane));
          if (count === CLAIM_BATCH) continue;
          behind.delete(key);
          break;
        }
      }
    },

    needOf(lane) {
      if (isAllFull && inHand.size() < MOST_IN_HAND / 2) {
        isAllFull = false;
        return 'sweep';
      }
      const { userId } = lane;
      if (crowded.has(userId) && inHand.sizeOfUser(userId) < (MOST_IN_HAND - inHand.size()) / 2) {
        crowded.delete(userId);
        return 'refill';
      }
      return behind.has(keyOf(lane)) && mayRefill(lane) ? 'refill' : null;
    },
  };
}

function keyOf({ userId, domain }: Lane): string {
  return `${domain} ${userId}`;
}
