import type pg from 'pg';
import type { AddressFields } from '../../../core/mime/address.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import type { RemovedPart } from '../../../core/mime/reply-text.ts';
import { type RouteDecision } from '../../../core/routing/decide-route.ts';
import type { Injection } from '../../../core/screening/screened-mail.ts';
import type { Screening } from '../../../core/screening/spam-check.ts';
import type { SubjectAnchor } from '../../../core/threads/threading.ts';
import { LEASE_SECONDS } from '../../claim.ts';
import { UNINDEXED_COLUMNS } from '../search/unindexed-email.ts';
import type { FeedEvent } from '../threads/thread-events.ts';
import {
  type AcceptOutcome,
  COMMIT_TIMEOUT_MS,
  fillFirstIds,
  inOnePiece,
  makeAcceptOutcome,
  messageRows,
  type Offer,
  packOffers,
  recipientRows,
} from './accept-group.ts';
import { type BodyPlaces, placeBodies } from './bodies-in-message.ts';
import type { EmailColumns } from './email-columns.ts';
import { countEmailsSql } from './email-counter.ts';

/** What a parsed message adds to its reception; the envelope comes from the reception's row. */
export interface EmailRows extends EmailColumns {
  workspace_id: string;
  email_id: string;
  event_id: string;
  /** ISO 8601 */
  date: string | null;
  headers: [string, string][];
  addresses: AddressFields;
  text_body: string | null;
  html_body: string | null;
  cleaned_text: string | null;
  cleaned_html: string | null;
  removed_parts: RemovedPart[];
  attachments: Attachment[];
  authentication: unknown;
  /** see core/screening/screened-mail.ts; null: it could not be parsed */
  injection: Injection | null;
  /** what the scanners said; omitted: nothing */
  screening?: Screening;
  priority: string | null;
  is_truncated: boolean;
  parse_error: string | null;
  parser_version: number;
  search_text: string;
  /** see core/search/email-parties.ts */
  parties: string[];
  /** whether a reply address received it, or it is imported; omitted: no */
  is_unusual?: true;
}

/** The emails of one workspace that were stored. */
export interface StoredEmails {
  workspaceId: string;
  emailIds: string[];
  /** to append when the emails have their threads, last in the transaction */
  events: FeedEvent[];
}

/**
 * Creates emails from receptions that this claimant holds, in one statement of a transaction that then gives each its thread: nothing shows
 * an email without one. A reception that was parsed already or is claimed by another process is skipped, so running it twice is harmless.
 * Returns the users whose mail was written, in the order of their ids.
 */
export async function storeReceived(
  client: pg.ClientBase,
  claimant: string,
  rows: readonly EmailRows[],
): Promise<StoredEmails[]> {
  const { fields, bodies } = withBodiesApart(rows);
  const result = await client.query<{ workspace_id: string; email_ids: string[]; events: FeedEvent[] }>({
    ...(rows.some((row) => row.is_unusual) ? STORE_UNUSUAL : STORE),
    values: [JSON.stringify(fields), bodies, claimant],
  });
  return result.rows.map((row) => ({ workspaceId: row.workspace_id, emailIds: row.email_ids, events: row.events }));
}

/**
 * Bodies are passed as one piece of bytes, each found by start and length: as JSON they would cost PostgreSQL more than storing them. A sanitized
 * body that the body begins with is a part of the same bytes.
 */
export function withBodiesApart(rows: readonly EmailRows[]): { fields: object[]; bodies: Buffer } {
  const pieces: Buffer[] = [];
  let end = 0;
  const place = (body: string | null): BodyRange => {
    if (body === null) return [null, null];
    const piece = Buffer.from(body, 'utf8');
    pieces.push(piece);
    end += piece.length;
    return [end - piece.length, piece.length];
  };
  const placeBoth = (body: string | null, cleaned: string | null): [BodyRange, BodyRange] => {
    const whole = place(body);
    const isPart = body !== null && cleaned !== null && body.startsWith(cleaned) && cleaned.isWellFormed();
    if (!isPart) return [whole, place(cleaned)];
    return [whole, [whole[0] ?? 0, Buffer.byteLength(cleaned)]];
  };
  const fields: object[] = rows.map(({ text_body, html_body, cleaned_text, cleaned_html, ...row }) => ({
    ...row,
    places: inColumnOrder(placeBoth(text_body, cleaned_text), placeBoth(html_body, cleaned_html)),
  }));
  const [only] = pieces;
  return { fields, bodies: pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces) };
}

