import { hash } from 'node:crypto';
import { readAddressFields } from '../../core/mime/address.ts';
import { readHeaderSection } from '../../core/mime/header-fields.ts';
import { keptApartFor } from '../../core/screening/spam-check.ts';
import { readRepeatSeconds } from '../../core/smtp/repeated-mail.ts';
import { isSenderAllowed } from '../../core/smtp/reply-address.ts';
import type { ByteStore } from '../../db/byte-store.ts';
import type { Database } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import {
  countReplies,
  findRepeatedOffers,
  lockReplyAddresses,
  offerKey,
  type ReplyAddressKey,
  type ReplyAddressState,
  replyKeyText,
} from '../../db/queries/domains/reply-address-state.ts';
import { type AcceptOutcome, acceptGroup, isOnce, type Offer } from '../../db/queries/emails/accept-group.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { receivingMetrics } from '../../schema/metrics.ts';
import { failSpan, traced, traceParentToKeep } from '../bus/tracing.ts';
import type { MessageScreening, Screened } from '../screening/screen-message.ts';
import { createGroupCommit } from '../work/group-commit.ts';
import { isEnvelopeAllowed, isUsedUp } from './check-recipient.ts';
import type { DmarcGate } from './enforce-dmarc.ts';
import type { ParseOutcome } from './parse-messages.ts';
import type { FaultPoint, ParseQueue } from './parse-receptions.ts';
import {
  announceTaken,
  canBeTaken,
  type ReadAhead,
  type ReadOffer,
  type TakeMessagesOptions,
  takeMessages,
} from './take-messages.ts';

export type AcceptRequest = Request<'receiving.message.accept'>;
type AcceptReply = Reply<'receiving.message.accept'>;

export interface AcceptorOptions {
  database: Database;
  /** generates the identifiers of one offer's rows */
  makeId: (kind: 'email' | 'raw') => string;
  /** the process that claims the receptions */
  claimant: string;
  /** whether the data disk has room for another message */
  hasRoom: () => Promise<boolean>;
  /** takes what is only accepted, and claims it if there is room; otherwise the rows stay unclaimed until the next sweep */
  queue: Pick<ParseQueue, 'add' | 'noteAccept' | 'hasRoom'>;
  /** keeps the bytes of what the queue takes */
  bytes: Pick<ByteStore, 'keep'>;
  /** reads messages before their commit, and stores what was read with all that it becomes; null: all are only accepted */
  ahead: { reading: ReadAhead; taking: TakeMessagesOptions } | null;
  /** refuses messages before their commit; null or absent: none is refused */
  dmarc?: DmarcGate | null | undefined;
  /** asks the scanners, before the 250; null or omitted: there are none */
  screen?: ((request: AcceptRequest, bytes: Uint8Array) => Promise<MessageScreening>) | null;
  fault: (point: FaultPoint) => void;
  /** groups that are committed at the same time */
  commitsInFlight?: number;
}

export interface Acceptor {
  /** Stores a message and resolves after the commit. Throws when it cannot be stored now: the client gets 451. */
  accept(request: AcceptRequest, bytes: Uint8Array): Promise<AcceptReply>;
}

/** How long a group waits for messages that are being read; milliseconds. */
const GATHER_MS = 15;
/** Maximum messages and bytes committed together. */
const GROUP_MESSAGES = 64;
const GROUP_BYTES = 8_000_000;
/** Larger messages form groups of their own, so that small ones do not wait for them. */
const LARGE_BYTES = 1_000_000;
const COMMITS_IN_FLIGHT = 1;
/**
 * Milliseconds. With the 10 s of a commit, the reply and the 15 s of the scanners, the reply stays within the 30 s limit of the question. What is rejected here was never written.
 */
const MAX_WAIT_MS = 4_500;

/** A reply address ended between RCPT and the end of the message, or its From field is not allowed. */
const NO_SUCH_MAILBOX: AcceptReply = {
  verdict: 'refused',
  code: 550,
  enhancedCode: '5.1.1',
  text: 'No such mailbox',
};
/** SMTP has one reply for all recipients: the client repeats the message, and RCPT refuses the address that no longer accepts it. */
const ONE_REFUSED: AcceptReply = {
  verdict: 'refused',
  code: 451,
  enhancedCode: '4.1.1',
  text: 'One of the mailboxes no longer exists, please try again',
};
const NO_ROOM: AcceptReply = {
  verdict: 'refused',
  code: 452,
  enhancedCode: '4.3.1',
  text: 'Insufficient system storage',
};

