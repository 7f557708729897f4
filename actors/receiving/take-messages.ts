import type { Logger } from 'pino';
import { mayContainCopy } from '../../core/mime/unmarked-copy.ts';
import { type DmarcRules, enforceDmarc, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import type { Database } from '../../db/connection/database.ts';
import { isTransient } from '../../db/errors.ts';
import type { Offer } from '../../db/queries/emails/accept-group.ts';
import {
  type PlannedRoute,
  type TakenMail,
  type TakeOutcome,
  takeMail,
  type WholeMail,
} from '../../db/queries/emails/take-mail.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import { authenticationOf } from '../../operations/emails/stored-authentication.ts';
import { mayBelongTogether, type ThreadHints, threadHints } from '../../operations/threads/thread-hints.ts';
import type { Bus } from '../../schema/messages.ts';
import { actorMetrics, threadingMetrics } from '../../schema/metrics.ts';
import { type DirectDeliverySlot, isContentKept, type MailToRoute, type RoutedMail } from '../direct-delivery.ts';
import { noteStage } from '../mail-spans.ts';
import { emailRows } from './email-rows.ts';
import type { ParseOutcome } from './parse-messages.ts';

export interface TakeMessagesOptions {
  database: Database;
  bytes: ByteStore;
  bus: Bus;
  log: Logger;
  directDelivery: DirectDeliverySlot;
  claimant: string;
  /** the router holds what these hold; nothing by default */
  dmarc?: DmarcRules;
  /** right side of the Message-ID for mail without one */
  mailHostname: string;
  makeId: (kind: IdentifierKind) => string;
}

/** An offer with what its message says; null: it is only accepted. */
export interface ReadOffer {
  offer: Offer;
  outcome: ParseOutcome | null;
  /** before it was read, on performance.now() */
  startedTick: number;
}

/** Returns whether a message can be taken at once; otherwise it is accepted, and its actor goes through the steps for all mail. */
export function canBeTaken({ message, report, dmarcReport }: ParseOutcome): boolean {
  return message.parseError === null && report === null && dmarcReport === null && !mayContainCopy(message);
}

/**
 * Takes a group of messages that were read before their commit, in one statement:
 *
 * 1. Make the rows of each email, and what decides its thread (operations/threads/thread-hints.ts). Of messages that may belong together,
 *    the statement takes one: the others are only accepted.
 * 2. Plan the routes, if the delivery actor runs in this process; not of mail that DMARC_ENFORCE holds.
 * 3. Store all of it and commit (db/queries/emails/take-mail.ts).
 * 4. `announceTaken` starts the deliveries from memory, wakes the router for the rest, and publishes the events.
 *
 * Throws when a row cannot be stored: each message is then taken alone. Returns null when a message that is alone cannot be stored: it is
 * then only accepted.
 */
export async function takeMessages(
  options: TakeMessagesOptions,
  offers: readonly ReadOffer[],
  claimsReceptions: boolean,
): Promise<TakenGroup | null> {
  const mails = makeMails(options, offers);
  const storedAt = performance.now();
  try {
    await planRoutes(options, mails);
    const taken = offers.map(({ offer }) => ({
      offer,
      mails: offer.emailIds.map((emailId) => mails.get(emailId)?.whole ?? null),
    }));
    const { database, claimant } = options;
    return { mails, storedAt, outcomes: await takeMail(database.pool, taken, { claimant, claimsReceptions }) };
  } catch (error) {
    if (isTransient(error) || offers.length > 1) throw error;
    options.log.error({ err: error }, 'a message could not be taken, it is accepted and parsed later');
    return null;
  }
}

/** A group that was committed. */
export interface TakenGroup {
  mails: ReadonlyMap<string, Mail>;
  storedAt: number;
  outcomes: readonly TakeOutcome[];
}

/** What the statement gets of one recipient, and what is needed after it. */
interface Mail {
  whole: WholeMail;
  route: MailToRoute;
  offer: Offer;
  recipient: string;
  startedTick: number;
}

/** Returns the mail that may be taken whole, by email id. */
function makeMails(options: TakeMessagesOptions, offers: readonly ReadOffer[]): Map<string, Mail> {
  const mails = new Map<string, Mail>();
  const hintsOfWorkspaces = new Map<string, ThreadHints[]>();
  for (const { offer, outcome, startedTick } of offers) {
    if (outcome === null) continue;
    for (const [at, emailId] of offer.emailIds.entries()) {
      const recipient = offer.envelope.recipients[at];
      if (recipient === undefined) continue;
      const { workspaceId, ownAddress, addressId, domainId } = recipient;
      const reception = {
        workspaceId,
        emailId,
        recipient: recipient.recipient,
        screening: recipient.screening ?? null,
      };
      const row = emailRows(reception, outcome, options.mailHostname);
      const hints = threadHints({ ...row, own_address: ownAddress });
      const earlier = hintsOfWorkspaces.get(workspaceId) ?? [];
      hintsOfWorkspaces.set(workspaceId, [...earlier, hints]);
      if (earlier.some((other) => mayBelongTogether(other, hints))) continue;
      mails.set(emailId, {
        whole: {
          row,
          eventIds: [row.event_id, options.makeId('event')],
          thread: { id: options.makeId('thread'), ...hints },
          route: null,
        },
        route: { workspaceId, ownAddress, addressId, domainId, sizeBytes: offer.bytes.length },
        offer,
        recipient: recipient.recipient,
        startedTick,
      });
    }
  }
  return mails;
}

async function planRoutes(
  { directDelivery, dmarc = noDmarcRules }: TakeMessagesOptions,
  mails: ReadonlyMap<string, Mail>,
): Promise<void> {
  const delivery = directDelivery.current;
  if (delivery === null || mails.size === 0) return;
  const all = [...mails.values()].filter(
    ({ whole }) =>
      dmarc.enforcement === 'off' || enforceDmarc(authenticationOf(whole.row.authentication), dmarc) === 'accept',
  );
  const routes = await delivery.plan(all.map(({ route }) => route));
  for (const [at, { whole }] of all.entries()) whole.route = routes[at] ?? null;
}

/** Continues with the mail of a group after its commit. */
export function announceTaken(options: TakeMessagesOptions, { mails, storedAt, outcomes }: TakenGroup): void {
  const { bus, bytes, directDelivery } = options;
  const routed: RoutedMail[] = [];
  const outdated: MailToRoute[] = [];
  const unrouted = new Map<string, string[]>();
  const lastSeqs = new Map<string, number>();
  for (const taken of outcomes.flatMap((outcome) => outcome.taken)) {
    const mail = mails.get(taken.emailId);
    if (mail === undefined) continue;
    const { workspaceId } = mail.route;
    lastSeqs.set(workspaceId, taken.lastSeq);
    measure(options, mail, taken, storedAt);
    const { route } = mail.whole;
    const isRouted = route !== null && taken.isRouted;
    if (!isRouted || isReadSoon(mail.route, route)) bytes.keep(mail.offer.rawId, mail.offer.bytes);
    if (isRouted) routed.push(routedMail(mail, taken, route, storedAt));
    else {
      unrouted.set(workspaceId, [...(unrouted.get(workspaceId) ?? []), taken.emailId]);
      if (route !== null) outdated.push(mail.route);
    }
  }
  directDelivery.current?.forget(outdated);
  directDelivery.current?.start(routed);
  for (const [workspaceId, emailIds] of unrouted) bus.wake('delivery.route.wake', { workspaceId, emailIds });
  for (const [workspaceId, lastSeq] of lastSeqs) bus.publish('event.appended', { workspaceId, lastSeq });
}

/** Whether an attempt will read the raw message: its delivery does not hold it. */
function isReadSoon(mail: MailToRoute, { delivery }: PlannedRoute): boolean {
  return delivery !== null && !isContentKept(mail, delivery.admission);
}

function routedMail(mail: Mail, taken: TakenMail, route: RoutedMail['route'], storedAt: number): RoutedMail {
  const { threadId, position } = taken;
  const email = contentRow(mail, taken);
  return { mail: mail.route, route, email, raw: mail.offer.bytes, threadId, threadPosition: position, storedAt };
}

/** Returns the row that a delivery would read. */
function contentRow(
  { whole: { row }, route, offer, recipient }: Mail,
  { acceptedAt, metadata }: TakenMail,
): DeliveryContentRow {
  return {
    workspace_id: row.workspace_id,
    id: row.email_id,
    raw_id: offer.rawId,
    message_id: row.message_id,
    subject: row.subject,
    recipient,
    own_address: route.ownAddress,
    created_at: acceptedAt,
    date: row.date === null ? null : new Date(row.date),
    is_test: false,
    metadata,
    headers: row.headers,
    addresses: row.addresses,
    in_reply_to: row.in_reply_to,
    reference_ids: row.reference_ids,
    text_body: row.text_body,
    html_body: row.html_body,
    cleaned_text: row.cleaned_text,
    cleaned_html: row.cleaned_html,
    removed_parts: row.removed_parts,
    attachments: row.attachments,
    authentication: row.authentication,
    injection: row.injection,
    screening: row.screening ?? null,
    priority: row.priority,
    is_truncated: row.is_truncated,
  };
}

function measure(
  { database }: TakeMessagesOptions,
  mail: Mail,
  { emailId, acceptedAt }: TakenMail,
  storedAt: number,
): void {
  const email = { workspaceId: mail.route.workspaceId, emailId };
  noteStage(database, [email], { name: 'parse', startedTick: mail.startedTick });
  noteStage(database, [email], { name: 'thread', startedTick: storedAt });
  threadingMetrics.emails.inc();
  const seconds = Math.max(0, Date.now() - acceptedAt.getTime()) / 1_000;
  for (const stage of ['parsed', 'threaded'] as const) actorMetrics.sinceAcceptSeconds.observe({ stage }, seconds);
}