/** Start and length of a body in bytes; null: there is none. */
type BodyRange = [number, number] | [null, null];

function inColumnOrder(
  [text, cleanedText]: [BodyRange, BodyRange],
  [html, cleanedHtml]: [BodyRange, BodyRange],
): (number | null)[] {
  return [text, html, cleanedText, cleanedHtml].flat();
}

/** The body with that number (0 text, 1 HTML, 2 sanitized text, 3 sanitized HTML); null when it has no position. */
const bodySql = (n: number) =>
  `convert_from(substring($2::bytea from places[${2 * n + 1}] + 1 for places[${2 * n + 2}]), 'UTF8')`;

// A finished reception has no claimant, so the fence is enough. Receptions are looked up one by one and locked by ctid: left to itself, the
// planner scans the table once per batch, as long as its statistics say that it is small. The final select waits for the counts of what
// was written before. Users and counters are locked in key order.
/** Why imported mail is delivered nowhere. */
const IMPORTED = 'It was imported.';

interface StoreParts {
  /** of the reception `r`: the time of the email, and what else the other parts use */
  times: string;
  /** more columns of `email`, and their values */
  columns: string;
  values: string;
  isRead: string;
  /** more expressions of the statement */
  more: string;
}

const storeSql = ({ times, columns, values, isRead, more }: StoreParts) => `
  with given as materialized (
    select * from json_to_recordset($1) as g (workspace_id text, email_id text, event_id text, message_id text, subject text,
      base_subject text, from_name text, from_address text, from_text text, to_addresses text[], cc_addresses text[], preview text,
      date timestamptz, attachment_count integer, headers jsonb, addresses jsonb, in_reply_to text[], reference_ids text[],
      places integer[], removed_parts jsonb, attachments jsonb, authentication jsonb, injection jsonb, screening jsonb, priority text, is_truncated boolean, parse_error text,
      parser_version smallint, search_text text, parties text[])
  ), finished as materialized (
    update reception r set parsed_at = (select postroom_now()), claimed_by = null, claimed_until = null, last_error = g.parse_error
    from given g
    where r.workspace_id = g.workspace_id and r.email_id = g.email_id and r.claimed_by = $3 and r.ctid = any (array(
      select (select o.ctid from reception o where o.workspace_id = w.workspace_id and o.email_id = w.email_id) from given w))
    returning r.raw_id, r.recipient, r.own_address, substring(r.own_address from '[^@]*$') as own_domain, r.address_id, r.domain_id,
      ${times}, r.is_test, g.*
  ), email_row as (
    insert into email (workspace_id, id, type, status, created_at, raw_id, own_address, own_domain, address_id, domain_id, recipient,
      message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses, preview, date,
      has_attachments, attachment_count, is_test${columns})
    select workspace_id, email_id, 'received', 'delivered', accepted_at, raw_id, own_address, own_domain, address_id, domain_id, recipient,
      message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses, preview, date,
      attachment_count > 0, attachment_count, is_test${values}
    from finished
    returning 1
  ), content_row as (
    insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, cleaned_text,
      cleaned_html, removed_parts, attachments, authentication, injection, screening, priority, is_truncated, parse_error, parser_version)
    select workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, ${[0, 1, 2, 3].map(bodySql).join(', ')},
      removed_parts, attachments, authentication, injection, screening, priority, is_truncated, parse_error, parser_version
    from finished
    returning 1
  ), search_row as (
    insert into email_search (workspace_id, email_id, created_at, text, parties)
    select workspace_id, email_id, accepted_at, search_text, parties from finished
    returning 1
  ), unindexed_row as (
    insert into unindexed_email ${UNINDEXED_COLUMNS} select workspace_id, email_id, 'new', accepted_at from finished
    returning 1
  ), counter_row as (
    ${countEmailsSql(`(
      select workspace_id, accepted_at as created_at, own_address, own_domain, 'received' as type, 'delivered' as status,
        ${isRead} as is_read, false as is_archived, 1 as delta
      from finished) as new_email`)}
    returning 1
  )${more}, written as materialized (
    select (select count(*) from email_row) + (select count(*) from content_row) + (select count(*) from search_row)
      + (select count(*) from unindexed_row) + (select count(*) from counter_row) as rows
  )
  select of_workspace.workspace_id, of_workspace.email_ids, of_workspace.events
  from written cross join (
    select workspace_id, array_agg(email_id order by accepted_at, email_id) as email_ids,
      jsonb_agg(jsonb_build_object('id', event_id, 'kind', 'email.received', 'emailId', email_id) order by accepted_at, email_id) as events
    from finished group by workspace_id order by workspace_id) of_workspace
  where written.rows > 0`;

