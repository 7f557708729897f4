import { ACTOR_OF_STEP, type RowFault, type SetAside, setRowAside } from '../db/queries/upkeep/dead-row.ts';
import { actorMetrics } from '../schema/metrics.ts';
import type { ActorContext } from './actor.ts';

/**
 * Sets aside a row that failed for an internal reason, and logs the error: this is the only place where it is logged. Never rejects: if
 * that cannot be written, the row is found again when its lease expires.
 */
export async function setAside(context: Pick<ActorContext, 'database' | 'log'>, fault: RowFault): Promise<SetAside> {
  const { workspaceId, step, subjectId, error } = fault;
  actorMetrics.setAside.inc({ actor: ACTOR_OF_STEP[step], queue: step });
  const about = { err: error, actor: ACTOR_OF_STEP[step], step, workspaceId, subjectId };
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