/**
 * Accepts the messages of several SMTP sessions:
 *
 * 1. `offer`: the message gets the ids of its rows.
 * 2. `read`: it is parsed and checked, if that is quick (take-messages.ts). With DMARC_ENFORCE=reject, it waits for its verdicts, and may be
 *    refused (enforce-dmarc.ts).
 * 3. `gather`: it joins the next group. A group waits for messages that are being read; one that comes alone starts at once, and messages that
 *    arrive during a commit form the next group. Mail to reply addresses forms groups of its own, because those may wait for the row of an
 *    address. So do large messages, and mail that was simulated or imported, because take_mail stores none of what makes it so.
 * 4. `commit`: one statement takes what was read (take-messages.ts), and accepts the rest. If it fails, each message is taken alone.
 * 5. `continueWith`: the deliveries of what was taken start; the rest waits for the parser (parse-receptions.ts). Then the session replies 250.
 */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  let readingCount = 0;
  const inGroups = (write: (read: readonly ReadOffer[]) => Promise<AcceptReply[]>, gatherMs: number) =>
    createGroupCommit<ReadOffer, AcceptReply>({
      limits: { items: GROUP_MESSAGES, size: GROUP_BYTES },
      sizeOf: ({ offer }) => offer.bytes.length,
      gatherMs: () => gatherMs,
      isMoreComing: () => readingCount > 0,
      maxWaitMs: MAX_WAIT_MS,
      groupsAtOnce: options.commitsInFlight ?? COMMITS_IN_FLIGHT,
      write,
    });
  const mail = inGroups((read) => commit(options, read), GATHER_MS);
  const large = inGroups((read) => commit(options, read), 0);
  const once = inGroups((read) => commit(options, read), GATHER_MS);
  const replies = inGroups(
    (read) =>
      commitReplies(
        options,
        read.map(({ offer }) => offer),
      ),
    0,
  );

  const chooseLane = ({ bytes }: Offer) => (bytes.length > LARGE_BYTES ? large : mail);

  const read = async (offer: Offer): Promise<{ read: ReadOffer; outcome: ParseOutcome | null }> => {
    const startedTick = performance.now();
    readingCount++;
    const outcome = (await options.ahead?.reading.read(offer)) ?? null;
    readingCount--;
    const taken = outcome !== null && canBeTaken(outcome) ? outcome : null;
    return { read: { offer, outcome: taken, startedTick }, outcome };
  };

  const accept = async (request: AcceptRequest, bytes: Uint8Array): Promise<AcceptReply> => {
    if (!(await options.hasRoom())) return NO_ROOM;
    const offer = makeOffer(options, request, bytes);
    const isReply = request.recipients.some(({ replyAddressId }) => replyAddressId !== undefined);
    if (isOnce(request)) return once.add({ offer, outcome: null, startedTick: performance.now() });
    if (options.screen != null) return acceptScreened(options.screen, request, { offer, isReply });
    if (isReply) {
      const refusal = (await options.dmarc?.judge(offer, null)) ?? null;
      return refusal ?? replies.add({ offer, outcome: null, startedTick: performance.now() });
    }
    try {
      const { read: readOffer, outcome } = await read(offer);
      const refusal = (await options.dmarc?.judge(offer, outcome)) ?? null;
      if (refusal === null) return await chooseLane(offer).add(readOffer);
      options.ahead?.reading.forget(offer.rawId);
      return refusal;
    } catch (error) {
      options.ahead?.reading.forget(offer.rawId);
      throw error;
    }
  };

  /** The scanners are asked while the message is parsed. */
  const acceptScreened = async (
    screen: NonNullable<AcceptorOptions['screen']>,
    request: AcceptRequest,
    { offer, isReply }: { offer: Offer; isReply: boolean },
  ): Promise<AcceptReply> => {
    const startedTick = performance.now();
    try {
      const [screening, ahead] = await Promise.all([
        traced('screen', {}, () => screen(request, offer.bytes)),
        isReply ? null : read(offer),
      ]);
      options.fault('receiving.screened');
      const refuse = (refusal: AcceptReply) => {
        options.ahead?.reading.forget(offer.rawId);
        return refusal;
      };
      if (screening.refusal !== null) return refuse(screening.refusal);
      const refusal = (await options.dmarc?.judge(offer, ahead?.outcome ?? null)) ?? null;
      if (refusal !== null) return refuse(refusal);
      const checked = withScreening(offer, screening.screened);
      if (isReply) return await replies.add({ offer: checked, outcome: null, startedTick });
      const isTaken = ahead !== null && !isKeptBack(checked);
      return await chooseLane(offer).add({ offer: checked, outcome: isTaken ? ahead.read.outcome : null, startedTick });
    } catch (error) {
      options.ahead?.reading.forget(offer.rawId);
      throw error;
    }
  };

  return {
    accept: (request, bytes) =>
      traced('accept', { attributes: { 'postroom.recipients': request.recipients.length } }, async (span) => {
        const end = receivingMetrics.acceptSeconds.startTimer();
        let outcome: AcceptReply['verdict'] | 'failed' = 'failed';
        try {
          const reply = await accept(request, bytes);
          outcome = reply.verdict;
          if (reply.verdict === 'accepted') span?.setAttribute('postroom.email.id', reply.emailIds);
          else failSpan(span, reply.enhancedCode);
          return reply;
        } finally {
          end({ outcome });
        }
      }),
  };
}