/** Of the sent email that a row of `finished` replies to. */
const METADATA_OF_ANSWERED = 'metadata_of_answered(workspace_id, own_domain, in_reply_to, reference_ids)';

const STORE = {
  name: 'store-received',
  text: storeSql({
    times: 'r.accepted_at',
    columns: ', metadata',
    values: `, ${METADATA_OF_ANSWERED}`,
    isRead: 'false',
    more: '',
  }),
};

/**
 * Also stores the metadata of reply addresses, and the dates and flags of imported mail, which is routed only on request. Other mail does
 * not pay for it.
 */
const STORE_UNUSUAL = {
  name: 'store-received-unusual',
  text: storeSql({
    times: `coalesce((r.imported->>'date')::timestamptz(3), r.accepted_at) as accepted_at, r.reply_address_id,
      coalesce((r.imported->>'isRead')::boolean, false) as is_read, coalesce((r.imported->>'isRouted')::boolean, true) as is_routed`,
    columns: ', is_read, read_at, reply_address_id, metadata',
    values: `, is_read, case when is_read then (select postroom_now()) end, reply_address_id,
      coalesce((select a.metadata from reply_address a where a.workspace_id = finished.workspace_id and a.id = finished.reply_address_id),
        ${METADATA_OF_ANSWERED})`,
    isRead: 'is_read',
    // Before threading, which leaves a route that exists as it is.
    more: `, route_row as (
    insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, reason)
    select workspace_id, email_id, accepted_at, (select postroom_now()), (select postroom_now()), 'stored', '${IMPORTED}'
    from finished where not is_routed
  )`,
  }),
};

/** The email that a recipient of an offer becomes at once. */
export interface WholeMail {
  row: EmailRows;
  /** of email.received and email.threaded */
  eventIds: [string, string];
  thread: {
    /** of a new thread, if it starts one */
    id: string;
    keys: string[];
    firmKeys: string[];
    replyKey: string | null;
    anchor: (Omit<SubjectAnchor, 'date'> & { date: Date | null }) | null;
    participants: { emails: string[]; names: string[]; searchText: string };
  };
  /** null: the router decides */
  route: PlannedRoute | null;
}

/** A route that was decided from cached facts. It is stored if the facts still have this version. */
export interface PlannedRoute {
  /** see route_version in db/migrations/0001-initial/taking.sql */
  version: string;
  outcome: RouteDecision['outcome'];
  via: RouteDecision['via'];
  endpointId: string | null;
  reason: string | null;
  /** a webhook delivery; null: none is created */
  delivery: { id: string; attemptsAllowed: number; admission: Admission } | null;
}

/**
 * What becomes of a new webhook delivery: left to be claimed later, claimed by this process, or claimed and started at once, with the
 * content of its email.
 */
export type Admission = 'left' | 'claimed' | 'started';

/** An offer with one entry per recipient; null: it is only accepted. */
export interface TakenOffer {
  offer: Offer;
  mails: (WholeMail | null)[];
}

/** The email of a recipient that was taken whole. */
export interface TakenMail {
  emailId: string;
  acceptedAt: Date;
  threadId: string;
  position: number;
  /** whether its planned route was stored; otherwise the router decides */
  isRouted: boolean;
  /** of the workspace's event feed */
  lastSeq: number;
  /** of the sent email that it replies to; null: none */
  metadata: unknown;
}

/** What became of an offer. */
export interface TakeOutcome extends AcceptOutcome {
  /** those of the new recipients that are emails already; the others (`accepted`) are still to be parsed or stored */
  taken: TakenMail[];
}

export interface TakeOptions {
  /** claims the deliveries, and with `claimsReceptions` what is only accepted */
  claimant: string;
  claimsReceptions: boolean;
}

/** How long a group waits for the threads of one of its users. Milliseconds. */
const THREADS_WAIT_MS = 50;

/**
 * Takes a group of messages in one statement, one round trip and one commit. A recipient with a `WholeMail` becomes an email in its final
 * state: with its bytes, content, thread, route, delivery and events. It is only accepted, like one without, where its thread cannot be
 * decided simply (see the function), or the threads of its workspace are locked. Returns outcomes in the order of the offers. When it throws,
 * the group was not written, or written and the response was lost: offering the same again is harmless either way.
 */
