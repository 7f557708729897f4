import type { Pool } from 'pg';
import type { DatabaseRole } from '../../../db/connection/database.ts';
import type { Bus } from '../../../schema/messages.ts';
import { busMetrics, databaseMetrics } from '../../../schema/metrics.ts';
import { beforeScrape } from './process-metrics.ts';

/** Adds the state of the bus to each scrape. */
export function measureConnection(bus: Pick<Bus, 'isConnected'>, transport: 'nats' | 'in-process' | 'socket'): void {
  beforeScrape(() => busMetrics.isConnected.set({ transport }, bus.isConnected() ? 1 : 0));
}

const pools = new Map<string, Set<Pool>>();

/**
 * Adds the usage of a pool to each scrape until the returned function is called. The owner's pools, which programs open briefly, are left
 * out.
 */
export function measurePool(role: DatabaseRole, pool: Pool): () => void {
  if (role === null) return () => undefined;
  const name = role.replace('postroom_', '');
  const known = pools.get(name) ?? new Set();
  pools.set(name, known);
  known.add(pool);
  if (pools.size === 1 && known.size === 1) beforeScrape(tell);
  return () => void known.delete(pool);
}

function tell(): void {
  for (const [pool, members] of pools) {
    const sum = (count: (member: Pool) => number) => [...members].reduce((total, member) => total + count(member), 0);
    const idle = sum(({ idleCount }) => idleCount);
    databaseMetrics.connections.set({ pool, state: 'idle' }, idle);
    databaseMetrics.connections.set({ pool, state: 'busy' }, sum(({ totalCount }) => totalCount) - idle);
    databaseMetrics.connectionLimit.set(
      { pool },
      sum(({ options }) => options.max),
    );
    databaseMetrics.waiting.set(
      { pool },
      sum(({ waitingCount }) => waitingCount),
    );
  }
}
