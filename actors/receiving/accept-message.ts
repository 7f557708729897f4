import { hash } from 'node:crypto';
import type { Database } from '../../db/connection/database.ts';
import { isConnectionLost } from '../../db/connection/database.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { receivingMetrics } from '../../schema/metrics.ts';
import { apart, failSpan, traced, traceParentToKeep } from '../bus/tracing.ts';
import { acceptGroup, type Offer } from './accept-group.ts';
import type { FaultPoint, Reception } from './reception.ts';

export type AcceptRequest = Request<'receiving.message.accept'>;
export type AcceptReply = Reply<'receiving.message.accept'>;

export interface AcceptorOptions {
  database: Database;
  /** makes the identifiers of one offer's rows */
  makeId: (kind: 'email' | 'raw') => string;
  /** whose lease the receptions bear */
  claimant: string;
  /** whether the data disk has room for another message */
  hasRoom: () => Promise<boolean>;
  /** whether the parser of this process can take more; otherwise the rows are left unclaimed for whoever sweeps next */
  canParse: () => boolean;
  /** told of each new message after its commit */
  onAccepted: (octets: Buffer, receptions: Reception[], commit: AcceptedCommit) => void;
  fault: (point: FaultPoint) => void;
  /** groups that are committed at the same time */
  commitsInFlight?: number;
}

export interface AcceptedCommit {
  /** whether the receptions are this claimant's */
  isClaimed: boolean;
  /** messages that were committed together */
  company: number;
}

export interface Acceptor {
  /** Stores a message and answers after the commit; throws when that cannot be done now (to be answered 451). */
  accept(request: AcceptRequest, octets: Uint8Array): Promise<AcceptReply>;
}

/** Messages and octets committed together at most. */
const GROUP_MESSAGES = 64;
const GROUP_OCTETS = 8_000_000;
const COMMITS_IN_FLIGHT = 1;
/** Milliseconds. With the 10 s that a commit may take, the answer stays within the question's 20 s; what is given up here was never written. */
const MAX_WAIT_MS = 4_500;

const NO_ROOM: AcceptReply = {
  verdict: 'refused',
  code: 452,
  enhancedCode: '4.3.1',
  text: 'Insufficient system storage',
};

interface Waiting {
  offer: Offer;
  since: number;
  resolve: (reply: AcceptReply) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits the messages of several SMTP sessions together. A message that finds no commit under way starts one at once;
 * those that come meanwhile form the next group, so nobody waits for company. When a group fails for a reason that may lie in one of
 * its members, each is tried alone; when PostgreSQL is away all fail at once.
 */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  const { database, commitsInFlight = COMMITS_IN_FLIGHT } = options;
  const waiting: Waiting[] = [];
  let inFlight = 0;

  function startCommits(): void {
    while (inFlight < commitsInFlight && waiting.length > 0) {
      const group = takeGroup(waiting);
      inFlight++;
      void settle(group).finally(() => {
        inFlight--;
        startCommits();
      });
    }
  }

  async function settle(group: Waiting[]): Promise<void> {
    const fresh = group.filter(isFresh);
    try {
      await commit(fresh);
    } catch (error) {
      await settleAlone(fresh, error);
    }
  }

  async function settleAlone(group: Waiting[], cause: unknown): Promise<void> {
    let reason = cause;
    for (const member of group) {
      if (!mayLieInMember(reason) || !isFresh(member)) {
        member.reject(reason);
        continue;
      }
      try {
        await commit([member]);
      } catch (error) {
        member.reject(error);
        if (!mayLieInMember(error)) reason = error;
      }
    }
  }

  async function commit(group: Waiting[]): Promise<void> {
    if (group.length === 0) return;
    options.fault('receiving.before-commit');
    const offers = group.map((member) => member.offer);
    const claimant = options.canParse() ? options.claimant : null;
    const outcomes = await acceptGroup(database, offers, claimant);
    options.fault('receiving.after-commit');
    receivingMetrics.commitMessages.observe(group.length);
    group.forEach((member, at) => {
      const outcome = outcomes[at];
      if (outcome === undefined) return;
      member.resolve({ verdict: 'accepted', emailIds: outcome.emailIds });
      if (outcome.accepted.length > 0) {
        options.onAccepted(member.offer.octets, outcome.accepted, {
          isClaimed: claimant !== null,
          company: group.length,
        });
      }
    });
  }

  const accept = async (request: AcceptRequest, octets: Uint8Array): Promise<AcceptReply> => {
    const end = receivingMetrics.acceptSeconds.startTimer();
    if (!(await options.hasRoom())) {
      end({ outcome: 'refused' });
      return NO_ROOM;
    }
    const offer: Offer = {
      envelope: request,
      octets: Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength),
      sha256: hash('sha256', octets, 'hex'),
      rawId: options.makeId('raw'),
      emailIds: request.recipients.map(({ emailId }) => emailId ?? options.makeId('email')),
      traceParent: traceParentToKeep(),
    };
    const { promise, resolve, reject } = Promise.withResolvers<AcceptReply>();
    waiting.push({ offer, since: performance.now(), resolve, reject });
    // A commit is of several messages, and part of none of their traces.
    apart(startCommits);
    try {
      const reply = await promise;
      end({ outcome: 'accepted' });
      return reply;
    } catch (error) {
      end({ outcome: 'failed' });
      throw error;
    }
  };

  return {
    accept: (request, octets) =>
      traced('accept', { attributes: { 'postroom.recipients': request.recipients.length } }, async (span) => {
        const reply = await accept(request, octets);
        if (reply.verdict === 'accepted') span?.setAttribute('postroom.email.id', reply.emailIds);
        else failSpan(span, reply.enhancedCode);
        return reply;
      }),
  };
}

function takeGroup(waiting: Waiting[]): Waiting[] {
  let count = 0;
  let octets = 0;
  for (const { offer } of waiting) {
    if (count === GROUP_MESSAGES || (count > 0 && octets + offer.octets.length > GROUP_OCTETS)) break;
    count++;
    octets += offer.octets.length;
  }
  return waiting.splice(0, count);
}

/** Whether the member can still be committed within the question's limit; one that cannot is refused here. */
function isFresh(member: Waiting): boolean {
  const fresh = performance.now() - member.since < MAX_WAIT_MS;
  if (!fresh) member.reject(new Error('waited too long for its commit'));
  return fresh;
}

/** Whether a group's failure may be the doing of one of its messages (or passed: serialisation failure, deadlock), so that others can go. */
function mayLieInMember(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return !isConnectionLost(error) || code === '40001' || code === '40P01';
}
