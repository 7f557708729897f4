import type { Logger } from 'pino';
import type { Origin } from '../core/accounts/audit.ts';
import type { KeyRights } from '../core/accounts/key-rights.ts';
import type { SystemMail } from '../core/accounts/system-account.ts';
import type { MtaStsMode } from '../core/domains/mta-sts.ts';
import type { WebhookFormat } from '../core/endpoints/endpoint-config.ts';
import type { PayloadQuery, PayloadQueryError, SelectedPayload } from '../core/endpoints/payload-query.ts';
import type { PostedKind } from '../core/events/event-kinds.ts';
import type { DmarcRules } from '../core/screening/door/dmarc-enforcement.ts';
import { UserError } from '../core/shared/errors.ts';
import type { AddressGuard } from '../core/shared/network-address.ts';
import type { Retention } from '../core/upkeep/retention.ts';
import type { Database } from '../db/connection/database.ts';
import type { EntityStore } from '../db/entities/store.ts';
import type { FeedEvent } from '../db/queries/events/event-list.ts';
import type { Bus } from '../schema/messages.ts';
import type { Caller } from './caller.ts';
import type { EventHub } from './events/event-hub.ts';
import type { ResponseRoom } from './response-room.ts';
import type { LocalSending } from './sending/local-sender.ts';
import type { PresenceHub } from './threads/presence-hub.ts';
import type { ReadStateHub } from './threads/read-state-hub.ts';

export { newIdentifier } from '../core/shared/identifiers.ts';

/** The dependencies that every operation shares. */
export interface OperationParts {
  /** role postroom_gateway */
  database: Database;
  entities: EntityStore;
  bus: Bus;
  /** the open event readers of this process */
  events: EventHub;
  /** who has which thread open, in this process */
  presence: PresenceHub;
  /** tells sessions what their person marks as read */
  readStates: ReadStateHub;
  log: Logger;
  now: () => Date;
  /** returns `bytes` bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
  settings: OperationSettings;
  /** checks and runs the payload queries of endpoints */
  payloadQueries: PayloadQueries;
  /** Builds the bodies that post the events of deliveries. Operations get it from the gateway, which shows the subjects of events. */
  buildEventPayloads: (context: OperationContext, deliveryIds: readonly string[]) => Promise<EventPayload[]>;
  /** Builds the body of a test that posts an event of that kind to an endpoint of the user: the newest one, or an example. */
  buildSamplePayload: (
    context: OperationContext,
    sample: { endpointId: string; kind: PostedKind; webhookFormat: WebhookFormat | null },
  ) => Promise<EventPayload>;
  /** Builds the requests that events cause. Operations get it from the gateway, which shows the subjects of events. */
  pullRequests: (context: OperationContext, pull: Pull) => Promise<PullPage>;
  /** the sending actor of this process; omitted: it runs in other processes */
  localSending?: LocalSending;
  /** Checks the bytes of an outgoing email for viruses; `away` when the scanner does not respond and mail is not sent unchecked. Omitted: outgoing mail is not checked. */
  scanOutgoing?: (bytes: Uint8Array) => Promise<OutgoingScan>;
  /** ends the process at these points, for tests */
  fault?: (
    point:
      | SendingFaultPoint
      | SpamFaultPoint
      | TrashFaultPoint
      | UndoFaultPoint
      | ErasureFaultPoint
      | CustomerFaultPoint
      | MemberFaultPoint,
  ) => void;
  /** Drops the cached credentials of a user from this gateway, so that a revoked key stops working at once. */
  forgetCredentials: (ownerId: string) => void;
  /** Sends mail of the service, such as an invitation. Resolves once it is stored. */
  sendServiceMail: (mail: SystemMail) => Promise<void>;
  /** Stores the requests that this gateway logged and has not stored yet, so that a read of the log shows them. */
  storeLoggedRequests: () => Promise<void>;
  /** Stores what this gateway gathered for the audit log, so that a read of the log shows it. */
  storeAuditNotes: () => Promise<void>;
  /** Notes for the audit log that the contents of these emails were read, if AUDIT_READS is on. Absent in actors and programs. */
  noteReads?: (subject: { workspaceId: string; origin?: Origin | undefined }, emailIds: readonly string[]) => void;
  /** Notes for the audit log an error that refuses a request for lack of rights; ignores all others. `what` names the field or tool. */
  noteRefusal: (subject: { workspaceId: string; origin?: Origin | undefined }, what: string, error: unknown) => void;
}

/** What the scanner says about an outgoing email. */
export type OutgoingScan = { verdict: 'clean' | 'away' } | { verdict: 'found'; name: string };

/**
 * The statement that stores emails is about to be sent, or is committed, before the response. The transaction that stores emails and removes their drafts, that stores emails which wait for approval, or that decides about one, is about
 * to commit, or has committed.
 */
type SendingFaultPoint =
  | 'submission.before-statement'
  | 'submission.stored'
  | 'drafts.before-commit'
  | 'drafts.after-commit'
  | 'approvals.stored-before-commit'
  | 'approvals.stored-after-commit'
  | 'approvals.decided-before-commit'
  | 'approvals.decided-after-commit';

/** An email is about to leave the folder Spam, or has left it. */
type SpamFaultPoint = 'spam.before-commit' | 'spam.after-commit';

/** Threads are about to move to the trash or back, or have moved. */
type UndoFaultPoint = 'undo.taken' | 'undo.before-commit';
type TrashFaultPoint = 'trash.before-commit' | 'trash.after-commit';

/** A change of members, invitations or notes is about to commit, or has committed; the mail with the link is stored after it. */
type MemberFaultPoint =
  | 'members.before-commit'
  | 'members.after-commit'
  | 'notes.before-commit'
  | 'notes.after-commit'
  | 'notes.sent'
  | 'invitations.before-commit'
  | 'invitations.after-commit';

