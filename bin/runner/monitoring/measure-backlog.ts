import type { Logger } from 'pino';
import type { Database } from '../../../db/connection/database.ts';
import { type QueueBacklog, readBacklog } from '../../../db/queries/upkeep/backlog.ts';
import { backlogMetrics } from '../../../schema/metrics.ts';
import { beforeScrape } from './process-metrics.ts';

/** Several who ask within this time get the same figures; milliseconds. */
const FRESH_MS = 5_000;
/** Who asks for metrics waits for the backlog no longer than this; milliseconds. */
const PATIENCE_MS = 3_000;

/**
 * Has each scrape tell the backlog of all actors, by the role postroom_actor. Every process of an actor tells the same, so that what waits
 * for an actor of which none runs is seen, too. When PostgreSQL does not answer in time nothing is told of it.
 */
export function measureBacklog(database: Database, log: Logger): void {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const read = async (): Promise<void> => {
    try {
      const backlog = await readBacklog(database);
      readAt = performance.now();
      tell(backlog);
    } catch (error) {
      log.warn({ err: error, event: 'metrics.backlog-unread' }, 'the backlog could not be read');
      backlogMetrics.readFailures.inc();
      forget();
    } finally {
      reading = null;
    }
  };

  beforeScrape(async () => {
    if (performance.now() - readAt < FRESH_MS) return;
    reading ??= read();
    const { promise: late, resolve } = Promise.withResolvers<'late'>();
    const timer = setTimeout(resolve, PATIENCE_MS, 'late');
    if ((await Promise.race([reading, late])) === 'late') forget();
    clearTimeout(timer);
  });
}

function tell(backlog: readonly QueueBacklog[]): void {
  for (const { actor, queue, rowCount, oldestSeconds, laterCount, deadCount } of backlog) {
    const labels = { actor, queue };
    backlogMetrics.rows.set(labels, rowCount);
    backlogMetrics.oldestSeconds.set(labels, oldestSeconds);
    backlogMetrics.dead.set(labels, deadCount);
    if (laterCount !== null) backlogMetrics.laterRows.set(labels, laterCount);
  }
}

/** Figures of the past would pass for those of now. */
function forget(): void {
  for (const gauge of [
    backlogMetrics.rows,
    backlogMetrics.oldestSeconds,
    backlogMetrics.dead,
    backlogMetrics.laterRows,
  ])
    gauge.reset();
}
