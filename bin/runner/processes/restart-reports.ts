import type { Logger } from 'pino';
import type { ClusterReports } from '../../../db/cluster/supervise-cluster.ts';
import type { DatabaseOutage } from '../database-outage.ts';

/** Logs the third failure in a row, and then one every few minutes. */
const FIRST_TOLD = 3;
const TOLD_EVERY = 60;

/** Logs what the supervision of PostgreSQL reports, as part of the outage while restarts succeed. */
export function restartReports(outage: DatabaseOutage, log: Logger): ClusterReports {
  return {
    ended: () => outage.begin(new Error('The PostgreSQL server process has ended')),
    restarted: () => outage.countRestart(),
    failed({ error, failures, pauseMs }) {
      if (failures !== FIRST_TOLD && failures % TOLD_EVERY !== 0) return;
      log.error(
        { err: error, event: 'database.restart-failed', failures, pauseMs },
        'PostgreSQL keeps ending; accepted mail is safe on disk, and the restarts continue',
      );
    },
  };
}
