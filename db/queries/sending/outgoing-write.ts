import type pg from 'pg';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import type { ApprovalRule } from '../../../core/sending/approval.ts';
import type { DraftVersion } from '../../../core/sending/draft.ts';
import { freeBytes } from '../../../core/shared/free-bytes.ts';
import type { Database } from '../../connection/database.ts';
import { SEND_RIGHTS_LOCK } from '../../connection/transaction.ts';
import { type WorkspaceWriteLimits, writeAsWorkspace } from '../../connection/workspace-write.ts';
import { packMessage } from '../../packed-message.ts';
import { placeBodies } from '../emails/bodies-in-message.ts';
import type { EmailColumns } from '../emails/email-columns.ts';
import { type NewThread, newThreadJson, newThreadProbes } from '../threads/new-thread.ts';
import { THREADS_LOCK } from '../threads/thread-claim.ts';
import type { FeedEvent } from '../threads/thread-events.ts';
import { storeStatement, writeStatement } from './outgoing-sql.ts';

/** The rows of one email to send, except for its bytes and bodies. Instants are ISO 8601. */
interface OutgoingRow extends EmailColumns {
  id: string;
  raw_id: string;
  event_id: string;
  /** the sender's, lower case, and its domain */
  own_address: string;
  own_domain: string;
  date: string;
  /** null: it is sent at once */
  scheduled_at: string | null;
  timezone: string | null;
  headers: [string, string][];
  addresses: AddressFields;
  attachments: Attachment[];
  tags: { name: string; value: string }[];
  /** an object that replies to it carry; null: none */
  metadata: unknown;
  search_text: string;
  /** see core/search/email-parties.ts */
  parties: string[];
  /** of the composed bytes, hex */
  sha256: string;
  recipients: { id: string; address: string; domain: string; list: string | null }[];
  /** where a send policy applies: the API key that sends it, and the address whose policy applies */
  api_key_id?: string | null;
  policy_address?: string | null;
  /** of mail that goes later: the API key, or the person, that it is sent for while these may send */
  scheduled_by_key_id?: string | null;
  scheduled_by_person_id?: string | null;
  /** why it waits for approval, and for how many days at most; absent: it does not wait */
  approval?: { rule: ApprovalRule; policy_of: 'key' | 'address'; days: number } | undefined;
}

/** An email with what is passed as bytes. */
export interface OutgoingContent {
  row: OutgoingRow;
  /** composed, not signed */
  bytes: Buffer;
  text: string | null;
  html: string | null;
}

/** Emails that are stored together or not at all, with what the policy query found about them. */
export interface OutgoingUnit {
  emails: readonly (OutgoingContent & {
    domainId: string;
    addressId: string | null;
    /** the thread that it starts; omitted: it is threaded later */
    thread?: NewThread | undefined;
    /** whether its recipients are claimed for the process that stores it */
    claims?: boolean;
  })[];
  batchId: string | null;
  /** stored with each email, so that later steps join the trace; null: not traced */
  traceParent: string | null;
  /** the response to store under the key; null without a key */
  response: { apiKeyId: string; key: string; operation: string; requestSha256: string; response: unknown } | null;
}

/** What a write found. */
export interface Written extends ClaimedFor {
  /** indexes of the units whose key was taken meanwhile: they were not stored */
  leftOut: Set<number>;
  /** whether an email with a new thread belongs to another thread: the caller must roll back */
  isJoining: boolean;
}

/** What a claim of the stored recipients would have found. */
interface ClaimedFor {
  /** the domains of senders that have verified records for return addresses */
  mailFromDomains: ReadonlySet<string>;
  /** the domains of claimed recipients that belong to this service */
  hostedDomains: ReadonlySet<string>;
}

interface WrittenRow extends Partial<ClaimedForRow> {
  left_out: number[];
  is_joining: boolean;
}

interface ClaimedForRow {
  mail_from: string[];
  hosted: string[];
}

/**
 * Stores units of one workspace within its transaction, in one statement, with the threads that their emails start: then the transaction shares
 * THREADS_LOCK since an earlier statement, and SEND_RIGHTS_LOCK since before the one that read what decides about them. Recipients of emails with `claims` are claimed for the claimant, and their attempts begin. Also
 * returns the last number of the workspace's event feed (null when nothing was written).
 */
export async function writeOutgoing(
  client: pg.ClientBase,
  workspaceId: string,
  units: readonly OutgoingUnit[],
  claimant: string | null = null,
): Promise<Written & { lastSeq: number | null }> {
  const { rows } = await client.query<WrittenRow & { last_seq: number | null }>(
    await writeQuery(workspaceId, units, { claimant, events: 'append' }),
  );
  return { ...written(rows[0]), lastSeq: rows[0]?.last_seq ?? null };
}

