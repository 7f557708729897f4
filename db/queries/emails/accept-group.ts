import type pg from 'pg';
import type { Screening } from '../../../core/screening/spam-check.ts';
import { storableText } from '../../../core/shared/text.ts';
import { storeBytesSql } from '../../byte-store.ts';
import { LEASE_SECONDS } from '../../claim.ts';
import type { Database } from '../../connection/database.ts';
import { packMessage } from '../../packed-message.ts';
import { type Imported, type Reception, SCREENING_CLAIMANT } from './reception-claim.ts';

/** The envelope of an SMTP transaction or test. */
interface OfferedEnvelope {
  reversePath: string;
  remoteAddress: string;
  helo: string;
  isTls: boolean;
  traceFields: string;
  isTest?: boolean | undefined;
  imported?: Imported | undefined;
  recipients: readonly (Pick<Reception, 'workspaceId' | 'recipient' | 'ownAddress' | 'addressId' | 'domainId'> & {
    replyAddressId?: string | undefined;
    /** what the scanners said; omitted: nothing */
    screening?: Screening | null | undefined;
  })[];
  /** a scanner was away: it is checked later, and with `hold` not processed before; omitted: it is not */
  later?: 'check' | 'hold' | undefined;
}

/** One SMTP transaction, test or import that waits for its commit, with the identifiers of its rows if it is new. */
export interface Offer {
  envelope: OfferedEnvelope;
  bytes: Buffer;
  /** of the bytes, hex */
  sha256: string;
  rawId: string;
  /** one per recipient, in their order */
  emailIds: string[];
  /** stored with its emails, so that later spans join the trace; null when the transaction is not traced */
  traceParent: string | null;
  /** how long its client may repeat it (core/smtp/repeated-mail.ts) */
  repeatSeconds: number;
}

export interface AcceptOutcome {
  /** one per recipient: the new one, or the first one when the same bytes were taken before */
  emailIds: string[];
  /** the recipients that got new rows */
  accepted: Reception[];
}

/** Milliseconds, less than what is left of the question's 30 s. */
export const COMMIT_TIMEOUT_MS = 10_000;

/**
 * Writes a group of messages in one statement, which is one transaction and one round trip. smtp_offer decides which recipients are new
 * (for tests and imports, their email ids do). A new recipient gets a reception, and the bytes of each message are stored once. With a claimant, the
 * receptions are claimed by it from the start. Returns outcomes in the order of the offers. When it throws, the group was either not
 * written, or written and the response was lost: offering the same again is harmless either way. `client`: the pool, or a transaction.
 */
export async function acceptGroup(
  client: Pick<pg.ClientBase, 'query'>,
  offers: readonly Offer[],
  claimant: string | null,
): Promise<AcceptOutcome[]> {
  const packed = await packOffers(offers);
  const { rows } = await client.query<{ email_id: string; accepted_at: Date }>({
    ...acceptStatement(offers),
    values: [
      JSON.stringify(messageRows(offers, packed)),
      JSON.stringify(recipientRows(offers)),
      inOnePiece(packed),
      claimant,
    ],
    query_timeout: COMMIT_TIMEOUT_MS,
  });
  const written = new Map(rows.map((row) => [row.email_id, row.accepted_at]));
  const outcomes = offers.map((offer) => makeAcceptOutcome(offer, written));
  await fillFirstIds(client, offers, outcomes);
  return outcomes;
}

/** `claimed`: the claimant of the receptions and the end of the lease. */
const acceptSql = (more: string, claimed: string) => `
  with message as materialized (
    select * from json_to_recordset($1) as m (raw_id text, sha256 text, size integer, start integer, length integer, reverse_path text,
      remote_address text, helo text, is_tls boolean, trace_fields text, is_test boolean, is_once boolean, imported jsonb, trace_parent text,
      repeat_seconds integer)
  ), recipient as materialized (
    select * from json_to_recordset($2) as r (raw_id text, email_id text, workspace_id text, recipient text, own_address text,
      address_id text, domain_id text, reply_address_id text, screening jsonb, later text)
  ), offered as (
    insert into smtp_offer as o (workspace_id, recipient, reverse_path, sha256, remote_address, email_id, accepted_at, expires_at)
    select distinct on (1, 2, 3, 4, 5) r.workspace_id, r.recipient, m.reverse_path, decode(m.sha256, 'hex'), m.remote_address, r.email_id,
      (select postroom_now()), (select postroom_now()) + m.repeat_seconds * interval '1 second'
    from recipient r join message m using (raw_id) where not m.is_once
    order by 1, 2, 3, 4, 5, 6
    on conflict (workspace_id, recipient, reverse_path, sha256, remote_address) do update
      set email_id = excluded.email_id, accepted_at = excluded.accepted_at, expires_at = excluded.expires_at where offer_has_ended(o)
    returning email_id
  ), taken as materialized (
    select r.* from recipient r where r.email_id in (select email_id from offered)
    union all
    select r.* from recipient r join message m using (raw_id)
    where m.is_once and not exists (select from reception o where o.workspace_id = r.workspace_id and o.email_id = r.email_id)
  ), stored as (
    ${storeBytesSql('(select * from message where raw_id in (select raw_id from taken))', '$3')}
  )${more}
  insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, address_id, domain_id,
    reply_address_id, remote_address, helo, is_tls, trace_fields, is_test, imported, screening, accepted_at, claimed_by, claimed_until, tries)
  select t.workspace_id, t.email_id, t.raw_id, m.reverse_path, t.recipient, t.own_address, t.address_id, t.domain_id,
    t.reply_address_id, m.remote_address, m.helo, m.is_tls, m.trace_fields, m.is_test, m.imported, t.screening, (select postroom_now()), ${claimed},
    case when $4::text is not null then 1 else 0 end
  from taken t join message m using (raw_id)
  returning email_id, accepted_at`;