function makeOffer({ makeId }: AcceptorOptions, envelope: AcceptRequest, bytes: Uint8Array): Offer {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    envelope,
    bytes: message,
    sha256: hash('sha256', message, 'hex'),
    rawId: makeId('raw'),
    emailIds: envelope.recipients.map(({ emailId }) => emailId ?? makeId('email')),
    traceParent: traceParentToKeep(),
    repeatSeconds: readRepeatSeconds(message),
  };
}

/** Returns the offer with what the scanners said about it. */
function withScreening(offer: Offer, { screenings, later }: Screened): Offer {
  const recipients = offer.envelope.recipients.map((recipient, at) => ({ ...recipient, screening: screenings[at] }));
  return { ...offer, envelope: { ...offer.envelope, recipients, ...(later === 'no' ? {} : { later }) } };
}

/** Whether a message takes another way than most mail: it is kept apart, or checked later. */
function isKeptBack({ envelope: { recipients, later } }: Offer): boolean {
  return later !== undefined || recipients.some(({ screening }) => keptApartFor(screening ?? null) !== null);
}

/** Commits a group of messages and returns the replies. */
async function commit(options: AcceptorOptions, read: readonly ReadOffer[]): Promise<AcceptReply[]> {
  options.fault('receiving.before-commit');
  const offers = read.map(({ offer }) => offer);
  const isClaimed = options.queue.hasRoom(listUsers(offers));
  const isAllChecked = offers.every(({ envelope }) => envelope.later === undefined);
  const taking = isAllChecked && read.some(({ outcome }) => outcome !== null) ? options.ahead?.taking : undefined;
  const taken = taking === undefined ? null : await takeMessages(taking, read, isClaimed);
  const claimant = isClaimed ? options.claimant : null;
  const outcomes = taken?.outcomes ?? (await acceptGroup(options.database.pool, offers, claimant));
  options.fault('receiving.after-commit');
  if (taken !== null && taking !== undefined) announceTaken(taking, taken);
  continueWith(options, { offers, outcomes, isClaimed });
  return outcomes.map((outcome, at) => acceptedReply(outcome, offers[at]));
}

/** The same for messages to reply addresses, which may refuse. */
async function commitReplies(options: AcceptorOptions, offers: readonly Offer[]): Promise<AcceptReply[]> {
  const claimant = options.queue.hasRoom(listUsers(offers)) ? options.claimant : null;
  const beforeCommit = () => options.fault('receiving.replies-counted');
  const outcomes = await acceptReplies(options.database, offers, { claimant, beforeCommit });
  options.fault('receiving.after-commit');
  continueWith(options, { offers, outcomes, isClaimed: claimant !== null });
  return outcomes.map((outcome, at) => replyTo(outcome, offers[at]));
}

function listUsers(offers: readonly Offer[]): string[] {
  return offers.flatMap(({ envelope }) => envelope.recipients.map(({ workspaceId }) => workspaceId));
}

function acceptedReply({ emailIds }: AcceptOutcome, offer: Offer | undefined): AcceptReply {
  const isRepeated = offer !== undefined && !emailIds.some((id) => offer.emailIds.includes(id));
  return isRepeated ? { verdict: 'accepted', emailIds, isRepeated } : { verdict: 'accepted', emailIds };
}

function replyTo(outcome: ReplyOutcome, offer: Offer | undefined): AcceptReply {
  switch (outcome.refused) {
    case 'none':
      return acceptedReply(outcome, offer);
    case 'some':
      return ONE_REFUSED;
    case 'all':
      return NO_SUCH_MAILBOX;
  }
}

interface Committed {
  offers: readonly Offer[];
  outcomes: readonly AcceptOutcome[];
  isClaimed: boolean;
}

/** Lets what was only accepted wait for the parser. */
function continueWith({ queue, bytes, ahead }: AcceptorOptions, { offers, outcomes, isClaimed }: Committed): void {
  receivingMetrics.commitMessages.observe(offers.length);
  const groupSize = outcomes.filter(({ accepted }) => accepted.length > 0).length;
  for (const [at, { emailIds, accepted }] of outcomes.entries()) {
    const offer = offers[at];
    if (offer === undefined) continue;
    receivingMetrics.repeated.inc(emailIds.filter((id) => !offer.emailIds.includes(id)).length);
    const sizeBytes = offer.bytes.length;
    if (accepted.length > 0) queue.noteAccept(sizeBytes, groupSize);
    // The parse queue takes what was read.
    if (accepted.length === 0 || !isClaimed || offer.envelope.later === 'hold') {
      ahead?.reading.forget(offer.rawId);
      continue;
    }
    bytes.keep(offer.rawId, offer.bytes);
    queue.add(accepted.map((reception) => ({ reception, sizeBytes })));
  }
}

