import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { Selectable } from 'kysely';
import type { entities } from './list.ts';

/** Row types for Kysely. timestamptz is Date, bigint is number, bytea is Buffer. */
export type Tables = InferKyselyDB<(typeof entities)[number]>;

/** A row of the table as selected. */
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
