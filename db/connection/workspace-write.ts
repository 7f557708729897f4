import type pg from 'pg';
import type { Database } from './database.ts';
import { limitedError, workspaceSettings } from './transaction.ts';
import { runWorkspaceStatement, type WorkspaceStatement } from './workspace-statement.ts';

export interface WorkspaceWriteLimits {
  /** maximum wait for a row that another transaction locks; milliseconds */
  lockTimeoutMs: number;
  /** after which the statement fails, and nothing is written; milliseconds */
  timeoutMs: number;
  /** names of locks of the workspace that are held, together with others who share them, before the statement begins */
  sharedLocks: readonly string[];
}

/**
 * Runs one frequent statement that writes, as a transaction of the workspace: it is sent, run and committed in one round trip. When it rejects
 * with an error of PostgreSQL, nothing was written; after any other error, it may have been. Throws OpeningFailed when a lock is not free in time.
 */
export async function writeAsWorkspace<Row extends pg.QueryResultRow>(
  database: Database,
  workspaceId: string,
  { lockTimeoutMs, timeoutMs, sharedLocks }: WorkspaceWriteLimits,
  statement: WorkspaceStatement,
): Promise<readonly Row[]> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    const limits: [string, string][] = [
      ['lock_timeout', String(lockTimeoutMs)],
      ['statement_timeout', String(Math.max(1, Math.round(timeoutMs)))],
    ];
    const settings = [...limits, ...workspaceSettings(workspaceId, database.limit)];
    return await runWorkspaceStatement<Row>(client, { settings, sharedLocks, workspaceId }, statement);
  } catch (error) {
    failure = error as Error;
    throw limitedError(error, database.limit);
  } finally {
    // After an error it is unknown what the connection has prepared.
    client.release(failure);
  }
}
