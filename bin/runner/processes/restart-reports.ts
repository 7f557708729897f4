import type { Logger } from 'pino';
import type { ClusterReports } from '../../../db/cluster/supervise-cluster.ts';
import type { SupervisedPart } from '../parts/supervised-part.ts';

/** Logs the third failure in a row, and then one every few minutes. */
const FIRST_TOLD = 3;
const TOLD_EVERY = 60;

/** Tells the part that logs outages what the supervision of PostgreSQL reports, and logs restarts that keep failing. */
export function restartReports(part: Pick<SupervisedPart, 'tell'>, log: Logger): ClusterReports {
  return {
    ended: () => part.tell({ postroom: 'database', change: 'ended' }),
    restarted: () => part.tell({ postroom: 'database', change: 'restarted' }),
    failed({ error, failures, pauseMs }) {
      if (failures !== FIRST_TOLD && failures % TOLD_EVERY !== 0) return;
      log.error(
        { err: error, event: 'database.restart-failed', failures, pauseMs },
        'PostgreSQL keeps ending; accepted mail is safe on disk, and the restarts continue',
      );
    },
  };
}