const CLAIMED = `$4::text,
    case when $4::text is not null then (select postroom_now()) + interval '${LEASE_SECONDS} seconds' end`;
/** Mail that is held has no lease that ends: the screening gives it back. */
const CLAIMED_OR_HELD = `case when t.later = 'hold' then '${SCREENING_CLAIMANT}' else $4::text end,
    case when t.later = 'hold' then 'infinity' when $4::text is not null then (select postroom_now()) + interval '${LEASE_SECONDS} seconds' end`;
const TRACED = `, traced as (
    insert into email_trace (workspace_id, email_id, trace_parent, created_at)
    select t.workspace_id, t.email_id, m.trace_parent, (select postroom_now()) from taken t join message m using (raw_id)
    where m.trace_parent is not null
    on conflict do nothing
  )`;
const LATER = `, later as (
    insert into screening_job (workspace_id, email_id, kind, next_attempt_at, created_at)
    select t.workspace_id, t.email_id, t.later, (select postroom_now()), (select postroom_now()) from taken t where t.later is not null
  )`;
const ACCEPT = { name: 'accept-group', text: acceptSql('', CLAIMED) };
const ACCEPT_TRACED = { name: 'accept-group-traced', text: acceptSql(TRACED, CLAIMED) };
const ACCEPT_LATER = { name: 'accept-group-later', text: acceptSql(`${TRACED}${LATER}`, CLAIMED_OR_HELD) };

function acceptStatement(offers: readonly Offer[]) {
  if (offers.some(({ envelope }) => envelope.later !== undefined)) return ACCEPT_LATER;
  return offers.some(({ traceParent }) => traceParent !== null) ? ACCEPT_TRACED : ACCEPT;
}

/** Returns the bytes that are stored of each message. */
export function packOffers(offers: readonly Offer[]): Promise<Buffer[]> {
  return Promise.all(offers.map(({ bytes }) => packMessage(bytes)));
}

/** Returns the messages as acceptGroup and take_mail read them; `packed` in their order. */
export function messageRows(offers: readonly Offer[], packed: readonly Buffer[]): unknown[] {
  let start = 0;
  return offers.map(({ envelope, bytes, sha256, rawId, traceParent, repeatSeconds }, at) => {
    const length = packed[at]?.length ?? 0;
    const row = {
      raw_id: rawId,
      sha256,
      size: bytes.length,
      start,
      length,
      reverse_path: storableText(envelope.reversePath),
      remote_address: storableText(envelope.remoteAddress),
      helo: storableText(envelope.helo),
      is_tls: envelope.isTls,
      trace_fields: storableText(envelope.traceFields),
      is_test: envelope.isTest === true,
      is_once: isOnce(envelope),
      imported: envelope.imported,
      trace_parent: traceParent,
      repeat_seconds: repeatSeconds,
    };
    start += length;
    return row;
  });
}

/** Returns the recipients as acceptGroup and take_mail read them, in their order. */
export function recipientRows(offers: readonly Offer[]) {
  return offers.flatMap(({ envelope, rawId, emailIds }) =>
    envelope.recipients.map((recipient, at) => ({
      raw_id: rawId,
      email_id: emailIds[at],
      workspace_id: recipient.workspaceId,
      recipient: storableText(recipient.recipient),
      own_address: recipient.ownAddress,
      address_id: recipient.addressId,
      domain_id: recipient.domainId,
      reply_address_id: recipient.replyAddressId,
      ...(recipient.screening == null ? {} : { screening: recipient.screening }),
      ...(envelope.later === undefined ? {} : { later: envelope.later }),
    })),
  );
}

/** Whether the email id decides if an offer is new, instead of the bytes. */
export function isOnce({ isTest, imported }: OfferedEnvelope): boolean {
  return isTest === true || imported !== undefined;
}

/** Returns the bytes of all messages in one piece. */
export function inOnePiece(packed: readonly Buffer[]): Buffer {
  const [first, second] = packed;
  return first !== undefined && second === undefined ? first : Buffer.concat(packed);
}

