import { sql, type Transaction } from 'kysely';
import type { EmailType } from '../../../core/emails/email-status.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { GuardAction } from '../../../core/routing/guard-rule.ts';
import type { ThreadReason } from '../../../core/threads/threading.ts';
import type { Row, Tables } from '../../entities/tables.ts';

/** How an email arrived and where it went, as far as it is stored apart from its deliveries. */
export interface StoredRoute {
  type: EmailType;
  createdAt: Date;
  ownAddress: string;
  /** envelope recipient, including the plus-tag */
  recipient: string | null;
  threadId: string | null;
  threadReason: ThreadReason | null;
  /** null when the catch-all accepted it */
  addressId: string | null;
  domainId: string | null;
  parseError: string | null;
  /** where it is instead of in a thread; null: it is, or will be */
  keptApart: Row<'email'>['kept_apart'];
  /** null when it is unknown */
  reception: {
    remoteAddress: string;
    helo: string;
    isTls: boolean;
    reversePath: string;
    parsedAt: Date | null;
    isImported: boolean;
  } | null;
  /** null: it waits for its thread */
  route: Pick<
    Row<'route'>,
    'threaded_at' | 'decided_at' | 'outcome' | 'via' | 'endpoint_id' | 'rule_id' | 'reason' | 'released_at'
  > | null;
  /** of the route; see core/routing/decide-route.ts and core/routing/decide-route.ts */
  matches: unknown;
  verdicts: unknown;
}

/** Returns the routes of those of the emails that belong to the workspace, by email id. */
export async function findStoredRoutes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<Map<string, StoredRoute>> {
  const { rows } = await sql<StoredRouteRow>`
    select e.id, e.type, e.created_at, e.own_address, e.recipient, e.thread_id, e.thread_reason, e.address_id, e.domain_id, e.kept_apart,
      c.parse_error, p.remote_address, p.helo, p.is_tls, p.reverse_path, p.parsed_at, p.imported is not null as is_imported,
      r.threaded_at, r.decided_at, r.outcome, r.via, r.endpoint_id, r.rule_id, r.reason, r.matches, r.released_at, r.verdicts
    from email e
    left join email_content c on c.workspace_id = ${workspaceId} and c.email_id = e.id
    left join reception p on p.workspace_id = ${workspaceId} and p.email_id = e.id
    left join route r on r.workspace_id = ${workspaceId} and r.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.id = any (${emailIds}::text[])`.execute(transaction);
  return new Map(rows.map((row) => [row.id, storedRoute(row)]));
}

function storedRoute(row: StoredRouteRow): StoredRoute {
  const { remote_address: remoteAddress, threaded_at: threadedAt } = row;
  return {
    type: row.type,
    createdAt: row.created_at,
    ownAddress: row.own_address,
    recipient: row.recipient,
    threadId: row.thread_id,
    threadReason: row.thread_reason,
    addressId: row.address_id,
    domainId: row.domain_id,
    parseError: row.parse_error,
    keptApart: row.kept_apart,
    reception:
      remoteAddress === null
        ? null
        : {
            remoteAddress,
            helo: row.helo ?? '',
            isTls: row.is_tls === true,
            reversePath: row.reverse_path ?? '',
            parsedAt: row.parsed_at,
            isImported: row.is_imported,
          },
    route: threadedAt === null ? null : { ...row, threaded_at: threadedAt },
    matches: row.matches,
    verdicts: row.verdicts,
  };
}

type StoredRouteRow = Pick<
  Row<'route'>,
  'decided_at' | 'outcome' | 'via' | 'endpoint_id' | 'rule_id' | 'reason' | 'matches' | 'released_at' | 'verdicts'
> & {
  id: string;
  type: EmailType;
  created_at: Date;
  own_address: string;
  recipient: string | null;
  thread_id: string | null;
  thread_reason: StoredRoute['threadReason'];
  address_id: string | null;
  domain_id: string | null;
  parse_error: string | null;
  kept_apart: Row<'email'>['kept_apart'];
  remote_address: string | null;
  helo: string | null;
  is_tls: boolean | null;
  reverse_path: string | null;
  parsed_at: Date | null;
  is_imported: boolean;
  threaded_at: Date | null;
};

/** What routes refer to, if it still exists. */
export interface RouteReferences {
  addresses: Map<string, { address: string; isActive: boolean }>;
  domains: Map<string, { name: string; isCatchAllEnabled: boolean }>;
  rules: Map<string, { name: string; action: GuardAction }>;
  endpoints: Map<string, { name: string; type: EndpointType; isActive: boolean }>;
}

export interface ReferenceIds {
  addressIds: readonly string[];
  domainIds: readonly string[];
  ruleIds: readonly string[];
  endpointIds: readonly string[];
}

/** Returns those of the addresses, domains, rules and endpoints that belong to the workspace, by id. */
export async function readReferences(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: ReferenceIds,
): Promise<RouteReferences> {
  const { rows } = await sql<ReferenceRow>`
    select 'address' as kind, a.id, a.address as name, a.is_active as flag, null as word from email_address a
      where a.workspace_id = ${workspaceId} and a.id = any (${ids.addressIds}::text[])
    union all select 'domain', d.id, d.name, d.is_catch_all_enabled, null from domain d
      where d.workspace_id = ${workspaceId} and d.id = any (${ids.domainIds}::text[])
    union all select 'rule', g.id, g.name, g.is_active, g.action from guard_rule g
      where g.workspace_id = ${workspaceId} and g.id = any (${ids.ruleIds}::text[])
    union all select 'endpoint', p.id, p.name, p.is_active, p.type from endpoint p
      where p.workspace_id = ${workspaceId} and p.id = any (${ids.endpointIds}::text[])`.execute(transaction);
  const of = (kind: ReferenceRow['kind']) => rows.filter((row) => row.kind === kind);
  return {
    addresses: new Map(of('address').map(({ id, name, flag }) => [id, { address: name, isActive: flag }])),
    domains: new Map(of('domain').map(({ id, name, flag }) => [id, { name, isCatchAllEnabled: flag }])),
    rules: new Map(of('rule').map(({ id, name, word }) => [id, { name, action: word as GuardAction }])),
    endpoints: new Map(
      of('endpoint').map(({ id, name, flag, word }) => [id, { name, type: word as EndpointType, isActive: flag }]),
    ),
  };
}

interface ReferenceRow {
  kind: 'address' | 'domain' | 'rule' | 'endpoint';
  id: string;
  name: string;
  flag: boolean;
  /** a rule's action, an endpoint's type */
  word: string | null;
}