/** Like writeOutgoing, but returns the events of what was written: the caller has more to do before it appends them, last of all. */
export async function writeOutgoingWithoutEvents(
  client: pg.ClientBase,
  workspaceId: string,
  units: readonly OutgoingUnit[],
  claimant: string | null = null,
): Promise<Written & { events: FeedEvent[] }> {
  const { rows } = await client.query<WrittenRow & { events: FeedEvent[] }>(
    await writeQuery(workspaceId, units, { claimant, events: 'return' }),
  );
  return { ...written(rows[0]), events: rows[0]?.events ?? [] };
}

async function writeQuery(
  workspaceId: string,
  units: readonly OutgoingUnit[],
  { claimant, events }: { claimant: string | null; events: 'append' | 'return' },
) {
  const isClaiming = units.some(hasClaims);
  const isWaiting = units.some(({ emails }) => emails.some(({ row }) => row.approval !== undefined));
  return {
    ...writeStatement({ isTraced: units.some(isTraced), isWaiting, isClaiming, events }),
    values: [workspaceId, ...(await readParameters(workspaceId, units)), ...(isClaiming ? [claimant] : [])],
  };
}

function written(row: WrittenRow | undefined): Written {
  return { leftOut: new Set(row?.left_out ?? []), isJoining: row?.is_joining ?? false, ...claimedFor(row ?? {}) };
}

function claimedFor({ mail_from: mailFrom = [], hosted = [] }: Partial<ClaimedForRow>): ClaimedFor {
  return { mailFromDomains: new Set(mailFrom), hostedDomains: new Set(hosted) };
}

/** A unit of which only the fields are checked. */
export interface UncheckedUnit extends Omit<OutgoingUnit, 'emails'> {
  /** sent at once, or scheduled */
  emails: readonly UncheckedEmail[];
  /** the draft that it is sent from, at the version that it must have; null: none */
  draft: DraftVersion | null;
}

export interface UncheckedEmail extends OutgoingContent {
  /** the API key that sends it, which must have that right and no send policy; null: the person does, who must have the right */
  keyId: string | null;
  personId: string | null;
  /** of its senders, canonical: all must be verified */
  domains: readonly string[];
  /** lower case: no send policy may hold for them */
  policySenders: readonly string[];
  /** lower case: none may be suppressed */
  addressees: readonly string[];
  /** whether its recipients are claimed for the process that stores it */
  claims: boolean;
  /** the thread that it starts; omitted: it is scheduled, and threaded when it is released */
  thread?: NewThread | undefined;
}

/** What storeUnchecked stored. */
export interface StoredUnchecked extends ClaimedFor {
  /** indexes of the units that it did not store */
  leftOut: ReadonlySet<number>;
  /** of the workspace's event feed; null when nothing was stored */
  lastSeq: number | null;
  storedAt: Date;
  /** of PostgreSQL's machine, for noteServerClock */
  clock: Date;
}

/**
 * Stores units of one workspace in one statement, which is its own transaction, claims recipients for the claimant, and removes the drafts that the
 * units are sent from. Everything that decides about them is checked in the statement. A unit that it cannot decide about, because a send
 * policy, a suppression or an earlier request with its key is there, its sender may not send any more, a domain is not verified, or its draft has
 * changed, is left out. All are left out when the statement reaches PostgreSQL after `beginBy`: the
 * requests may have failed by then. It shares THREADS_LOCK, and leaves all out when one of the emails belongs to a thread that is there; and
 * SEND_RIGHTS_LOCK. Throws OpeningFailed when a lock is not free, and a unique violation when such a thread is being stored.
 */
