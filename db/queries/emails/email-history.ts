import { sql, type Transaction } from 'kysely';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import type { ActionLog } from '../../../core/endpoints/actions.ts';
import type { DeliveryCause } from '../../../core/endpoints/delivery.ts';
import type { EventKind } from '../../../core/events/event-kinds.ts';
import type { Screening } from '../../../core/screening/spam-check.ts';
import type { RefusalReason } from '../../../core/sending/refusal-advice.ts';
import type { RecipientStatus } from '../../../core/smtp/delivery-status.ts';
import type { ThreadReason } from '../../../core/threads/threading.ts';
import type { Row, Tables } from '../../entities/tables.ts';

/** Maximum rows of a kind that are read per email, newest first; one more shows that there were more. */
export const MAX_HISTORY = 500;

/** The history of an email, from its own rows. */
export interface EmailOrigin {
  id: string;
  type: EmailType;
  status: EmailStatus;
  createdAt: Date;
  releasedAt: Date | null;
  isScheduled: boolean;
  /** it waited for approval */
  hasApproval: boolean;
  threadId: string | null;
  threadReason: ThreadReason | 'manual' | null;
  ownAddress: string;
  recipient: string | null;
  parseError: string | null;
  /** see core/mime/authentication.ts */
  authentication: unknown;
  /** what the scanners said; null: not checked */
  screening: Screening | null;
  /** null: it is unknown, or the email was not received */
  reception: {
    remoteAddress: string;
    helo: string;
    isTls: boolean;
    reversePath: string;
    acceptedAt: Date;
    parsedAt: Date | null;
    isTest: boolean;
    isImported: boolean;
    /** how often its client offered it again */
    repeatCount: number;
    /** when it last did */
    repeatedAt: Date | null;
  } | null;
  route:
    | (Pick<Row<'route'>, 'decided_at' | 'outcome' | 'via' | 'endpoint_id' | 'rule_id' | 'reason' | 'released_at'> & {
        threaded_at: Date;
        ruleName: string | null;
        endpointName: string | null;
      })
    | null;
  matches: unknown;
  /** see core/routing/decide-route.ts */
  verdicts: unknown;
}

