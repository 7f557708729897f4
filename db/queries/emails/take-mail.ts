import type pg from 'pg';
import type { RouteDecision } from '../../../core/routing/route.ts';
import type { SubjectAnchor } from '../../../core/threads/threading.ts';
import { LEASE_SECONDS } from '../../claim.ts';
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
import { type EmailRows, withBodiesApart } from './store-received.ts';

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
  /** of the sent email that it answers; null: none */
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
