import { InitialMigration } from './0001-initial.ts';

/** All migrations in the order in which they run. A released one is never edited. */
export const migrations = [{ name: '0001-initial', class: InitialMigration }];
