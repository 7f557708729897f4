import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import type { Database } from './database.ts';
import { limitedError, workspaceSettings } from './transaction.ts';
import { runWorkspaceStatement } from './workspace-statement.ts';

/** A prepared statement that only reads. Its name always goes with the same text, so that each connection plans it once. */
export interface WorkspaceRead {
  name: string;
  text: string;
  values: readonly (string | number | Date)[];
}

/**
 * Runs one frequent statement as asWorkspace would, in one round trip instead of four: the settings of the workspace and the statement are sent
 * together, as one transaction (PostgreSQL, "Pipelining"). The cached plan uses indexes and nested loops, whatever the tables held when it
 * was made.
 */
export async function readAsWorkspace<Row extends pg.QueryResultRow>(
  database: Database,
  workspaceId: string,
  read: WorkspaceRead,
): Promise<readonly Row[]> {
  const { reading, limit } = database;
  if (reading?.workspaceId === workspaceId)
    return reading.run(async (transaction) => {
      const { rows } = await transaction.executeQuery<Row>(CompiledQuery.raw(read.text, [...read.values]));
      return rows;
    });
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    return await runWorkspaceStatement<Row>(
      client,
      { settings: workspaceSettings(workspaceId, limit), sharedLocks: [], workspaceId },
      read,
    );
  } catch (error) {
    failure = error as Error;
    throw limitedError(error, limit);
  } finally {
    // After an error it is unknown what the connection has prepared.
    client.release(failure);
  }
}
