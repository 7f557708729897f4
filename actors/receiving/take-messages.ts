import { setTimeout as sleep } from 'node:timers/promises';
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
} from '../../db/queries/emails/store-received.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-body.ts';
import { readAuthentication } from '../../operations/emails/stored-authentication.ts';
import { mayBelongTogether, type ThreadHints, threadHints } from '../../operations/threads/join-threads.ts';
import type { Bus } from '../../schema/messages.ts';
import { actorMetrics, receivingMetrics, threadingMetrics } from '../../schema/metrics.ts';
import { apart } from '../bus/tracing.ts';
import { type DirectDeliverySlot, isContentKept, type MailToRoute, type RoutedMail } from '../direct-delivery.ts';
import { noteStage } from '../mail-spans.ts';
import { emailRows } from './email-rows.ts';
import type { ParseOutcome, ParseRequest } from './parse-messages.ts';
import type { ParsePool } from './parse-pool.ts';

export interface ReadAheadOptions {
  parser: ParsePool;
  /** lists of messages that the parser gets at the same time */
  listsAtOnce: number;
  /** how long the parser may work on a message before its commit; milliseconds of processor time of this process */
  limitMs: number;
}

/** Parses and checks messages before they are committed, as long as that is quick. */
export interface ReadAhead {
  /** Returns the outcome for an offer; null when it takes too long, or the parser is busy with other mail. Never rejects. */
  read(offer: Offer): Promise<ParseOutcome | null>;
  /**
   * Returns the outcome of a message that was read, even when that took too long for its commit: it need not be parsed again. Undefined when
   * it was not, or the outcome was taken before.
   */
  take(rawId: string): Promise<ParseOutcome> | undefined;
  /** Forgets a message that nothing will take. */
  forget(rawId: string): void;
}

/** One that also shows what it reads. */
export interface OpenReadAhead extends ReadAhead {
  /** Returns what `take` returns, and keeps it. */
  find(rawId: string): Promise<ParseOutcome> | undefined;
}

/** How much longer the limit may last on a busy machine, which leaves this process little processor time. */
const MAX_STRETCH = 4;
/** How much longer the limit is for each message that the parser has besides: they share the processor. Milliseconds. */
const LONGER_PER_MESSAGE_MS = 20;
/** How long a message of a burst waits until the parser gets it; times the limit. */
const MAX_WAIT = 20;
/** Larger messages are committed first. */
const MAX_BYTES = 524_288;
/** Messages that are read ahead, or wait for it: of a larger crowd, the others are committed first. */
const MAX_MESSAGES = 256;
const MAX_TOTAL_BYTES = 32_000_000;
/** Messages that the parser gets in one list: they share the cost of waking its thread. */
const LIST_MESSAGES = 16;
const LIST_BYTES = 262_144;
/** Messages that were accepted before and that the parser has: with more, it is busy with them. */
const MAX_OTHERS = 50;

/** How long a list counts as open, so that a message that hangs delays no others; milliseconds. */
const LIST_MS = 1_000;

/** A message on its way to the parser. */
interface Reading {
  request: ParseRequest;
  /** called when the parser gets it */
  begin: () => void;
  resolve: (outcome: Promise<ParseOutcome>) => void;
}

