import { CLAIM_BATCH } from '../../db/claim.ts';
import {
  type ClaimedForwardRow,
  claimForwardsSql,
  deferForwardSql,
  postponeForwardSql,
  postponeForwardsOfWorkspaceSql,
  releaseForwardsSql,
} from '../../db/queries/endpoints/forward-claim.ts';
import type { ActorContext } from '../actor.ts';

/** Claims up to a batch of due forwards, longest due first. Copies sent within the last hour are counted, up to `mostCopies`. */
export async function claimForwards(context: ActorContext, mostCopies: number): Promise<ClaimedForwardRow[]> {
  const { rows } = await context.database.pool.query<ClaimedForwardRow>({
    name: 'forward-claim',
    text: claimForwardsSql,
    values: [context.name, CLAIM_BATCH, mostCopies],
  });
  return rows;
}

/** Releases deliveries that were not started. */
export async function releaseForwards(context: ActorContext, rows: readonly ClaimedForwardRow[]): Promise<void> {
  await context.database.pool.query({
    name: 'forward-release',
    text: releaseForwardsSql,
    values: [context.name, rows.map((row) => row.id), rows.map((row) => row.workspace_id)],
  });
}

/** Postpones a delivery; the reason is shown with it. */
export async function postponeForward(
  context: ActorContext,
  row: ClaimedForwardRow,
  waitSeconds: number,
  reason: string,
): Promise<void> {
  await context.database.pool.query({
    name: 'forward-postpone',
    text: postponeForwardSql,
    values: [context.name, row.workspace_id, row.id, waitSeconds, reason],
  });
}

/** Postpones all forwards of a user that no other process holds. */
export async function postponeForwardsOfWorkspace(
  context: ActorContext,
  workspaceId: string,
  waitSeconds: number,
): Promise<void> {
  await context.database.pool.query({
    name: 'forward-postpone-user',
    text: postponeForwardsOfWorkspaceSql,
    values: [context.name, workspaceId, waitSeconds],
  });
}

/** Postpones a delivery after an internal fault, and counts the fault. */
export async function deferForward(
  context: ActorContext,
  row: ClaimedForwardRow,
  waitSeconds: number,
  fault: string,
): Promise<void> {
  await context.database.pool.query({
    name: 'forward-defer',
    text: deferForwardSql,
    values: [context.name, row.workspace_id, row.id, waitSeconds, fault],
  });
}