/** The outcome of an offer: what was stored, and whether a recipient was refused. */
interface ReplyOutcome extends AcceptOutcome {
  refused: 'none' | 'some' | 'all';
}

/** Bytes of a message in which its From field is looked for. */
const HEAD_BYTES = 65_536;

/**
 * Stores a group of messages of which each has a reply address among its recipients, in one transaction that holds the rows of these
 * addresses, so that no address accepts more than its maximum, whatever arrives at the same time. A repeated message counts once, and is
 * accepted even if the address has ended since. Of a message with other recipients, those are stored although the reply address refuses.
 */
async function acceptReplies(
  database: Database,
  offers: readonly Offer[],
  { claimant, beforeCommit }: { claimant: string | null; beforeCommit: () => void },
): Promise<ReplyOutcome[]> {
  const senders = offers.map(({ bytes }) => fromAddresses(bytes));
  return inTransaction(database, async (client) => {
    const states = await lockReplyAddresses(client, listReplyAddresses(offers));
    const repeated = await findRepeatedOffers(client, offers);
    const parts = offers.map((offer, at) => acceptedPart(offer, { states, repeated, from: senders[at] ?? [] }));
    const present = parts.filter(({ envelope }) => envelope.recipients.length > 0);
    const outcomes = present.length === 0 ? [] : await acceptGroup(client, present, claimant);
    await countReplies(client, countAccepted(outcomes));
    beforeCommit();
    return offers.map((offer, at): ReplyOutcome => {
      const part = parts[at];
      const outcome = outcomes[present.findIndex((one) => one === part)];
      if (part === undefined || outcome === undefined) return { emailIds: [], accepted: [], refused: 'all' };
      const isWhole = part.envelope.recipients.length === offer.envelope.recipients.length;
      return { ...outcome, refused: isWhole ? 'none' : 'some' };
    });
  });
}

interface Known {
  /** by replyKeyText; grows by what is accepted here */
  states: Map<string, ReplyAddressState>;
  /** by offerKey; grows by what is accepted here */
  repeated: Set<string>;
  /** the addresses of the From field */
  from: readonly string[];
}

/** Returns the offer without the recipients that refuse it. */
function acceptedPart(offer: Offer, { states, repeated, from }: Known): Offer {
  const { envelope, emailIds } = offer;
  const places = envelope.recipients.flatMap((recipient, at) => {
    if (recipient.replyAddressId === undefined || repeated.has(offerKey(offer, at))) return [at];
    const key = replyKeyText({ workspaceId: recipient.workspaceId, id: recipient.replyAddressId });
    const state = states.get(key);
    if (state === undefined || state.isEnded || isUsedUp(state)) return [];
    if (!isEnvelopeAllowed(state, envelope.reversePath) || !isFromAllowed(state, from)) return [];
    states.set(key, { ...state, messageCount: state.messageCount + 1 });
    repeated.add(offerKey(offer, at));
    return [at];
  });
  if (places.length === envelope.recipients.length) return offer;
  return {
    ...offer,
    envelope: { ...envelope, recipients: envelope.recipients.filter((_, at) => places.includes(at)) },
    emailIds: emailIds.filter((_, at) => places.includes(at)),
  };
}

function isFromAllowed({ senders }: ReplyAddressState, from: readonly string[]): boolean {
  return senders.length === 0 || (from.length > 0 && from.every((address) => isSenderAllowed(senders, address)));
}

function fromAddresses(bytes: Buffer): string[] {
  const { from } = readAddressFields(readHeaderSection(bytes, HEAD_BYTES));
  return from?.addresses.map(({ address }) => address) ?? [];
}

function listReplyAddresses(offers: readonly Offer[]): ReplyAddressKey[] {
  const keys = offers.flatMap(({ envelope }) =>
    envelope.recipients.flatMap(({ workspaceId, replyAddressId: id }) =>
      id === undefined ? [] : [{ workspaceId, id }],
    ),
  );
  return [...new Map(keys.map((key) => [replyKeyText(key), key])).values()];
}

function countAccepted(outcomes: readonly AcceptOutcome[]): (ReplyAddressKey & { count: number })[] {
  const keys = outcomes.flatMap(({ accepted }) =>
    accepted.flatMap(({ workspaceId, replyAddressId: id }) => (id === null ? [] : [{ workspaceId, id }])),
  );
  return [...Map.groupBy(keys, replyKeyText).values()].flatMap((same) =>
    same[0] === undefined ? [] : [{ ...same[0], count: same.length }],
  );
}
