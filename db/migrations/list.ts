import type { Migration } from '@mikro-orm/migrations';
import { InitialMigration } from './0001-initial.ts';
import { migrationNames } from './names.ts';

/** One step of the schema. `isTransactional() { return false }` has each of its statements run by itself, as an index made concurrently asks for. */
export interface SchemaMigration {
  name: string;
  class: new (...parts: ConstructorParameters<typeof Migration>) => Migration;
  /**
   * The migration that a process has to know of to work with the schema from here on, this one or one before it. Absent: whatever code is
   * there goes on as it did (docs/decisions/0044).
   */
  needs?: string;
}

const steps: Record<(typeof migrationNames)[number], Omit<SchemaMigration, 'name'>> = {
  '0001-initial': { class: InitialMigration },
};

/** All migrations in the order in which they run. A released one is never edited. */
export const migrations: readonly SchemaMigration[] = migrationNames.map((name) => ({ name, ...steps[name] }));
