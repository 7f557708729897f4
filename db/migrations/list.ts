import { InitialMigration } from './0001-initial.ts';
import { migrationNames } from './names.ts';

const classes: Record<(typeof migrationNames)[number], typeof InitialMigration> = { '0001-initial': InitialMigration };

/** All migrations in the order in which they run. A released one is never edited. */
export const migrations = migrationNames.map((name) => ({ name, class: classes[name] }));
