import { sql, type Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { Quotas } from '../../../core/accounts/quotas.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';
import { LAST_REQUESTS_MS } from './erase-account.ts';

/** The workspace of a customer. */
export interface CustomerRow {
  id: string;
  name: string;
  /** the ID that the customer has with the parent */
  clientId: string;
  /** null: none */
  quotas: Quotas | null;
  createdAt: Date;
  /** null: it is not suspended */
  suspendedAt: Date | null;
  /** when its erasure begins; null: it is open */
  closedAt: Date | null;
}

export interface CustomerConditions {
  clientId: string | null;
}

export interface NewCustomer {
  id: string;
  clientId: string;
  name: string;
  quotas: Quotas | null;
}

export type CustomerOutcome = 'made' | 'known' | 'no account' | 'nested' | 'too many';

/** Creates the workspace of a customer, or finds the one that has the customer's ID; `id` is null when there is none. */
export async function createCustomer(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, clientId, name, quotas }: NewCustomer,
  most: number,
): Promise<{ outcome: CustomerOutcome; id: string | null }> {
  const { rows } = await sql<{ outcome: CustomerOutcome; id: string | null }>`
    select outcome, id from create_customer(${workspaceId}, ${id}, ${clientId}, ${name}, ${toJson(quotas)}::jsonb, ${most})`.execute(
    transaction,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a workspace can be created only for the workspace of the transaction');
  return row;
}

const columns = sql`c.id, c.name, c.client_id as "clientId", c.quotas, c.created_at as "createdAt",
  c.suspended_at as "suspendedAt", c.closed_at as "closedAt"`;

const fitting = ({ clientId }: CustomerConditions) => (clientId === null ? sql`true` : sql`c.client_id = ${clientId}`);

/** Returns the workspaces of customers between two cursors, newest first; inverted: oldest first. */
export async function pageCustomers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: CustomerConditions,
  page: KeysetPage,
): Promise<CustomerRow[]> {
  const { rows } = await sql<CustomerRow>`
    select ${columns} from customers_of(${workspaceId}) c where ${fitting(conditions)} ${keysetConditions('c', page)}
    ${keysetOrder('c', page)} limit ${page.limit}`.execute(transaction);
  return rows;
}

/** Returns a page of the workspaces of customers, newest first. */
export async function listCustomers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: CustomerConditions,
  page: Page,
): Promise<CustomerRow[]> {
  const { rows } = await sql<CustomerRow>`
    select ${columns} from customers_of(${workspaceId}) c where ${fitting(conditions)}
    order by c.created_at desc, c.id desc limit ${page.limit} offset ${page.offset}`.execute(transaction);
  return rows;
}

