import type { InferKyselyDB } from '@mikro-orm/postgresql';
import type { Selectable } from 'kysely';
import type { entities } from './list.ts';

/** Rows as PostgreSQL holds them, for Kysely. Instants are Date, bigint is number, bytea is Buffer. */
export type Tables = InferKyselyDB<(typeof entities)[number]>;

/** A row of the table as it is read. */
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
