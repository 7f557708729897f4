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
import { asOwner } from '../on-database.ts';
import { BackupRefused } from './backup-manifest.ts';

/** What bin/restore.ts found in the database that it restored, and what it did there. */
export interface Restored extends DatabaseContents {
  /** outgoing mail that is held; zero when it goes */
  held: OutgoingCount;
  waiting: WaitingWork;
}

/**
 * Makes a database that was just restored fit to be started: its schema is brought up to date, SECRET_KEY is tried on it, leases of those
 * who worked when the backup was made end, and outgoing mail that was due is held unless it shall go again.
 * Throws BackupRefused when this Postroom cannot run it.
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
      throw new BackupRefused('SECRET_KEY of the backup does not open what is in its database');
    await voidLeases(database);
    const held =
      order.outgoing === 'hold'
        ? await holdDueOutgoing(database, randomBytes, () => new Date())
        : { recipients: 0, emails: 0 };
    return { ...(await readContents(database)), held, waiting: await readWaitingWork(database) };
  };
  return await asOwner(order.url, 'restore', settle, 'unlimited');
}

/** Throws BackupRefused when one of the migrations is of a newer Postroom. */
export function assertKnown(migrations: readonly string[]): void {
  const known: readonly string[] = migrationNames;
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new BackupRefused(
      `A newer Postroom made the backup (its schema has ${unknown.join(', ')}): restore with that one`,
    );
}