export async function countCustomers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: CustomerConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from customers_of(${workspaceId}) c where ${fitting(conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the workspaces that the parent keeps, unordered. */
export async function findCustomers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<CustomerRow[]> {
  const { rows } = await sql<CustomerRow>`
    select ${columns} from customers_of(${workspaceId}) c where c.id = any (${ids}::text[])`.execute(transaction);
  return rows;
}

/** Changes a workspace; false when the parent has no such one, or it was closed. */
export async function updateCustomer(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, name, quotas, isSuspended }: { id: string; name: string; quotas: Quotas | null; isSuspended: boolean },
): Promise<boolean> {
  const { rows } = await sql<{ is_changed: boolean }>`
    select update_customer(${workspaceId}, ${id}, ${name}, ${toJson(quotas)}::jsonb, ${isSuspended}) as is_changed`.execute(
    transaction,
  );
  return rows[0]?.is_changed === true;
}

/** Returns the names at which a workspace receives mail. */
export async function readCustomerNames(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<string[]> {
  const { rows } = await sql<{ names: string[] | null }>`
    select names_of_customer(${workspaceId}, ${id}) as names`.execute(transaction);
  return rows[0]?.names ?? [];
}

/** Closes a workspace as closeAccount does; null when the parent has no such one. Returns the names that receive no more mail. */
export async function closeCustomer(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<string[] | null> {
  const { rows } = await sql<{ names: string[] | null }>`
    select close_customer(${workspaceId}, ${id}, ${LAST_REQUESTS_MS} * interval '1 millisecond') as names`.execute(
    transaction,
  );
  return rows[0]?.names ?? null;
}

export interface NewCustomerKey {
  id: string;
  name: string;
  secretSha256: Buffer;
  hint: string | null;
  expiresAt: Date | null;
  scopes: readonly Scope[];
  /** the key of the parent that creates it; null: the person does */
  parentKeyId: string | null;
  /** the person of the request; null: no person */
  personId: string | null;
}

export type CustomerKeyOutcome = 'made' | 'gone' | 'more rights' | 'too long' | 'too many';

/** Creates a key of a customer's workspace. */
export async function insertCustomerKey(
  transaction: Transaction<Tables>,
  workspaceId: string,
  customerId: string,
  key: NewCustomerKey,
  most: number,
): Promise<CustomerKeyOutcome> {
  const { id, name, secretSha256, hint, expiresAt, scopes, parentKeyId, personId } = key;
  const { rows } = await sql<{ outcome: CustomerKeyOutcome | null }>`
    select create_customer_key(${workspaceId}, ${customerId}, ${id}, ${name}, ${secretSha256}, ${expiresAt}, ${most}, ${scopes}::text[],
      ${hint}, ${parentKeyId}, ${personId}) as outcome`.execute(transaction);
  return rows[0]?.outcome ?? 'gone';
}

/** What a workspace used on one day (UTC). */
export interface DayUsage {
  day: Date;
  mailIn: number;
  mailOut: number;
  requests: number;
}

/** Returns the days since then on which the workspaces used anything, oldest first, keyed by workspace. */
export async function readCustomerUsage(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
  since: Date,
): Promise<Map<string, DayUsage[]>> {
  const { rows } = await sql<{ id: string; day: Date; mail_in: number; mail_out: number; requests: number }>`
    select * from usage_of_customers(${workspaceId}, ${ids}::text[], ${since})`.execute(transaction);
  const days = Map.groupBy(rows, ({ id }) => id);
  return new Map(
    [...days].map(([id, used]) => [
      id,
      used.map((row) => ({
        day: row.day,
        mailIn: Number(row.mail_in),
        mailOut: Number(row.mail_out),
        requests: Number(row.requests),
      })),
    ]),
  );
}

/** What a workspace has. */
export interface CustomerHoldings {
  domains: number;
  addresses: number;
  /** bytes of its messages; null: it is closed */
  storedBytes: number | null;
  /** rows that are still to be erased, at most 100,000 are counted; null: it is open */
  rowsLeft: number | null;
}

/** Returns what workspaces have, keyed by workspace. */
export async function readCustomerHoldings(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, CustomerHoldings>> {
  const { rows } = await sql<{
    id: string;
    domains: number;
    addresses: number;
    stored_bytes: number | null;
    rows_left: number | null;
  }>`select * from holdings_of_customers(${workspaceId}, ${ids}::text[])`.execute(transaction);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        domains: Number(row.domains),
        addresses: Number(row.addresses),
        storedBytes: row.stored_bytes === null ? null : Number(row.stored_bytes),
        rowsLeft: row.rows_left === null ? null : Number(row.rows_left),
      },
    ]),
  );
}

/** The quotas of a workspace, and how much of each it uses. */
export interface QuotaState {
  quotas: Quotas;
  mailPerDay: number;
  domains: number;
  addresses: number;
  /** when it was measured last */
  storedBytes: number;
}

/** Returns the quotas of the transaction's workspace; null when it has none. `isLocking`: others who ask the same wait for the transaction. */
export async function readQuotaState(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { isLocking }: { isLocking: boolean },
): Promise<QuotaState | null> {
  const { rows } = await sql<{ state: QuotaState | null }>`
    select quota_state(${workspaceId}, ${isLocking}) as state`.execute(transaction);
  return rows[0]?.state ?? null;
}

/** Workspaces whose stored bytes one call measures. */
export const MEASURED_AT_ONCE = 20;

/**
 * Measures the stored bytes of workspaces that have a quota of them: of those where anything happened since a minute, and of all once an hour.
 * Returns how many it measured. Role postroom_actor.
 */
export async function measureStoredBytes(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ measured: number }>({
    name: 'measure-stored-bytes',
    text: 'select measure_stored_bytes($1) as measured',
    values: [MEASURED_AT_ONCE],
  });
  return rows[0]?.measured ?? 0;
}

const toJson = (quotas: Quotas | null) => (quotas === null ? null : JSON.stringify(quotas));
