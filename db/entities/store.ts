import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Kysely, Transaction } from 'kysely';
import type { Origin } from '../../core/accounts/audit.ts';
import { type Reach, reachExceeded } from '../../core/accounts/key-rights.ts';
import { loadOnce } from '../../core/shared/load-once.ts';
import type { Database } from '../connection/database.ts';
import { ORIGIN_SETTING } from '../connection/transaction.ts';
import type { Tables } from './tables.ts';

/** A transaction of one workspace with entities: changes to `entities` are written when the work resolves. */
export interface UnitOfWork {
  entities: EntityManager;
  /** the same transaction for Kysely */
  transaction: Transaction<Tables>;
}

/** MikroORM over the pool of a Database. */
export interface EntityStore {
  /** Like `asWorkspace` of db/connection/transaction.ts: row-level security shows only this workspace's rows. `origin`: who makes the changes. */
  asWorkspace<T>(workspaceId: string, work: (unit: UnitOfWork) => Promise<T>, origin?: Origin): Promise<T>;
}

/** Loads MikroORM at the first use, and connects through the pool of the database, so there is nothing to close. */
export function openEntityStore(database: Database): EntityStore {
  const open = loadOnce(() => openOrm(database));
  return {
    asWorkspace: async (workspaceId, work, origin) =>
      (await open()).em.fork().transactional(async (entities) => {
        await entities.execute(
          `select set_config('postroom.workspace_id', ?, true), set_config('${ORIGIN_SETTING}', ?, true)`,
          [workspaceId, origin === undefined ? '' : JSON.stringify(origin)],
        );
        const transaction = entities.getTransactionContext<Transaction<Tables>>();
        if (transaction === undefined) throw new Error('no transaction is open');
        return work({ entities, transaction });
      }),
  };
}

/** Returns the same store for the changes of a request, as `madeBy` does for a database. */
export function storeMadeBy(store: EntityStore, origin: Origin): EntityStore {
  return { asWorkspace: (workspaceId, work) => store.asWorkspace(workspaceId, work, origin) };
}

async function openOrm(database: Database): Promise<MikroORM> {
  const [{ MikroORM }, { resources }] = await Promise.all([import('@mikro-orm/postgresql'), import('./list.ts')]);
  return new MikroORM({
    entities: resources,
    driverOptions: database.kysely as Kysely<unknown>,
    dbName: 'postroom',
    ensureDatabase: false,
    forceUtcTimezone: true,
    debug: false,
    logger: () => undefined,
  });
}

/** For API keys of single domains or addresses, which may not change entities: all work is rejected as forbidden. */
export function refusingStore(reach: Reach): EntityStore {
  return { asWorkspace: () => Promise.reject(reachExceeded('This', { reach })) };
}
