import { sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';

/** What must be known before emails of one user may be sent. */
export interface PolicyQuestion {
  /** of the senders, canonical */
  domains: readonly string[];
  /** lower case */
  senders: readonly string[];
  requesters: readonly Requester[];
  /** lower case */
  recipients: readonly string[];
  idempotencyKeys: readonly IdempotencyKey[];
  /** the hourly limit and how many emails are submitted; null when there is no limit */
  hourly: { limit: number; asking: number } | null;
}

/** Who sends from an address: an API key, or else a person; both null: the service. */
export interface Requester {
  keyId: string | null;
  personId: string | null;
  /** lower case */
  address: string;
}

/** Returns the requester in Policy.barred. */
export function makeRequesterKey({ keyId, personId, address }: Requester): string {
  return `${keyId ?? ''} ${keyId === null ? (personId ?? '') : ''} ${address}`;
}

/** A key of an API key; of a person when `apiKeyId` is empty. */
export interface IdempotencyKey {
  apiKeyId: string;
  key: string;
}

/** Returns the key in Policy.responses. */
export function makeReplayKey({ apiKeyId, key }: IdempotencyKey): string {
  return `${apiKeyId} ${key}`;
}

/** A response to a request with an Idempotency-Key within the last 24 hours. */
interface StoredResult {
  operation: string;
  /** hex */
  requestSha256: string;
  response: unknown;
  at: Date;
}

export interface Policy {
  /** by PostgreSQL's clock */
  now: Date;
  /** of PostgreSQL's machine, for noteServerClock */
  clock: Date;
  /** owned by the workspace, by name */
  domains: Map<string, { id: string; isVerified: boolean }>;
  /** those of the senders that are addresses of the workspace */
  addressIds: Map<string, string>;
  /** the send policies of those of the senders, and of the keys, that have one; by address and by id */
  addressPolicies: Map<string, SendPolicy>;
  keyPolicies: Map<string, SendPolicy>;
  /** by makeRequesterKey: those who may not send from their address now */
  barred: ReadonlySet<string>;
  /** lower case: addresses that no mail is sent to, and addresses that left a list of the mail */
  suppressed: Set<string>;
  unsubscribed: { address: string; list: string }[];
  /** by makeReplayKey */
  responses: Map<string, StoredResult>;
  /**
   * Creation times of the emails of the last hour that count against a request near the hourly limit, newest first: the first one is number
   * `limit - submitted` of the hour, counted back from now, or number 0 when more are submitted than the limit allows.
   */
  hourly: Date[];
}

/** How long a response is replayed. */
const KEY_AGE = `interval '24 hours'`;

/** Reads the facts of a policy in one round trip, within the workspace's transaction. */
export async function readPolicy(
  client: pg.ClientBase,
  workspaceId: string,
  question: PolicyQuestion,
): Promise<Policy> {
  const { hourly } = question;
  const requesters = question.requesters.filter(({ keyId, personId }) => keyId !== null || personId !== null);
  const { rows } = await client.query<PolicyRow>({
    name: 'outgoing-policy',
    text: POLICY_SQL,
    values: [
      workspaceId,
      question.domains,
      question.senders,
      question.recipients,
      question.idempotencyKeys.map(({ key }) => key),
      hourly === null ? 0 : Math.max(0, hourly.limit - hourly.asking),
      hourly === null ? 0 : hourly.asking,
      requesters.map(({ keyId }) => keyId),
      question.idempotencyKeys.map(({ apiKeyId }) => apiKeyId),
      requesters.map(({ personId }) => personId),
      requesters.map(({ address }) => address),
    ],
  });
  const row = rows[0];
  if (row === undefined) throw new Error('the query of policies returned no row');
  return {
    now: row.now,
    clock: row.clock,
    domains: new Map(row.domains.map(({ id, name, isVerified }) => [name, { id, isVerified }])),
    addressIds: new Map(row.addresses.map(({ address, id }) => [address, id])),
    addressPolicies: new Map(
      row.addresses.flatMap(({ address, policy }) => (policy === null ? [] : [[address, policy]])),
    ),
    keyPolicies: new Map(
      row.senders.flatMap(({ keyId, policy }) => (keyId === null || policy === null ? [] : [[keyId, policy]])),
    ),
    barred: new Set(requesters.filter((_, at) => row.senders[at]?.maySend !== true).map(makeRequesterKey)),
    suppressed: new Set(row.suppressed.filter(({ list }) => list === '').map(({ address }) => address)),
    unsubscribed: row.suppressed.filter(({ list }) => list !== ''),
    responses: new Map(
      row.responses.map(({ apiKeyId, key, at, ...response }) => [
        makeReplayKey({ apiKeyId, key }),
        { ...response, at: new Date(at) },
      ]),
    ),
    hourly: row.hourly,
  };
}

interface PolicyRow {
  now: Date;
  clock: Date;
  domains: { id: string; name: string; isVerified: boolean }[];
  addresses: { address: string; id: string; policy: SendPolicy | null }[];
  /** in the order of the requesters */
  senders: { keyId: string | null; maySend: boolean | null; policy: SendPolicy | null }[];
  suppressed: { address: string; list: string }[];
  responses: {
    apiKeyId: string;
    key: string;
    operation: string;
    requestSha256: string;
    response: unknown;
    at: string;
  }[];
  hourly: Date[];
}

/** Returns the time by PostgreSQL's clock, as Policy.now. */
export async function readClock({ pool }: Pick<Database, 'pool'>): Promise<Date> {
  const { rows } = await pool.query<{ now: Date }>({ name: 'outgoing-clock', text: 'select postroom_now() as now' });
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL returned no time');
  return row.now;
}

const POLICY_SQL = `
  select (select postroom_now()) as now, clock_timestamp() as clock,
    (select coalesce(json_agg(json_build_object('id', d.id, 'name', d.name, 'isVerified', d.status = 'verified')), '[]')
     from domain d where d.workspace_id = $1 and d.name = any ($2::text[])) as domains,
    (select coalesce(json_agg(json_build_object('address', a.address, 'id', a.address_id, 'policy', p.send_policy)), '[]')
     from email_address_name a left join email_address p on p.workspace_id = $1 and p.id = a.address_id
     where a.workspace_id = $1 and a.address = any ($3::text[])) as addresses,
    (select coalesce(json_agg(json_build_object('address', s.address, 'list', s.list)), '[]')
     from suppression s where s.workspace_id = $1 and s.address = any ($4::text[])) as suppressed,
    (select coalesce(json_agg(json_build_object('apiKeyId', k.api_key_id, 'key', k.key, 'operation', k.operation,
       'requestSha256', encode(k.request_sha256, 'hex'), 'response', k.response, 'at', k.created_at)), '[]')
     from unnest($9::text[], $5::text[]) as q(api_key_id, key)
     join idempotency_key k on k.workspace_id = $1 and k.api_key_id = q.api_key_id and k.key = q.key
       and k.created_at > (select postroom_now()) - ${KEY_AGE}) as responses,
    array(select e.created_at from email e where e.workspace_id = $1 and e.type <> 'received'
      and e.created_at > (select postroom_now()) - interval '1 hour' order by e.created_at desc offset $6 limit $7) as hourly,
    case when cardinality($11::text[]) = 0 then '[]' else (
      select json_agg(json_build_object('keyId', q.key_id, 'maySend', s.may_send, 'policy', s.send_policy) order by q.place)
      from unnest($8::text[], $10::text[], $11::text[]) with ordinality as q(key_id, person_id, address, place)
      left join lateral sender_now($1, q.key_id, q.person_id, q.address) s on true
    ) end as senders`;

/** Counts the emails that the user created within the last hour, as the hourly limit does; up to `most`. */
export async function countSentLately(
  transaction: Transaction<Tables>,
  workspaceId: string,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (
      select from email e where e.workspace_id = ${workspaceId} and e.type <> 'received'
        and e.created_at > (select postroom_now()) - interval '1 hour' limit ${most}) e`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}
