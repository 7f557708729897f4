import type { Database } from '../../connection/database.ts';

/**
 * Takes statistics of tables that grew much since the last time, and by that ends plans that were made for smaller ones.
 * Answers how many tables. Cheap when none grew; at most one process does it at a time.
 */
export async function analyzeYoungTables(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>('select analyze_young_tables() as count');
  return rows[0]?.count ?? 0;
}
