import { type InHand, type Lane, laneName } from './in-hand.ts';

/**
 * Remembers where due rows were left waiting because too many jobs are in hand: in single lanes, or overall. Rows are the truth; this only
 * tells when to claim again before the next sweep.
 */
export interface WaitingLanes {
  /** Whether more may be claimed; if not, remembers that rows were left. */
  hasRoom(): boolean;
  /** Whether there is room again after rows of any lane were left; true once. */
  hasRoomAgain(): boolean;
  /** Remembers that rows of this lane were left. */
  passOver(lane: Lane): void;
  /**
   * Forgets a lane whose due rows were all claimed. Pass what `entry` returned before the claim, so that rows left in the meantime count.
   */
  catchUp(lane: Lane, entry: Lane | undefined): void;
  /** Returns what is remembered of a lane; undefined when none of its rows were left. */
  entry(lane: Lane): Lane | undefined;
  lanes(): Lane[];
}

/** Total jobs in hand above which due rows wait for a claim. */
export const MAX_IN_HAND = 5_000;
/** ... and per lane. */
export const MAX_OF_LANE = 100;
/** Lanes that are remembered; the sweep finds the others again. */
const MAX_LANES = 20_000;

export function createWaitingLanes<Job>(inHand: InHand<Job>): WaitingLanes {
  const lanes = new Map<string, Lane>();
  let isAllFull = false;
  return {
    hasRoom() {
      const has = inHand.size() < MAX_IN_HAND;
      if (!has) isAllFull = true;
      return has;
    },
    hasRoomAgain() {
      if (!isAllFull || inHand.size() >= MAX_IN_HAND / 2) return false;
      isAllFull = false;
      return true;
    },
    passOver({ workspaceId, key }) {
      const name = laneName({ workspaceId, key });
      if (lanes.size < MAX_LANES || lanes.has(name)) lanes.set(name, { workspaceId, key });
    },
    catchUp(lane, entry) {
      const name = laneName(lane);
      if (lanes.get(name) === entry) lanes.delete(name);
    },
    entry: (lane) => lanes.get(laneName(lane)),
    lanes: () => [...lanes.values()],
  };
}