export function createReadAhead({ parser, listsAtOnce, limitMs }: ReadAheadOptions): OpenReadAhead {
  const outcomes = new Map<string, Promise<ParseOutcome>>();
  let openMessages = 0;
  let openBytes = 0;
  /** how many of the open messages the parser has */
  let begunMessages = 0;

  const waiting: Reading[] = [];
  let openLists = 0;

  const startLists = (): void => {
    while (openLists < listsAtOnce && waiting.length > 0) {
      openLists++;
      void parseList(takeList()).finally(() => {
        openLists--;
        startLists();
      });
    }
  };

  const takeList = (): Reading[] => {
    let count = 0;
    let bytes = 0;
    for (const { request } of waiting) {
      bytes += request.bytes.length;
      if (count === LIST_MESSAGES || (count > 0 && bytes > LIST_BYTES)) break;
      count++;
    }
    return waiting.splice(0, count);
  };

  /** Resolves when all of the list are parsed, or they take long. */
  const parseList = async (list: readonly Reading[]): Promise<void> => {
    begunMessages += list.length;
    for (const { begin } of list) begin();
    const outcomes = parser.parseEach(list.map(({ request }) => request));
    for (const [at, outcome] of outcomes.entries()) {
      list[at]?.resolve(outcome);
      void outcome.catch(() => undefined).finally(() => begunMessages--);
    }
    await Promise.race([Promise.allSettled(outcomes), sleep(LIST_MS, undefined, { ref: false })]);
  };

  const hasRoomFor = (sizeBytes: number): boolean =>
    sizeBytes <= MAX_BYTES &&
    openMessages < MAX_MESSAGES &&
    openBytes + sizeBytes <= MAX_TOTAL_BYTES &&
    parser.openCount() - begunMessages <= MAX_OTHERS;

  const start = (offer: Offer, begin: () => void): Promise<ParseOutcome> => {
    const startedAt = performance.now();
    openMessages++;
    openBytes += offer.bytes.length;
    const { promise, resolve } = Promise.withResolvers<ParseOutcome>();
    waiting.push({ request: makeParseRequest(offer), begin, resolve });
    const outcome = promise.finally(() => {
      openMessages--;
      openBytes -= offer.bytes.length;
    });
    // A list is of several messages and belongs to none of their traces.
    apart(startLists);
    outcome.then(
      ({ message }) =>
        receivingMetrics.parseSeconds.observe(
          { outcome: message.parseError === null ? 'parsed' : 'failed' },
          (performance.now() - startedAt) / 1_000,
        ),
      () => undefined,
    );
    outcomes.set(offer.rawId, outcome);
    return outcome;
  };

  return {
    async read(offer) {
      if (!hasRoomFor(offer.bytes.length)) return null;
      const late = startLimit(limitMs * MAX_WAIT);
      try {
        return await Promise.race([
          start(offer, () => late.begin(limitMs, LONGER_PER_MESSAGE_MS * (begunMessages - 1))),
          late.passed,
        ]);
      } catch {
        // The parser was closed, or fails: the message is committed, and parsed later.
        return null;
      } finally {
        late.end();
      }
    },
    take(rawId) {
      const outcome = outcomes.get(rawId);
      outcomes.delete(rawId);
      return outcome;
    },
    find: (rawId) => outcomes.get(rawId),
    forget: (rawId) => void outcomes.delete(rawId),
  };
}

/** Returns what the parser gets of an offer. */
export function makeParseRequest({ envelope, bytes, emailIds }: Offer): ParseRequest {
  const { remoteAddress, helo, reversePath } = envelope;
  return {
    emailId: emailIds[0] ?? '',
    bytes,
    remoteAddress,
    helo,
    reversePath,
    emails: envelope.recipients,
  };
}

interface Limit {
  /** Resolves with null when the wait or the work took too long. */
  passed: Promise<null>;
  /** Ends the wait: from now on, the process may have that much processor time, on a busy machine for a few times as long. */
  begin: (limitMs: number, longerMs: number) => void;
  end: () => void;
}

function startLimit(waitMs: number): Limit {
  const { promise: passed, resolve } = Promise.withResolvers<null>();
  let timer = setTimeout(() => resolve(null), waitMs);
  const begin = (limitMs: number, longerMs: number) => {
    clearTimeout(timer);
    const since = processorMs();
    const endsAt = performance.now() + MAX_STRETCH * limitMs + longerMs;
    const look = () => {
      const leftMs = limitMs + longerMs - (processorMs() - since);
      if (leftMs <= 0 || performance.now() >= endsAt) resolve(null);
      else timer = setTimeout(look, Math.max(1, leftMs));
    };
    timer = setTimeout(look, limitMs);
  };
  return { passed, begin, end: () => clearTimeout(timer) };
}

/** How long a reading of the processor time is used; milliseconds. Each takes a system call. */
const READING_MS = 5;
let lastReading = { at: Number.NEGATIVE_INFINITY, ms: 0 };

/** Returns the processor time of this process, accurate to a few milliseconds. */
function processorMs(): number {
  const now = performance.now();
  if (now - lastReading.at > READING_MS) {
    const { user, system } = process.cpuUsage();
    lastReading = { at: now, ms: (user + system) / 1_000 };
  }
  return lastReading.ms;
}

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
 * 1. Make the rows of each email, and what decides its thread (operations/threads/join-threads.ts). Of messages that may belong together,
 *    the statement takes one: the others are only accepted.
 * 2. Plan the routes, if the delivery actor runs in this process; not of mail that DMARC_ENFORCE holds.
 * 3. Store all of it and commit (db/queries/emails/store-received.ts).
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
      dmarc.enforcement === 'off' || enforceDmarc(readAuthentication(whole.row.authentication), dmarc) === 'accept',
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
