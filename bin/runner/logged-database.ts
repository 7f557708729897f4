import type { Logger } from 'pino';
import { type Database, type DatabaseOptions, openDatabase } from '../../db/connection/database.ts';
import { measurePool } from './monitoring/measure-connections.ts';

/** Opens a pool that logs lost connections, except when the pool closes. */
export function openLoggedDatabase(
  options: Omit<DatabaseOptions, 'onError'>,
  log: Logger,
): { database: Database; close: () => Promise<void> } {
  let isClosing = false;
  const database = openDatabase({
    ...options,
    onError(error) {
      if (!isClosing) log.warn({ err: error, event: 'database.connection-lost' }, 'database: connection lost');
    },
  });
  const endMeasuring = measurePool(options.role, database.pool);
  return {
    database,
    close() {
      isClosing = true;
      endMeasuring();
      return database.close();
    },
  };
}
