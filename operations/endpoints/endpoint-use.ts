import type { KeysetPage } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/database.ts';
import * as use from '../../db/queries/endpoints/endpoint-use.ts';
import type { OperationContext } from '../context.ts';

export type { UsingAddress } from '../../db/queries/endpoints/endpoint-use.ts';

/** The addresses that lead to each endpoint behind and before two places, newest first; inverted: oldest first. */
export async function pageUsingAddresses(
  { database, userId }: OperationContext,
  endpointIds: readonly string[],
  page: KeysetPage,
): Promise<use.UsingAddress[][]> {
  const found = await asUser(database, userId, (transaction) =>
    use.pageUsingAddresses(transaction, userId, endpointIds, page),
  );
  const byEndpoint = Map.groupBy(found, ({ endpointId }) => endpointId);
  return endpointIds.map((id) => byEndpoint.get(id) ?? []);
}

/** How many addresses lead to each endpoint. */
export async function countUsingAddresses(
  { database, userId }: OperationContext,
  endpointIds: readonly string[],
): Promise<number[]> {
  const counts = await asUser(database, userId, (transaction) =>
    use.countUsingAddresses(transaction, userId, endpointIds),
  );
  const byEndpoint = new Map(counts.map(({ endpointId, count }) => [endpointId, count]));
  return endpointIds.map((id) => byEndpoint.get(id) ?? 0);
}

/** The ids of the domains whose catch-all leads to each endpoint, by the names of the domains. */
export async function findCatchAllDomains(
  { database, userId }: OperationContext,
  endpointIds: readonly string[],
): Promise<string[][]> {
  const found = await asUser(database, userId, (transaction) =>
    use.findCatchAllDomains(transaction, userId, endpointIds),
  );
  const byEndpoint = Map.groupBy(found, ({ endpointId }) => endpointId);
  return endpointIds.map((id) => (byEndpoint.get(id) ?? []).map((domain) => domain.id));
}
