import type { ApiInterface, StatusClass } from '../../core/accounts/logged-request.ts';
import { hasRight, RIGHTS, type Right } from '../../core/accounts/rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as requests from '../../db/queries/accounts/api-request.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';

/** A request of the account that came with an API key, without its bodies. */
export type ApiRequest = requests.ApiRequestRow;

export const { MAX_COUNTED_REQUESTS, SEARCHED_REQUESTS } = requests;

/** Filters of the list; omitted filters match all. */
export interface ApiRequestQuery {
  statusClass?: StatusClass | undefined;
  /** case-insensitive */
  method?: string | undefined;
  interface?: ApiInterface | undefined;
  keyId?: string | undefined;
  search?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Returns a page of requests, newest first; inverted: oldest first. */
export async function pageApiRequests(
  context: OperationContext,
  query: ApiRequestQuery,
  page: KeysetPage,
): Promise<ApiRequest[]> {
  const { database, workspaceId } = context;
  const conditions = toConditions(context, query);
  await context.storeLoggedRequests();
  return asWorkspace(database, workspaceId, (transaction) =>
    requests.pageApiRequests(transaction, workspaceId, conditions, page),
  );
}

/** Returns how many requests match, up to MAX_COUNTED_REQUESTS. */
export function countApiRequests(context: OperationContext, query: ApiRequestQuery): Promise<number> {
  const { database, workspaceId } = context;
  const conditions = toConditions(context, query);
  return asWorkspace(database, workspaceId, (transaction) =>
    requests.countApiRequests(transaction, workspaceId, conditions),
  );
}

/** Returns a page, newest first, with the total up to MAX_COUNTED_REQUESTS. */
export async function listApiRequests(
  context: OperationContext,
  query: ApiRequestQuery,
  page: Page,
): Promise<{ rows: ApiRequest[]; total: number }> {
  const { database, workspaceId } = context;
  const conditions = toConditions(context, query);
  await context.storeLoggedRequests();
  return asWorkspace(database, workspaceId, async (transaction) => ({
    rows: await requests.listApiRequests(transaction, workspaceId, conditions, page),
    total: await requests.countApiRequests(transaction, workspaceId, conditions),
  }));
}

/** Throws not_found. */
export async function readApiRequest(context: OperationContext, id: string): Promise<ApiRequest> {
  await context.storeLoggedRequests();
  const [request] = await loadApiRequests(context, [id]);
  if (request == null) throw new UserError('not_found', 'Request not found');
  return request;
}

/** Returns one request per id, null where the user has none. */
export async function loadApiRequests(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(ApiRequest | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    requests.findApiRequests(transaction, workspaceId, ids.map(storedId).filter(isValidId)),
  );
  const byId = new Map(found.map((request) => [request.id, request]));
  return ids.map((id) => byId.get(storedId(id)) ?? null);
}

const NO_BODIES = { requestBody: null, responseBody: null };

/** Returns the bodies of each of the requests, which lists load only to show them. Throws unavailable when there is no room for them. */
export async function loadRequestBodies(
  { database, workspaceId, rights, room }: OperationContext,
  rows: readonly Pick<ApiRequest, 'id' | 'bodyBytes'>[],
): Promise<requests.ApiRequestBodies[]> {
  const kept = rows.filter(({ bodyBytes }) => bodyBytes > 0);
  if (kept.length === 0) return rows.map(() => NO_BODIES);
  const found = await room.load(
    kept.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0),
    () =>
      asWorkspace(database, workspaceId, (transaction) =>
        requests.findRequestBodies(
          transaction,
          workspaceId,
          kept.map(({ id }) => id),
          listRights(rights),
        ),
      ),
  );
  const byId = new Map(found.map((bodies) => [bodies.id, bodies]));
  return rows.map(({ id }) => byId.get(id) ?? NO_BODIES);
}

/** Accepts what X-Request-Id says, too. */
function storedId(id: string): string {
  return id.startsWith('req_') ? id : `req_${id}`;
}

function listRights(rights: OperationContext['rights']): Right[] {
  return (Object.keys(RIGHTS) as Right[]).filter((right) => hasRight(rights, right));
}

function toConditions({ rights }: OperationContext, query: ApiRequestQuery): requests.ApiRequestConditions {
  const sought = query.search?.trim() ?? '';
  if (sought.length > MAX_SEARCH_LENGTH)
    throw invalid(`Search text must not be longer than ${MAX_SEARCH_LENGTH} characters`, 'search');
  return {
    rights: listRights(rights),
    statusClass: query.statusClass ?? null,
    method: query.method?.toUpperCase() ?? null,
    interface: query.interface ?? null,
    keyId: query.keyId ?? null,
    search: sought === '' ? null : sought,
    since: query.since ?? null,
    until: query.until ?? null,
  };
}