export async function storeUnchecked(
  database: Database,
  workspaceId: string,
  units: readonly UncheckedUnit[],
  {
    claimant,
    beginBy,
    ...limits
  }: Pick<WorkspaceWriteLimits, 'lockTimeoutMs' | 'timeoutMs'> & { claimant: string | null; beginBy: Date },
): Promise<StoredUnchecked> {
  const isClaiming = units.some(hasClaims);
  const isOfDraft = units.some(({ draft }) => draft !== null);
  const parameters = await readParameters(workspaceId, units);
  const rows = await writeAsWorkspace<UncheckedRow>(
    database,
    workspaceId,
    { ...limits, sharedLocks: [THREADS_LOCK, SEND_RIGHTS_LOCK] },
    {
      ...storeStatement({ isTraced: units.some(isTraced), isClaiming, isOfDraft }),
      values: [workspaceId, ...parameters, beginBy, ...(isClaiming ? [claimant] : [])],
    },
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a statement that stores emails returned no row');
  return {
    leftOut: new Set(row.left_out),
    lastSeq: row.last_seq,
    storedAt: row.stored_at,
    clock: row.clock,
    ...claimedFor(row),
  };
}

interface UncheckedRow extends ClaimedForRow {
  left_out: number[];
  last_seq: number | null;
  stored_at: Date;
  clock: Date;
}

function hasClaims({ emails }: { emails: readonly { claims?: boolean }[] }): boolean {
  return emails.some(({ claims }) => claims === true);
}

function isTraced({ traceParent }: Pick<OutgoingUnit, 'traceParent'>): boolean {
  return traceParent !== null;
}

/** Bytes and bodies are passed in one piece, each found by start and length: as JSON they would cost more than storing them. */
async function readParameters(
  workspaceId: string,
  units: readonly (OutgoingUnit | UncheckedUnit)[],
): Promise<[emails: string, pieces: Buffer, responses: string, batches: string, probes: string]> {
  const given = units.flatMap(({ emails }): OutgoingContent[] => [...emails]);
  const contents = new Map(await Promise.all(given.map(async (email) => [email, await packContent(email)] as const)));
  const pieces: Buffer[] = [];
  const bodies: Buffer[] = [];
  const keepBody = (body: string | null | undefined) => {
    if (body == null) return null;
    const bytes = Buffer.from(body, 'utf8');
    bodies.push(bytes);
    return bytes;
  };
  let end = 0;
  const place = (piece: Buffer | null): [number, number] | [null, null] => {
    if (piece === null) return [null, null];
    pieces.push(piece);
    end += piece.length;
    return [end - piece.length, piece.length];
  };
  const emails = units.flatMap(({ emails, batchId, traceParent, ...more }, unit) =>
    emails.map((email: OutgoingUnit['emails'][number] | UncheckedEmail, at) => {
      const { row, bytes, thread, claims = false, text: _text, html: _html, ...found } = email;
      const content = contents.get(email);
      return {
        ...row,
        size: bytes.length,
        body_places: content?.places ?? null,
        ...('domainId' in found ? checkedColumns(found) : uncheckedColumns(found)),
        ...(claims ? { claims, recipients: withReturnIds(row.recipients) } : {}),
        ...('draft' in more && more.draft !== null
          ? { draft_id: more.draft.id, draft_version: more.draft.version }
          : {}),
        unit,
        approval_rule: row.approval?.rule ?? null,
        batch_id: batchId,
        batch_index: batchId === null ? null : at,
        trace_parent: traceParent,
        thread: thread === undefined ? null : newThreadJson(thread),
        places: [content?.packed ?? null, keepBody(content?.text), keepBody(content?.html)].flatMap(place),
      };
    }),
  );
  const results = units.flatMap(({ response }, unit) => (response === null ? [] : [{ ...response, unit }]));
  const batches = units.flatMap(({ batchId, emails }, unit) =>
    batchId === null ? [] : [{ unit, id: batchId, total: emails.length }],
  );
  const [first, second] = pieces;
  const bytes = first !== undefined && second === undefined ? first : Buffer.concat(pieces);
  if (bytes !== first) for (const piece of bodies) freeBytes(piece);
  const threads = units.flatMap(({ emails }) => emails.flatMap(({ thread }) => thread ?? []));
  return [JSON.stringify(emails), bytes, JSON.stringify(results), JSON.stringify(batches), newThreadProbes(threads)];
}

/** Returns the message as it is stored, and the bodies that are stored beside it. The message of mail that goes later may still change. */
async function packContent({ row, bytes, text, html }: OutgoingContent) {
  const packed = await packMessage(bytes);
  if (row.scheduled_at !== null || row.approval !== undefined) return { packed, text, html, places: null };
  const bodies = { text_body: text, html_body: html, cleaned_text: null, cleaned_html: null };
  const { bodies: beside, places } = placeBodies({ message: bytes, packed }, bodies);
  return { packed, text: beside.text_body, html: beside.html_body, places };
}

function checkedColumns({ domainId, addressId }: Pick<OutgoingUnit['emails'][number], 'domainId' | 'addressId'>) {
  return { given_domain_id: domainId, given_address_id: addressId };
}

function uncheckedColumns({
  domains,
  policySenders,
  addressees,
  keyId,
  personId,
}: Pick<UncheckedEmail, 'domains' | 'policySenders' | 'addressees' | 'keyId' | 'personId'>) {
  return { domains, policy_senders: policySenders, addressees, key_id: keyId, person_id: personId };
}

/** Recipients in one domain share the return address of the one with the smallest id, as where they are claimed later. */
function withReturnIds(recipients: OutgoingRow['recipients']) {
  const ids = new Map<string, string>();
  for (const { id, domain } of recipients) {
    const smallest = ids.get(domain);
    if (smallest === undefined || id < smallest) ids.set(domain, id);
  }
  return recipients.map((recipient) => ({ ...recipient, return_id: ids.get(recipient.domain) }));
}
