import type { Database } from '../../connection/database.ts';

/**
 * Runs ANALYZE on tables that grew much since the last time, which also discards plans made for smaller ones. Returns how many tables.
 * Cheap when none grew; at most one process does it at a time.
 */
export async function analyzeTables(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>('select analyze_young_tables() as count');
  return rows[0]?.count ?? 0;
}
