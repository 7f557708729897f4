import { giveTurns, listTurns, type Turn } from '../../db/queries/endpoints/delivery-order.ts';
import type { ActorContext, Run } from '../actor.ts';
import { laneName } from '../work/in-hand.ts';
import { leaseEnd } from '../work/leases.ts';
import type { DeliveryFlow } from './delivery-flow.ts';
import { type DeliveryFaultPoint, jobOf } from './job.ts';

export interface TurnGiverOptions {
  context: ActorContext;
  flow: DeliveryFlow;
  fault: (point: DeliveryFaultPoint) => void;
}

/**
 * Lets deliveries with one key follow each other. Of each key, at most one delivery is due or in hand. The others wait without a time, so
 * that claims do not see them.
 *
 * 1. A delivery is stored without a time.
 * 2. The turn of its key is given, if no delivery has it: the first that waits becomes due.
 * 3. It is attempted like any other, and keeps the turn while it is retried.
 * 4. It ends, and the turn is given again.
 *
 * A process may die before it gives a turn, so a sweep finds turns that no delivery has.
 */
export interface TurnGiver {
  /** Remembers turns that may be free, and gives them soon. */
  free(turns: readonly Turn[]): void;
  /** Gives the turns that were freed, or, when there are none, looks for free ones. */
  run(run: Pick<Run, 'isStopping'>): Promise<void>;
}

/** Turns that one transaction gives, and that one statement lists. */
const TURNS_AT_ONCE = 500;
/** Statements that one sweep lists turns with; the next sweep goes on where it ended. */
const LISTS_OF_SWEEP = 10;
const FIRST_TURN: Turn = { workspaceId: '', endpointId: '', orderKey: '' };

export function createTurnGiver({ context, flow, fault }: TurnGiverOptions): TurnGiver {
  const freed = new Map<string, Turn>();
  let place = FIRST_TURN;

  const give = async (turns: readonly Turn[]): Promise<void> => {
    if (turns.length === 0) return;
    const counts = new Map<string, number>();
    const wanted = turns.map((turn) => {
      const lane = { workspaceId: turn.workspaceId, key: turn.endpointId };
      const count = (counts.get(laneName(lane)) ?? 0) + 1;
      counts.set(laneName(lane), count);
      return { ...turn, isClaimed: flow.admit(lane, count) !== 'left' };
    });
    const askedAt = performance.now();
    const given = await giveTurns(context.database, context.name, wanted);
    fault('delivery.turned');
    flow.attempt(given.filter((row) => row.is_claimed).map((row) => jobOf(row, leaseEnd(askedAt))));
    const lanes = given.flatMap((row) =>
      row.is_claimed ? [] : [{ workspaceId: row.workspace_id, key: row.endpoint_id }],
    );
    if (lanes.length === 0) return;
    flow.leave([...new Map(lanes.map((lane) => [laneName(lane), lane])).values()]);
    flow.nudge('refill');
  };

  const sweep = async (run: Pick<Run, 'isStopping'>): Promise<void> => {
    for (let n = 0; n < LISTS_OF_SWEEP && freed.size === 0 && !run.isStopping(); n++) {
      const listed = await listTurns(context.database.pool, place, TURNS_AT_ONCE);
      await give(listed.filter(({ isFree }) => isFree));
      place = listed.length < TURNS_AT_ONCE ? FIRST_TURN : (listed.at(-1) ?? FIRST_TURN);
      if (place === FIRST_TURN) return;
    }
  };

  return {
    free(turns) {
      for (const turn of turns) freed.set(`${turn.workspaceId} ${turn.endpointId} ${turn.orderKey}`, turn);
      if (turns.length > 0) flow.nudge('turn');
    },
    async run(run) {
      if (freed.size === 0) await sweep(run);
      while (freed.size > 0 && !run.isStopping()) {
        const turns = [...freed].slice(0, TURNS_AT_ONCE);
        // Turns that are lost here, because PostgreSQL is unreachable, are found by the sweep.
        for (const [name] of turns) freed.delete(name);
        await give(turns.map(([, turn]) => turn));
      }
    },
  };
}
