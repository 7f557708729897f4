import { hash } from 'node:crypto';
import type { Database } from '../../db/connection/database.ts';
import { acceptGroup, type Offer } from '../../db/queries/emails/accept-group.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { receivingMetrics } from '../../schema/metrics.ts';
import { failSpan, traced, traceParentToKeep } from '../bus/tracing.ts';
import { createGroupCommit } from '../work/group-commit.ts';

/** Points at which fault tests kill the process; a no-op otherwise. */
export type FaultPoint =
  | 'receiving.before-commit'
  | 'receiving.after-commit'
  | 'receiving.parse-claimed'
  | 'receiving.parse-done';

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
  /** whether this process' parser has room; otherwise the rows stay unclaimed until the next sweep */
  canParse: () => boolean;
  /** called for each new message after its commit */
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

const NO_ROOM: AcceptReply = {
  verdict: 'refused',
  code: 452,
  enhancedCode: '4.3.1',
  text: 'Insufficient system storage',
};

/**
 * Commits the messages of several SMTP sessions together. A message that finds no commit in progress starts one at once, and those that
 * arrive during a commit form the next group, so no message waits for others.
 */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  const commit = createGroupCommit<Offer, AcceptReply>({
    limits: { items: GROUP_MESSAGES, size: GROUP_BYTES },
    sizeOf: ({ bytes }) => bytes.length,
    maxWaitMs: MAX_WAIT_MS,
    groupsAtOnce: options.commitsInFlight ?? COMMITS_IN_FLIGHT,
    write: (offers) => write(options, offers),
  });

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
      const reply = await commit.add(offer);
      end({ outcome: 'accepted' });
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
async function write(options: AcceptorOptions, offers: readonly Offer[]): Promise<AcceptReply[]> {
  options.fault('receiving.before-commit');
  const claimant = options.canParse() ? options.claimant : null;
  const outcomes = await acceptGroup(options.database, offers, claimant);
  options.fault('receiving.after-commit');
  receivingMetrics.commitMessages.observe(offers.length);
  const commit = { isClaimed: claimant !== null, company: offers.length };
  return offers.map(({ bytes }, at) => {
    const { emailIds, accepted } = outcomes[at] ?? { emailIds: [], accepted: [] };
    if (accepted.length > 0) options.onAccepted(bytes, accepted, commit);
    return { verdict: 'accepted', emailIds };
  });
}
