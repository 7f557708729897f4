import { hash } from 'node:crypto';
import type { Database } from '../../db/connection/database.ts';
import { type AcceptOutcome, acceptGroup, isOnce, type Offer } from '../../db/queries/emails/accept-group.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { receivingMetrics } from '../../schema/metrics.ts';
import { failSpan, traced, traceParentToKeep } from '../bus/tracing.ts';
import { createGroupCommit } from '../work/group-commit.ts';
import { acceptReplies, type ReplyOutcome } from './accept-replies.ts';
import type { ReadAhead } from './read-ahead.ts';
import { announceTaken, canBeTaken, type ReadOffer, type TakeMessagesOptions, takeMessages } from './take-messages.ts';

/** Points at which fault tests kill the process; a no-op otherwise. */
export type FaultPoint =
  | 'receiving.before-commit'
  | 'receiving.after-commit'
  | 'receiving.replies-counted'
  | 'receiving.parse-claimed'
  | 'receiving.parse-done'
  | 'receiving.threads-joined'
  | 'receiving.stored';

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
  /** whether this process' parser has room for mail of these users; otherwise the rows stay unclaimed until the next sweep */
  canParse: (users: readonly string[]) => boolean;
  /** reads messages before their commit, and stores those that were read with all that they become; null: all are only accepted */
  ahead: { reading: ReadAhead; taking: TakeMessagesOptions } | null;
  /** called after its commit for each new message that has recipients which are only accepted */
  onAccepted: (bytes: Buffer, receptions: Reception[], commit: AcceptedCommit) => void;
  fault: (point: FaultPoint) => void;
  /** groups that are committed at the same time */
  commitsInFlight?: number;
}

interface AcceptedCommit {
  /** whether the receptions are this claimant's */
  isClaimed: boolean;
  /** messages that were committed together */
  company: number;
}

export interface Acceptor {
  /** Stores a message and resolves after the commit. Throws when it cannot be stored now: the client gets 451. */
  accept(request: AcceptRequest, bytes: Uint8Array): Promise<AcceptReply>;
}

/** Maximum messages and bytes committed together. */
const GROUP_MESSAGES = 64;
const GROUP_BYTES = 8_000_000;
const COMMITS_IN_FLIGHT = 1;
/**
 * Milliseconds. With the 10 s of a commit, the reply stays within the 20 s limit of the question. What is rejected here was never written.
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
 * Commits the messages of several SMTP sessions together. A message that finds no commit in progress starts one at once, and those that
 * arrive during a commit form the next group, so no message waits for others. Mail to reply addresses forms separate groups, because
 * those may wait for the row of an address.
 */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  const grouped = (write: (offers: readonly ReadOffer[]) => Promise<AcceptReply[]>) =>
    createGroupCommit<ReadOffer, AcceptReply>({
      limits: { items: GROUP_MESSAGES, size: GROUP_BYTES },
      sizeOf: ({ offer }) => offer.bytes.length,
      maxWaitMs: MAX_WAIT_MS,
      groupsAtOnce: options.commitsInFlight ?? COMMITS_IN_FLIGHT,
      write,
    });
  const commit = grouped((offers) => write(options, offers));
  const commitReplies = grouped((offers) =>
    writeReplies(
      options,
      offers.map(({ offer }) => offer),
    ),
  );

  const accept = async (request: AcceptRequest, bytes: Uint8Array): Promise<AcceptReply> => {
    const end = receivingMetrics.acceptSeconds.startTimer();
    if (!(await options.hasRoom())) {
      end({ outcome: 'refused' });
      return NO_ROOM;
    }
    const offer: Offer = {
      envelope: request,
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      sha256: hash('sha256', bytes, 'hex'),
      rawId: options.makeId('raw'),
      emailIds: request.recipients.map(({ emailId }) => emailId ?? options.makeId('email')),
      traceParent: traceParentToKeep(),
    };
    try {
      const isReply = request.recipients.some(({ replyAddressId }) => replyAddressId !== undefined);
      const startedTick = performance.now();
      const isPlain = !isReply && !isOnce(offer.envelope);
      const outcome = (isPlain ? await options.ahead?.reading.read(offer) : null) ?? null;
      const read = { offer, outcome: outcome !== null && canBeTaken(outcome) ? outcome : null, startedTick };
      const reply = await (isReply ? commitReplies : commit).add(read);
      end({ outcome: reply.verdict });
      return reply;
    } catch (error) {
      end({ outcome: 'failed' });
      throw error;
    }
  };

  return {
    accept: (request, bytes) =>
      traced('accept', { attributes: { 'postroom.recipients': request.recipients.length } }, async (span) => {
        const reply = await accept(request, bytes);
        if (reply.verdict === 'accepted') span?.setAttribute('postroom.email.id', reply.emailIds);
        else failSpan(span, reply.enhancedCode);
        return reply;
      }),
  };
}

/** Commits a group of messages and returns the replies. */
async function write(options: AcceptorOptions, read: readonly ReadOffer[]): Promise<AcceptReply[]> {
  options.fault('receiving.before-commit');
  const offers = read.map(({ offer }) => offer);
  const isClaimed = options.canParse(usersOf(offers));
  const taking = read.some(({ outcome }) => outcome !== null) ? options.ahead?.taking : undefined;
  const taken = taking === undefined ? null : await takeMessages(taking, read, isClaimed);
  const claimant = isClaimed ? options.claimant : null;
  const outcomes = taken?.outcomes ?? (await acceptGroup(options.database.pool, offers, claimant));
  options.fault('receiving.after-commit');
  if (taken !== null && taking !== undefined) announceTaken(taking, taken);
  announce(options, { offers, outcomes, isClaimed });
  return outcomes.map(({ emailIds }) => ({ verdict: 'accepted', emailIds }));
}

/** The same for messages to reply addresses, which may refuse. */
async function writeReplies(options: AcceptorOptions, offers: readonly Offer[]): Promise<AcceptReply[]> {
  const claimant = options.canParse(usersOf(offers)) ? options.claimant : null;
  const beforeCommit = () => options.fault('receiving.replies-counted');
  const outcomes = await acceptReplies(options.database, offers, { claimant, beforeCommit });
  options.fault('receiving.after-commit');
  announce(options, { offers, outcomes, isClaimed: claimant !== null });
  return outcomes.map(replyTo);
}

function usersOf(offers: readonly Offer[]): string[] {
  return offers.flatMap(({ envelope }) => envelope.recipients.map(({ userId }) => userId));
}

function replyTo({ refused, emailIds }: ReplyOutcome): AcceptReply {
  switch (refused) {
    case 'none':
      return { verdict: 'accepted', emailIds };
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

function announce({ onAccepted, ahead }: AcceptorOptions, { offers, outcomes, isClaimed }: Committed): void {
  receivingMetrics.commitMessages.observe(offers.length);
  for (const [at, { accepted }] of outcomes.entries()) {
    const offer = offers[at];
    if (offer === undefined) continue;
    // The parse queue takes what was read.
    if (accepted.length === 0 || !isClaimed) ahead?.reading.forget(offer.rawId);
    if (accepted.length > 0) onAccepted(offer.bytes, accepted, { isClaimed, company: offers.length });
  }
}
