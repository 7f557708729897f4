import type { Logger } from 'pino';
import type { Database } from '../../../db/connection/database.ts';
import { type QueueBacklog, readBacklog } from '../../../db/queries/upkeep/backlog.ts';
import { backlogMetrics } from '../../../schema/metrics.ts';
import { beforeScrape } from './process-metrics.ts';

/** Scrapes within this time get the same figures. Milliseconds. */
const FRESH_MS = 5_000;
/** Maximum time that a scrape waits for the backlog. Milliseconds. */
const PATIENCE_MS = 3_000;

/**
 * Adds the backlog of all actors to each scrape, read with the role postroom_actor. Every actor process reports all of it, so the backlog
 * of an actor without any running process is visible too. If PostgreSQL does not respond in time, the scrape reports no backlog.
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

/** Removes the figures, because old ones would look current. */
function forget(): void {
  for (const gauge of [
    backlogMetrics.rows,
    backlogMetrics.oldestSeconds,
    backlogMetrics.dead,
    backlogMetrics.laterRows,
  ])
    gauge.reset();
}
