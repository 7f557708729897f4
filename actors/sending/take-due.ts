import { CLAIM_BATCH } from '../../db/claim.ts';
import type { DueRecipientRow } from '../../db/queries/sending/recipient-claim.ts';
import type { ActorContext, Run } from '../actor.ts';
import { createBacklog, MAX_IN_HAND, MAX_OF_LANE } from '../work/backlog.ts';
import { type InHand, type Lane, laneName } from '../work/in-hand.ts';
import { claimListed, claimOfEmails, claimOfLane, type DuePlace, FIRST_PLACE, listDue } from './claim-recipients.ts';
import type { SendingJob, Transaction } from './job.ts';

export interface DueTakerOptions {
  context: ActorContext;
  inHand: InHand<SendingJob>;
  /** accepts claimed transactions */
  add: (transactions: Transaction[]) => void;
}

/** Claims due recipients while there is room for them; the others wait in their rows. */
export interface DueTaker {
  /** Claims the recipients of the emails in the wakes. */
  takeWoken(run: Run<'sending.send.wake'>): Promise<void>;
  /** Visits all due recipients once. */
  sweep(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** Claims more of lanes that were skipped and have room again. */
  refill(run: Pick<Run, 'isStopping'>): Promise<void>;
  /**
   * Returns whether recipients in these lanes may be claimed as they are stored, and counts them as in hand until `giveBack`: there is room,
   * and nothing of these lanes waits in rows.
   */
  keepPlaces(lanes: readonly Lane[]): boolean;
  /** Ends what keepPlaces counted, when the recipients are in hand, or were not claimed. */
  giveBack(lanes: readonly Lane[]): void;
  /** Which of the above to start after a recipient of that lane was recorded or released; null for neither. */
  needOf(lane: Lane): 'refill' | 'sweep' | null;
}

/** A skipped lane is served again when fewer than this many are in hand. */
const FEW_OF_LANE = 50;
/** Rows that one statement of the sweep reads. */
const WINDOW = 1_000;
/**
 * A sweep that claimed nothing is repeated after this many times its own duration, so that a long backlog of one lane costs PostgreSQL at
 * most a tenth of a core.
 */
const REST = 9;

export function createDueTaker({ context, inHand, add }: DueTakerOptions): DueTaker {
  const backlog = createBacklog(inHand);
  // Users with too many recipients in hand to claim more.
  const workspacesWithoutRoom = new Set<string>();
  // Recipients that are being stored with their claim, by lane and by user.
  const kept = { lanes: new Map<string, number>(), users: new Map<string, number>(), all: 0 };
  let restUntil = 0;
  let lastClaim: Promise<unknown> = Promise.resolve();

  /** One claim at a time: two at once would split the recipients of one email into two transactions. */
  const claimAlone = async (claim: () => Promise<Transaction[]>): Promise<number> => {
    const claiming = lastClaim.then(claim);
    lastClaim = claiming.catch(() => undefined);
    const transactions = await claiming;
    const count = transactions.reduce((sum, { jobs }) => sum + jobs.length, 0);
    if (count === 0) return 0;
    try {
      await context.bytes.keepStored(transactions.flatMap(({ rawId }) => rawId ?? []));
    } finally {
      // They are claimed already: if this failed, each attempt reads its message by itself.
      add(transactions);
    }
    return count;
  };

  /**
   * Whether that user may have more in hand, when `more` of the user's and `allMore` in total are about to be claimed. A user may have as
   * many as there is room left: one alone gets half, two get a third each.
   */
  const hasRoomOf = (workspaceId: string, more = 0, allMore = 0): boolean => {
    const has = inHand.sizeOfWorkspace(workspaceId) + more < MAX_IN_HAND - inHand.size() - allMore;
    if (!has) workspacesWithoutRoom.add(workspaceId);
    return has;
  };

  /** Returns the unclaimed rows whose lane and user have room. */
  const choose = (rows: readonly DueRecipientRow[]): DueRecipientRow[] => {
    const counts = new Map<string, number>();
    const more = new Map<string, number>();
    let allMore = 0;
    return rows.filter((row) => {
      if (!row.is_free || inHand.has(row.id)) return false;
      const lane = { workspaceId: row.workspace_id, key: row.domain };
      const key = laneName(lane);
      const count = counts.get(key) ?? inHand.sizeOf(lane);
      const moreOfWorkspace = more.get(row.workspace_id) ?? 0;
      if (count >= MAX_OF_LANE || !hasRoomOf(row.workspace_id, moreOfWorkspace, allMore)) {
        backlog.passOver(lane);
        return false;
      }
      counts.set(key, count + 1);
      more.set(row.workspace_id, moreOfWorkspace + 1);
      allMore++;
      return true;
    });
  };

  const count = (lanes: readonly Lane[], difference: 1 | -1): void => {
    kept.all += difference * lanes.length;
    for (const lane of lanes) {
      addTo(kept.lanes, laneName(lane), difference);
      addTo(kept.users, lane.workspaceId, difference);
    }
  };

  const mayRefill = (lane: Lane) => inHand.sizeOf(lane) < FEW_OF_LANE && hasRoomOf(lane.workspaceId);

  return {
    async takeWoken(run) {
      const emails = run.wakes.flatMap(({ workspaceId, emailIds }) =>
        emailIds.map((emailId) => ({ workspaceId, emailId })),
      );
      for (let at = 0; at < emails.length && !run.isStopping(); ) {
        if (!backlog.hasRoom()) return;
        const full = inHand.lanesAbove(MAX_OF_LANE);
        for (const lane of full) backlog.passOver(lane);
        const some = emails.slice(at, at + CLAIM_BATCH).filter(({ workspaceId }) => hasRoomOf(workspaceId));
        const count = some.length === 0 ? 0 : await claimAlone(() => claimOfEmails(context, some, full));
        // A full batch: these emails may have more recipients.
        if (count < CLAIM_BATCH) at += CLAIM_BATCH;
      }
    },

    async sweep(run) {
      if (performance.now() < restUntil) return;
      let place: DuePlace = FIRST_PLACE;
      let idleMs = 0;
      while (backlog.hasRoom() && !run.isStopping()) {
        const startedTick = performance.now();
        const rows = await listDue(context, place, WINDOW);
        const chosen = choose(rows);
        for (let at = 0; at < chosen.length && backlog.hasRoom() && !run.isStopping(); at += CLAIM_BATCH) {
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
      for (const lane of backlog.lanes()) {
        while (mayRefill(lane) && backlog.hasRoom() && !run.isStopping()) {
          const entry = backlog.entry(lane);
          const count = await claimAlone(() => claimOfLane(context, lane));
          if (count === CLAIM_BATCH) continue;
          backlog.catchUp(lane, entry);
          break;
        }
      }
    },

    keepPlaces(lanes) {
      count(lanes, 1);
      const has = lanes.every(
        (lane) =>
          backlog.entry(lane) === undefined &&
          inHand.sizeOf(lane) + (kept.lanes.get(laneName(lane)) ?? 0) <= FEW_OF_LANE &&
          inHand.sizeOfWorkspace(lane.workspaceId) + (kept.users.get(lane.workspaceId) ?? 0) <=
            MAX_IN_HAND - inHand.size() - kept.all,
      );
      if (!has) count(lanes, -1);
      return has;
    },

    giveBack: (lanes) => count(lanes, -1),

    needOf(lane) {
      if (backlog.hasRoomAgain()) return 'sweep';
      const { workspaceId } = lane;
      if (
        workspacesWithoutRoom.has(workspaceId) &&
        inHand.sizeOfWorkspace(workspaceId) < (MAX_IN_HAND - inHand.size()) / 2
      ) {
        workspacesWithoutRoom.delete(workspaceId);
        return 'refill';
      }
      return backlog.entry(lane) !== undefined && mayRefill(lane) ? 'refill' : null;
    },
  };
}

function addTo(counts: Map<string, number>, key: string, difference: number): void {
  const count = (counts.get(key) ?? 0) + difference;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