/** Returns those of the emails that belong to the workspace, unordered. */
export async function readOrigins(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<EmailOrigin[]> {
  const { rows } = await sql<EmailOrigin>`
    select e.id, e.type, e.status, e.created_at as "createdAt", e.released_at as "releasedAt",
      e.timezone is not null as "isScheduled",
      exists (select from approval a where a.workspace_id = ${workspaceId} and a.email_id = e.id) as "hasApproval", e.thread_id as "threadId", e.thread_reason as "threadReason",
      e.own_address as "ownAddress", e.recipient, c.parse_error as "parseError", c.authentication, c.screening, r.matches, r.verdicts,
      p.remote_address, p.helo, p.is_tls, p.reverse_path, p.accepted_at, p.parsed_at, p.is_test, p.imported is not null as is_imported, p.repeat_count,
      p.repeated_at,
      r.threaded_at, r.decided_at, r.outcome, r.via, r.endpoint_id, r.rule_id, r.reason, r.released_at as let_through_at,
      g.name as rule_name, n.name as endpoint_name
    from email e
    left join email_content c on c.workspace_id = ${workspaceId} and c.email_id = e.id
    left join reception p on p.workspace_id = ${workspaceId} and p.email_id = e.id
    left join route r on r.workspace_id = ${workspaceId} and r.email_id = e.id
    left join guard_rule g on g.workspace_id = ${workspaceId} and g.id = r.rule_id
    left join endpoint n on n.workspace_id = ${workspaceId} and n.id = r.endpoint_id
    where e.workspace_id = ${workspaceId} and e.id = any (${emailIds}::text[])`.execute(transaction);
  return (rows as unknown as OriginRow[]).map(toOrigin);
}

type OriginRow = Omit<EmailOrigin, 'reception' | 'route'> &
  Pick<Row<'route'>, 'decided_at' | 'outcome' | 'via' | 'endpoint_id' | 'rule_id' | 'reason'> & {
    remote_address: string | null;
    helo: string;
    is_tls: boolean;
    reverse_path: string;
    accepted_at: Date;
    parsed_at: Date | null;
    is_test: boolean;
    is_imported: boolean;
    repeat_count: number;
    repeated_at: Date | null;
    threaded_at: Date | null;
    let_through_at: Date | null;
    rule_name: string | null;
    endpoint_name: string | null;
  };

function toOrigin(row: OriginRow): EmailOrigin {
  const { remote_address: remoteAddress, threaded_at: threadedAt } = row;
  return {
    ...row,
    reception:
      remoteAddress === null
        ? null
        : {
            remoteAddress,
            helo: row.helo,
            isTls: row.is_tls,
            reversePath: row.reverse_path,
            acceptedAt: row.accepted_at,
            parsedAt: row.parsed_at,
            isTest: row.is_test,
            isImported: row.is_imported,
            repeatCount: row.repeat_count,
            repeatedAt: row.repeated_at,
          },
    route:
      threadedAt === null
        ? null
        : {
            ...row,
            threaded_at: threadedAt,
            released_at: row.let_through_at,
            ruleName: row.rule_name,
            endpointName: row.endpoint_name,
          },
  };
}

/** What a user did with an email, as in the index event_by_hand. */
export interface HandEvent {
  emailId: string;
  kind: string;
  at: Date;
  data: unknown;
}

export async function readHandEvents(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<HandEvent[]> {
  const { rows } = await sql<HandEvent>`
    select w.id as "emailId", v.kind, v.at, v.data from unnest(${emailIds}::text[]) as w(id)
    cross join lateral (
      select v.kind, v.at, v.data, v.seq from event v
      where v.workspace_id = ${workspaceId} and v.email_id = w.id and v.kind in ('email.read', 'email.unread', 'email.archived',
        'email.unarchived', 'email.rescheduled', 'email.paused', 'email.resumed', 'email.cancelled', 'email.approval_requested',
        'email.approved', 'email.rejected', 'email.reprocessed', 'email.spam', 'email.not_spam')
      order by v.seq desc limit ${MAX_HISTORY + 1}) v
    order by v.seq`.execute(transaction);
  return rows;
}

/** A delivery of an email. */
export interface PastDelivery {
  emailId: string;
  id: string;
  cause: DeliveryCause;
  isWebhook: boolean;
  /** the event that is delivered; null: the email itself */
  eventKind: EventKind | null;
  status: 'pending' | 'success' | 'failed';
  createdAt: Date;
  completedAt: Date | null;
  /** when it ended, if it ended without an attempt */
  error: string | null;
  /** what became of the actions in the webhook's response; null: it had none */
  actions: ActionLog | null;
  endpointName: string | null;
}

export async function readPastDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<PastDelivery[]> {
  const { rows } = await sql<PastDelivery>`
    select w.id as "emailId", d.id, d.cause, d.delivery_type = 'webhook' as "isWebhook", d.event_kind as "eventKind", d.status,
      d.created_at as "createdAt",      d.completed_at as "completedAt", d.response_data->>'error' as error, d.actions, n.name as "endpointName"
    from unnest(${emailIds}::text[]) as w(id)
    cross join lateral (
      select * from delivery d where d.workspace_id = ${workspaceId} and d.email_id = w.id
      order by d.created_at desc, d.id desc limit ${MAX_HISTORY + 1}) d
    left join endpoint n on n.workspace_id = ${workspaceId} and n.id = d.endpoint_id
    order by d.created_at, d.id`.execute(transaction);
  return rows;
}

/** A recipient of an email, or of a forwarded copy. */
export interface PastRecipient {
  emailId: string;
  id: string;
  deliveryId: string | null;
  address: string;
  status: RecipientStatus;
  lastCode: number | null;
  lastStatus: string | null;
  lastText: string | null;
  refusalReason: RefusalReason | null;
  settledAt: Date | null;
  complainedAt: Date | null;
}

export async function readPastRecipients(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<PastRecipient[]> {
  const { rows } = await sql<PastRecipient>`
    select w.id as "emailId", r.id, r.delivery_id as "deliveryId", r.address, r.status, r.last_code as "lastCode",
      r.last_status as "lastStatus", r.last_text as "lastText", r.refusal_reason as "refusalReason", r.settled_at as "settledAt", r.complained_at as "complainedAt"
    from unnest(${emailIds}::text[]) as w(id)
    cross join lateral (
      select * from recipient r where r.workspace_id = ${workspaceId} and r.email_id = w.id
      order by r.id desc limit ${MAX_HISTORY + 1}) r`.execute(transaction);
  return rows;
}