/** Returns the outcome of an offer, from the times at which its new recipients were accepted, by their email ids. */
export function makeAcceptOutcome(offer: Offer, written: Map<string, Date>): AcceptOutcome {
  const { envelope, rawId } = offer;
  const accepted: Reception[] = [];
  const emailIds = envelope.recipients.map((recipient, at) => {
    const emailId = offer.emailIds[at] ?? '';
    const acceptedAt = written.get(emailId);
    if (acceptedAt === undefined) return '';
    accepted.push({
      workspaceId: recipient.workspaceId,
      emailId,
      rawId,
      reversePath: storableText(envelope.reversePath),
      recipient: storableText(recipient.recipient),
      ownAddress: recipient.ownAddress,
      addressId: recipient.addressId,
      domainId: recipient.domainId,
      replyAddressId: recipient.replyAddressId ?? null,
      imported: envelope.imported ?? null,
      screening: recipient.screening ?? null,
      remoteAddress: storableText(envelope.remoteAddress),
      helo: storableText(envelope.helo),
      isTls: envelope.isTls,
      traceFields: storableText(envelope.traceFields),
      acceptedAt,
      tries: 1,
    });
    return emailId;
  });
  return { emailIds, accepted };
}

/**
 * Fills in the first email id where no row was written, and counts the repetition there. A separate query, since the insert's snapshot may be older than the commit of a
 * concurrent duplicate; repeated offers are rare.
 */
export async function fillFirstIds(
  client: Pick<pg.ClientBase, 'query'>,
  offers: readonly Offer[],
  outcomes: readonly AcceptOutcome[],
): Promise<void> {
  const missing: { emailIds: string[]; at: number; key: unknown }[] = [];
  outcomes.forEach(({ emailIds }, index) => {
    const offer = offers[index];
    emailIds.forEach((emailId, at) => {
      const recipient = offer?.envelope.recipients[at];
      if (emailId !== '' || offer === undefined || recipient === undefined) return;
      if (isOnce(offer.envelope)) {
        emailIds[at] = offer.emailIds[at] ?? '';
        return;
      }
      const key = {
        workspace_id: recipient.workspaceId,
        recipient: storableText(recipient.recipient),
        reverse_path: storableText(offer.envelope.reversePath),
        sha256: offer.sha256,
        remote_address: storableText(offer.envelope.remoteAddress),
        own_ids: offer.emailIds,
      };
      missing.push({ emailIds, at, key });
    });
  });
  if (missing.length === 0) return;
  const { rows } = await client.query<{ email_id: string | null }>({
    name: 'accept-first-ids',
    text: FIRST_IDS_SQL,
    values: [JSON.stringify(missing.map((entry) => entry.key))],
    query_timeout: COMMIT_TIMEOUT_MS,
  });
  missing.forEach(({ emailIds, at }, index) => {
    const first = rows[index]?.email_id;
    if (first === null || first === undefined) throw new Error('an offer was refused as known and is not known');
    emailIds[at] = first;
  });
}

// An offer that was written by a group whose response was lost, or that names a recipient twice, finds its own id: that is no repetition.
// The row is found by its key again, not by the ctid that was locked: after a wait for another repetition, that is one of a version which the
// snapshot does not show, and the repetition would not be counted.
const FIRST_IDS_SQL = `
  with found as materialized (
    select e.n, e.value->>'workspace_id' as workspace_id, e.value->'own_ids' as own_ids, (
      select o.email_id from smtp_offer o where o.workspace_id = e.value->>'workspace_id' and o.recipient = e.value->>'recipient'
        and o.reverse_path = e.value->>'reverse_path' and o.sha256 = decode(e.value->>'sha256', 'hex')
        and o.remote_address = e.value->>'remote_address') as email_id
    from jsonb_array_elements($1::jsonb) with ordinality as e (value, n)
  ), repeated as materialized (
    select f.workspace_id, f.email_id, count(*) from found f where not f.own_ids ? f.email_id group by 1, 2
  ), locked as materialized (
    select r.workspace_id, r.email_id, p.count from repeated p join reception r on r.workspace_id = p.workspace_id and r.email_id = p.email_id
    order by p.workspace_id, p.email_id for no key update of r
  ), noted as (
    update reception r set repeat_count = r.repeat_count + l.count, repeated_at = (select postroom_now())
    from locked l where r.workspace_id = l.workspace_id and r.email_id = l.email_id
  )
  select f.email_id from found f order by f.n`;

/** Offers that `removeOldOffers` removes in one batch. */
export const REMOVE_OFFERS_BATCH = 2_000;

/** Removes a batch of offers that are no longer repeated; returns how many. */
export async function removeOldOffers(database: Database): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'remove-old-offers',
    text: `
      delete from smtp_offer where ctid = any (array(
        select ctid from smtp_offer where expires_at <= (select postroom_now())
        order by expires_at limit ${REMOVE_OFFERS_BATCH} for update skip locked))`,
  });
  return rowCount ?? 0;
}
