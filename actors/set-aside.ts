import { ACTOR_OF_STEP, type RowFault, type SetAside, setRowAside } from '../db/queries/upkeep/dead-row.ts';
import { actorMetrics } from '../schema/metrics.ts';
import type { ActorContext } from './actor.ts';

/**
 * Sets a row aside over which work failed for a reason of ours (guarantees.md §5), and says so once: here is where such an error is logged.
 * Never rejects: when even that cannot be written down, the row is found again when its lease is over.
 */
export async function setAside(context: Pick<ActorContext, 'database' | 'log'>, fault: RowFault): Promise<SetAside> {
  const { userId, step, subjectId, error } = fault;
  actorMetrics.setAside.inc({ actor: ACTOR_OF_STEP[step], queue: step });
  const about = { err: error, actor: ACTOR_OF_STEP[step], step, userId, subjectId };
  try {
    const aside = await setRowAside(context.database, fault);
    if (aside.retrySeconds === null) context.log.error({ ...about, tries: aside.tries }, 'actor: a row is dead');
    else context.log.error({ ...about, ...aside }, 'actor: a row was set aside');
    return aside;
  } catch (reason) {
    context.log.error({ ...about, reason }, 'actor: a row could not be set aside');
    return { tries: 1, retrySeconds: UNWRITTEN_RETRY_SECONDS };
  }
}

const UNWRITTEN_RETRY_SECONDS = 30;
