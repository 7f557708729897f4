import { CLAIM_BATCH } from '../../db/claim.ts';
import type { DueRecipientRow } from '../../db/queries/recipient-claim.ts';
import type { ActorContext, Run } from '../actor.ts';
import { claimListed, claimOfDomain, claimOfEmails, type DuePlace, FIRST_PLACE, listDue } from './claim-recipients.ts';
import type { DestinationQueue } from './destination-queue.ts';
import type { Transaction } from './job.ts';

export interface DueTakerOptions {
  context: ActorContext;
  queue: Pick<DestinationQueue, 'size' | 'sizeOf' | 'domainsAbove' | 'has'>;
  /** takes claimed transactions on */
  add: (transactions: Transaction[]) => void;
}

/** Claims due recipients as far as there is room for them; what there is no room for waits in its rows. */
export interface DueTaker {
  /** Takes the recipients of emails that were told of. */
  takeWoken(run: Run<'sending.send.wake'>): Promise<void>;
  /** Walks over all due recipients once. */
  sweep(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** Takes more for domains that were passed over and have room again. */
  refill(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** What a domain that has room again needs: nothing, or one of the above. */
  needOf(domain: string): 'refill' | 'sweep' | null;
}

/** Recipients in hand, in all and of one domain: above these the rest waits in its rows. */
const MOST_IN_HAND = 3_000;
const MOST_OF_DOMAIN = 400;
/** A domain with that few in hand and more in its rows is served again. */
const FEW_OF_DOMAIN = 150;
/** Rows that a step of the walk reads. */
const WINDOW = 1_000;
/** A walk that found nothing to take is not repeated before this many times its own duration, so that a long backlog of one domain costs
 * PostgreSQL a tenth of a core at most. */
const REST = 9;

export function createDueTaker({ context, queue, add }: DueTakerOptions): DueTaker {
  // Domains with recipients that wait in their rows because too many are in hand.
  const behind = new Set<string>();
  let isAllFull = false;
  let restUntil = 0;
  let lastClaim: Promise<unknown> = Promise.resolve();

  /** Claims one after another: two at once would share the recipients of one email between them, and make two transactions of one. */
  const claimAlone = async (claim: () => Promise<Transaction[]>): Promise<number> => {
    const claiming = lastClaim.then(claim);
    lastClaim = claiming.catch(() => undefined);
    const transactions = await claiming;
    const count = transactions.reduce((sum, { jobs }) => sum + jobs.length, 0);
    if (count > 0) add(transactions);
    return count;
  };

  const hasRoom = () => {
    const has = queue.size() < MOST_IN_HAND;
    if (!has) isAllFull = true;
    return has;
  };

  /** Of the rows, those that are free and whose domain has room. */
  const choose = (rows: readonly DueRecipientRow[]): DueRecipientRow[] => {
    const counts = new Map<string, number>();
    return rows.filter((row) => {
      if (!row.is_free || queue.has(row.id)) return false;
      const count = counts.get(row.domain) ?? queue.sizeOf(row.domain);
      if (count >= MOST_OF_DOMAIN) {
        behind.add(row.domain);
        return false;
      }
      counts.set(row.domain, count + 1);
      return true;
    });
  };

  return {
    async takeWoken(run) {
      const emails = run.wakes.flatMap(({ userId, emailIds }) => emailIds.map((emailId) => ({ userId, emailId })));
      for (let at = 0; at < emails.length && !run.isStopping(); ) {
        if (!hasRoom()) return;
        const full = queue.domainsAbove(MOST_OF_DOMAIN);
        for (const domain of full) behind.add(domain);
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
      for (const domain of behind) {
        while (queue.sizeOf(domain) < FEW_OF_DOMAIN && hasRoom() && !run.isStopping()) {
          const before = queue.sizeOf(domain);
          const count = await claimAlone(() => claimOfDomain(context, domain));
          if (count < CLAIM_BATCH) {
            behind.delete(domain);
            break;
          }
          if (queue.sizeOf(domain) === before) break;
        }
      }
    },

    needOf(domain) {
      if (isAllFull && queue.size() < MOST_IN_HAND / 2) {
        isAllFull = false;
        return 'sweep';
      }
      return behind.has(domain) && queue.sizeOf(domain) < FEW_OF_DOMAIN ? 'refill' : null;
    },
  };
}
