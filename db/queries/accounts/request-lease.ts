import { type Database, isConnectionLost } from '../../connection/database.ts';

/** A wish to let through some requests of a user. */
export interface LeaseWish {
  userId: string;
  /** names the lease, if there will be one */
  leaseId: string;
  wanted: number;
  /** requests of the user that may count at once */
  limit: number;
  /** how long after asking the requests may be made; milliseconds */
  leaseMs: number;
  /** how long after the last of them a lease counts; milliseconds */
  windowMs: number;
  /** what became of the asker's last lease of the user: the requests made, and the last one's milliseconds after the asking; null: none */
  former: { leaseId: string; requests: number; lastMs: number } | null;
}

export interface LeaseAnswer {
  /** requests that may be made; 0: the limit is reached */
  granted: number;
  /** what is left of the limit beside them */
  remaining: number;
  /** until some of what counts no longer does; milliseconds */
  changesInMs: number;
}

/**
 * Asks for a lease, in one statement on its own. Runs before the user is known to row-level security, as looking up a key does.
 * `makeWish` is called when there is a connection to ask on, so that waiting for one takes nothing of the lease's time.
 */
export async function leaseRequests(database: Database, makeWish: () => LeaseWish): Promise<LeaseAnswer> {
  const client = await database.pool.connect();
  let failure: Error | undefined;
  try {
    const { rows } = await client.query<LeaseAnswer>({
      name: 'lease-requests',
      text: LEASE,
      values: valuesOf(makeWish()),
    });
    const [answer] = rows;
    if (answer === undefined) throw new Error('lease_requests answered no row');
    return answer;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure !== undefined && isConnectionLost(failure) ? failure : undefined);
  }
}

const LEASE = `select granted, remaining, changes_in_ms as "changesInMs" from lease_requests($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

function valuesOf({ former, ...wish }: LeaseWish): unknown[] {
  const { userId, leaseId, wanted, limit, leaseMs, windowMs } = wish;
  const told = [former?.leaseId ?? null, former?.requests ?? null, former?.lastMs ?? null];
  return [userId, leaseId, wanted, limit, leaseMs, windowMs, ...told];
}