/** An account is about to be closed, or is closed. */
type ErasureFaultPoint = 'erasure.before-commit' | 'erasure.after-commit';

/** A customer's workspace, or a key of it, is about to be created, changed or closed, or has been; the other processes are told after it. */
type CustomerFaultPoint = 'customers.before-commit' | 'customers.after-commit';

export interface OperationSettings {
  /** without a trailing slash */
  publicUrl: string;
  /** base of links in List-Unsubscribe; null: PUBLIC_URL is not set, or not https */
  unsubscribeUrl: string | null;
  mailHostname: string;
  /** the mode of the MTA-STS policies that are served for hosted domains */
  mtaStsMode: MtaStsMode;
  /** verified without a DNS record; lower case */
  trustedDomains: readonly string[];
  /** see core/shared/secret-box.ts */
  secretKey: Uint8Array;
  /** per user; 0: no limit */
  requestsPerSecond: number;
  /** messages per user and hour; 0: no limit */
  sendLimitPerHour: number;
  /** days that mail waits for approval at most */
  approvalDays: number;
  /** the default for accounts that have not set their own */
  retention: Retention;
  /** whether guard rules of type ai_prompt are available */
  hasGuardModel: boolean;
  /** whether a spam filter is configured, which learns from what users mark */
  hasSpamFilter: boolean;
  /** which mail that fails DMARC is held or refused */
  dmarc: DmarcRules;
  /** the SMTP listener, shown to users who want to send a test mail */
  smtp: { host: string; port: number };
  /** of this service */
  version: string;
  /** whether anyone can create an account */
  isSignUpOpen: boolean;
  /** decides which addresses webhook URLs may connect to */
  guard: AddressGuard;
}

/** The dependencies plus the authenticated user: the first argument of every operation. */
export interface OperationContext extends OperationParts {
  workspaceId: string;
  /** the scopes of the request, which the gateway has already checked */
  rights: KeyRights;
  /** on performance.now(); after this instant the client gets a 503, whatever is still running */
  respondBy: number;
  caller: Caller;
  /** who makes the request, for the audit log; absent: the process itself */
  origin?: Origin;
  /** memory for what is loaded for the response */
  room: ResponseRoom;
}

/** The body that posts an event. */
export type EventPayload =
  | { verdict: 'built'; kind: string; body: Buffer }
  /** it can never be posted, because something of it is gone; the reason is for the user */
  | { verdict: 'gone'; reason: string };

/** The request that posts an event to a webhook, for a program that pulls it. */
export interface PulledRequest {
  event: FeedEvent;
  /** of the event */
  cursor: string;
  /** names and values, in sending order; signed now */
  headers: [name: string, value: string][];
  body: Buffer;
}

export interface PullPage {
  /** oldest first */
  requests: PulledRequest[];
  nextCursor: string;
  hasMore: boolean;
}

export interface Pull {
  start: 'beginning' | 'now' | { cursor: string };
  /** the endpoint whose requests are pulled; null: those of an endpoint with default settings that gets all mail */
  endpointId: string | null;
  /** as in `events` of an endpoint, limited further to what the endpoint subscribes to; null: what the endpoint subscribes to */
  patterns: readonly string[] | null;
  limit: number;
  waitMs: number;
}

/** What a payload query runs for: an event, or a received email, whose event is found. */
export type PayloadSubject = FeedEvent | { seq?: undefined; emailId: string; receivedAt: Date };

/** Checks and runs payload queries. Operations get it from the gateway, because it needs the GraphQL schema. */
export interface PayloadQueries {
  /** Returns what is wrong with a query; empty when it fits the schema and its limits. */
  check(query: PayloadQuery): Promise<readonly PayloadQueryError[]>;
  /**
   * Runs a query for one subject of the context's user, who reads only what the filter covers. Links to parts of emails in the result are signed.
   * Returns null when the query does not fit the schema. Throws unavailable when it takes too long,
   * and what PostgreSQL throws.
   */
  select(
    context: OperationContext,
    query: PayloadQuery,
    subject: PayloadSubject,
    links: PayloadLinks,
  ): Promise<SelectedPayload | null>;
  /** Runs a query for several subjects at once, with few statements, as select does for each. */
  selectAll(
    context: OperationContext,
    query: PayloadQuery,
    subjects: readonly { subject: PayloadSubject; links: PayloadLinks }[],
  ): Promise<(SelectedPayload | null)[]>;
}

/** The signed links in a payload. */
export interface PayloadLinks {
  /** they are valid for a week from then */
  from: Date;
  /** and while this may read: see DownloadTarget */
  holder: string;
}

/** The part of the context that operations on a user's mail need which actors call, too. */
export interface MailContext
  extends Pick<OperationContext, 'database' | 'bus' | 'log' | 'now' | 'random' | 'workspaceId' | 'scanOutgoing'> {
  settings: Pick<OperationSettings, 'sendLimitPerHour' | 'approvalDays' | 'secretKey' | 'unsubscribeUrl'>;
}

/**
 * Returns whether a text has the form of an id. Any other text is treated as not found, without asking the database.
 */
export function isValidId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}

/** Returns a validation error that names the invalid field. */
export function invalid(message: string, field: string): UserError {
  return new UserError('validation', message, { details: [{ field, message }] });
}

/** Returns the error for an unknown email, or one of another user. */
export function emailNotFound(): UserError {
  return new UserError('not_found', 'Email not found');
}

/** Returns the error for a change of mail in the trash. `what` begins its sentence. */
export function inTrash(what: string): UserError {
  return new UserError('conflict', `${what} is in the trash. Restore it first.`, { isFinal: true });
}
