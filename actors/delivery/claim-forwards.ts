import { CLAIM_BATCH } from '../../db/claim.ts';
import {
  type ClaimedForwardRow,
  claimForwardsSql,
  deferForwardSql,
  postponeForwardSql,
  postponeForwardsOfUserSql,
  releaseForwardsSql,
} from '../../db/queries/endpoints/forward-claim.ts';
import type { ActorContext } from '../actor.ts';

/** Takes up to a batch of due deliveries that forward, longest due first; copies of the last hour are counted up to `mostCopies`. */
export async function claimForwards(context: ActorContext, mostCopies: number): Promise<ClaimedForwardRow[]> {
  const { rows } = await context.database.pool.query<ClaimedForwardRow>({
    name: 'forward-claim',
    text: claimForwardsSql,
    values: [context.name, CLAIM_BATCH, mostCopies],
  });
  return rows;
}

/** Gives deliveries back that were not begun. */
export async function releaseForwards(context: ActorContext, rows: readonly ClaimedForwardRow[]): Promise<void> {
  await context.database.pool.query({
    name: 'forward-release',
    text: releaseForwardsSql,
    values: [context.name, rows.map((row) => row.id), rows.map((row) => row.user_id)],
  });
}

/** Lets a delivery wait, for a reason that is told. */
export async function postponeForward(
  context: ActorContext,
  row: ClaimedForwardRow,
  waitSeconds: number,
  reason: string,
): Promise<void> {
  await context.database.pool.query({
    name: 'forward-postpone',
    text: postponeForwardSql,
    values: [context.name, row.user_id, row.id, waitSeconds, reason],
  });
}

/** Lets all that is to be forwarded for a user wait, as far as nobody else is at it. */
export async function postponeForwardsOfUser(
  context: ActorContext,
  userId: string,
  waitSeconds: number,
): Promise<void> {
  await context.database.pool.query({
    name: 'forward-postpone-user',
    text: postponeForwardsOfUserSql,
    values: [context.name, userId, waitSeconds],
  });
}

/** Lets a delivery wait that a fault of ours spoiled, and counts the fault. */
export async function deferForward(
  context: ActorContext,
  row: ClaimedForwardRow,
  waitSeconds: number,
  fault: string,
): Promise<void> {
  await context.database.pool.query({
    name: 'forward-defer',
    text: deferForwardSql,
    values: [context.name, row.user_id, row.id, waitSeconds, fault],
  });
}