export async function takeMail(
  client: Pick<pg.ClientBase, 'query'>,
  offers: readonly TakenOffer[],
  { claimant, claimsReceptions }: TakeOptions,
): Promise<TakeOutcome[]> {
  const plain = offers.map(({ offer }) => offer);
  const packed = await packOffers(plain);
  const { mails, bodies } = mailRows(offers, packed);
  const { rows } = await client.query<TakenRow>({
    name: 'take-mail',
    text: 'select * from take_mail($1, $2, $3, $4, $5, $6, $7, $8, $9)',
    values: [
      JSON.stringify(messageRows(plain, packed)),
      JSON.stringify(mails),
      inOnePiece(packed),
      bodies,
      [...new Set(mails.flatMap((mail) => ('event_ids' in mail ? [mail.workspace_id] : [])))],
      claimant,
      claimsReceptions,
      LEASE_SECONDS,
      THREADS_WAIT_MS,
    ],
    query_timeout: COMMIT_TIMEOUT_MS,
  });
  const written = new Map(rows.map((row) => [row.o_email_id, row.o_accepted_at]));
  const taken = new Map(
    rows.flatMap((row) => (row.o_thread_id === null ? [] : [[row.o_email_id, toTaken(row, row.o_thread_id)]])),
  );
  const outcomes = plain.map((offer): TakeOutcome => {
    const { emailIds, accepted } = makeAcceptOutcome(offer, written);
    return {
      emailIds,
      accepted: accepted.filter(({ emailId }) => !taken.has(emailId)),
      taken: accepted.flatMap(({ emailId }) => taken.get(emailId) ?? []),
    };
  });
  await fillFirstIds(client, plain, outcomes);
  return outcomes;
}

interface TakenRow {
  o_email_id: string;
  o_accepted_at: Date;
  /** null: only accepted */
  o_thread_id: string | null;
  o_position: number | null;
  o_is_routed: boolean;
  o_last_seq: number | null;
  o_metadata: unknown;
}

function toTaken(row: TakenRow, threadId: string): TakenMail {
  return {
    emailId: row.o_email_id,
    acceptedAt: row.o_accepted_at,
    threadId,
    position: row.o_position ?? 0,
    isRouted: row.o_is_routed,
    lastSeq: row.o_last_seq ?? 0,
    metadata: row.o_metadata,
  };
}

/** Returns the recipients as take_mail reads them, and the bodies of all in one piece. */
function mailRows(offers: readonly TakenOffer[], packed: readonly Buffer[]) {
  const whole = offers.flatMap(({ mails }) => mails.flatMap((mail) => mail ?? []));
  const rows = offers.flatMap(({ offer, mails }, at) =>
    mails.flatMap((mail) => (mail === null ? [] : [rowWithPlaces(mail.row, offer.bytes, packed[at])])),
  );
  const { fields, bodies } = withBodiesApart(rows);
  const fieldsOf = new Map(whole.map((mail, at) => [mail, fields[at]]));
  const mails = offers.flatMap(({ offer, mails }) =>
    recipientRows([offer]).map((recipient, at) => {
      const mail = mails[at] ?? null;
      return mail === null
        ? { ...recipient, is_whole: false }
        : { ...fieldsOf.get(mail), ...recipient, ...wholeColumns(mail), is_whole: true };
    }),
  );
  return { mails, bodies };
}

/** Returns the row with those bodies that do not lie in the message, and where the others do. */
function rowWithPlaces(
  row: EmailRows,
  message: Buffer,
  packed = message,
): EmailRows & { body_places: BodyPlaces | null } {
  const { bodies, places } = placeBodies({ message, packed }, row);
  return { ...row, ...bodies, body_places: places };
}

function wholeColumns({ eventIds, thread, route }: WholeMail) {
  const { anchor, participants } = thread;
  return {
    event_ids: eventIds,
    keys: thread.keys,
    firm_keys: thread.firmKeys,
    reply_key: thread.replyKey,
    anchor: anchor && { ...anchor, is_reply: anchor.isReply },
    thread: {
      id: thread.id,
      participant_emails: participants.emails,
      participant_names: participants.names,
      search_text: participants.searchText,
    },
    route: route && {
      version: route.version,
      outcome: route.outcome,
      via: route.via,
      endpoint_id: route.endpointId,
      reason: route.reason,
      delivery_id: route.delivery?.id,
      attempts_allowed: route.delivery?.attemptsAllowed,
      is_claimed: route.delivery !== null && route.delivery.admission !== 'left',
    },
  };
}
