import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/connection/database.ts';
import { migrate } from '../../../db/migrate.ts';
import { migrationNames } from '../../../db/migrations/names.ts';
import {
  holdDueOutgoing,
  type OutgoingCount,
  readWaitingWork,
  type WaitingWork,
} from '../../../db/queries/sending/held-outgoing.ts';
import { type DatabaseContents, readContents, readMigrations } from '../../../db/queries/upkeep/database-contents.ts';
import { fitsSecretKey } from '../../../db/queries/upkeep/secret-canary.ts';
import { voidLeases } from '../../../db/queries/upkeep/void-leases.ts';
import { asOwner } from '../reach-database.ts';
import { BackupRefused } from './backup-manifest.ts';

/** State of the restored database and what bin/restore.ts did with it. */
export interface Restored extends DatabaseContents {
  /** outgoing mail that is held; zero if it will be sent */
  held: OutgoingCount;
  waiting: WaitingWork;
}

/**
 * Prepares a restored database for a start: migrates its schema, checks SECRET_KEY, ends the leases of actors that were running during the
 * backup, and holds outgoing mail that was due unless the operator wants it sent again. Throws BackupRefused if this Postroom cannot run it.
 */
export async function settleRestored(order: {
  url: string;
  secretKey: Uint8Array;
  outgoing: 'hold' | 'send';
}): Promise<Restored> {
  const settle = async (database: Database): Promise<Restored> => {
    assertKnown((await readMigrations(database)).ran);
    await migrate(order.url);
    if (!(await fitsSecretKey(database, order.secretKey, randomBytes)))
      throw new BackupRefused('SECRET_KEY of the backup does not match its database');
    await voidLeases(database);
    const held =
      order.outgoing === 'hold'
        ? await holdDueOutgoing(database, randomBytes, () => new Date())
        : { recipients: 0, emails: 0 };
    return { ...(await readContents(database)), held, waiting: await readWaitingWork(database) };
  };
  return asOwner(order.url, 'restore', settle, 'unlimited');
}

/** Throws BackupRefused if a newer Postroom ran one of the migrations. */
export function assertKnown(migrations: readonly string[]): void {
  const known: readonly string[] = migrationNames;
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new BackupRefused(
      `A newer Postroom made the backup (its schema has ${unknown.join(', ')}). Restore with that version`,
    );
}
