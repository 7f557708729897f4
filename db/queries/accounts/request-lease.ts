import { sql, type Transaction } from 'kysely';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { isTransient } from '../../errors.ts';

/** A request for a lease: permission to let some requests of a workspace through. */
export interface LeaseRequest {
  workspaceId: string;
  /** id of the lease, if one is granted */
  leaseId: string;
  wanted: number;
  /** the workspace's limit of requests */
  limit: number;
  /** how long the requests may be made, from when the lease is requested; milliseconds */
  leaseMs: number;
  /** how long a lease counts after its last request; milliseconds */
  windowMs: number;
  /** use of the previous lease: the requests made, and the last one's milliseconds after its lease was requested; null: none */
  previous: { leaseId: string; requests: number; lastMs: number } | null;
}

export interface LeaseReply {
  /** requests granted; 0: the limit is reached */
  granted: number;
  /** what is left of the limit beside them */
  remaining: number;
  /** until some of the counted requests expire; milliseconds */
  changesInMs: number;
}

/**
 * Requests a lease, in a single statement. Runs before the workspace is known to row-level security, like the lookup of a key. `makeRequest` is
 * called when a connection is available, so that waiting for one does not use up the lease's time.
 */
export async function leaseRequests(database: Database, makeRequest: () => LeaseRequest): Promise<LeaseReply> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    const { rows } = await client.query<LeaseReply>({
      name: 'lease-requests',
      text: LEASE,
      values: listValues(makeRequest()),
    });
    const [lease] = rows;
    if (lease === undefined) throw new Error('lease_requests returned no row');
    return lease;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure !== undefined && isTransient(failure) ? failure : undefined);
  }
}

/** Requests a lease in a transaction; without its commit there is none. */
export async function leaseRequestsIn(transaction: Transaction<Tables>, request: LeaseRequest): Promise<LeaseReply> {
  const { rows } = await sql<LeaseReply>`
    select granted, remaining, changes_in_ms as "changesInMs" from lease_requests(${sql.join(listValues(request))})`.execute(
    transaction,
  );
  const [lease] = rows;
  if (lease === undefined) throw new Error('lease_requests returned no row');
  return lease;
}

const LEASE = `select granted, remaining, changes_in_ms as "changesInMs" from lease_requests($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

function listValues({ previous, ...request }: LeaseRequest): unknown[] {
  const { workspaceId, leaseId, wanted, limit, leaseMs, windowMs } = request;
  const told = [previous?.leaseId ?? null, previous?.requests ?? null, previous?.lastMs ?? null];
  return [workspaceId, leaseId, wanted, limit, leaseMs, windowMs, ...told];
}
