import { deriveReturnAddressKey, makeReturnAddress } from '../../core/smtp/return-address.ts';
import { isTransient } from '../../db/errors.ts';
import type { ActorContext } from '../actor.ts';
import type { LookUp } from '../network/dns-resolver.ts';
import { setAside } from '../set-aside.ts';
import { isGoneBeforehand, isTooMany, judgeDestination, resultOfSent, toResult } from './attempt-results.ts';
import type { DestinationVerdict } from './destination-queue.ts';
import { createSessionPool, type NoSession, type OpeningParts, openSession } from './open-session.ts';
import { directRoute, type ResolveParts, type Route, resolveDestination } from './resolve-destination.ts';
import { INTERRUPTED, type Interruption, type SendReport } from './send-report.ts';
import type { AttemptResult, SendingJob, Transaction } from './sending-job.ts';
import type { MessageSigner } from './sign-message.ts';
import type { SmtpSession } from './smtp-session.ts';
import type { TlsSessions } from './tls-sessions.ts';
import { type DaneDestination, type MtaStsPolicies, secureHosts } from './transport-security.ts';

export interface AttempterOptions {
  context: ActorContext;
  signer: MessageSigner;
  secretKey: Uint8Array;
  opening: OpeningParts;
  resolving: Omit<ResolveParts, 'lookUp'>;
  /** lookups with a time limit for one transaction */
  lookUp: () => LookUp;
  /** of the domains that mail is sent to */
  policies: MtaStsPolicies;
  /** what validated DNS says of the domain's servers */
  findDane: (domain: string) => Promise<DaneDestination>;
  /** counts sessions for TLS reports; null: no reports are sent */
  tlsSessions: TlsSessions | null;
  /** the route of a destination that needs no DNS; null when it does */
  fixedRoute: (key: string) => Route | null;
  onSent: () => void;
}

/** The outcome of an attempt, and what it showed of the destination. */
export interface AttemptReport {
  results: AttemptResult[];
  verdict: DestinationVerdict;
  /** no session was opened, so the destination did not judge the message */
  isUnopened: boolean;
}

/**
 * Makes attempts. An attempt sends one message to its recipients at one destination, outside any database transaction:
 *
 * 1. Take an idle session of the destination, or find its hosts by MX and open one. If none opens, all recipients get that result.
 * 2. Read and sign the message: only now, so that attempts that wait for a server hold no message in memory.
 * 3. Stop if a lease has ended meanwhile: another process may have begun the same.
 * 4. Run the SMTP transaction with up to 100 recipients. If a reused session turns out to be closed, try again on a new one.
 * 5. Repeat for the recipients that are left, because there are more than 100 or because the server takes fewer at a time (452).
 * 6. Return a result for each recipient, and what the attempt showed of the destination.
 */
export interface Attempter {
  /** Never rejects. Null when PostgreSQL was unreachable and nothing was started. */
  attempt(key: string, transaction: Transaction): Promise<AttemptReport | null>;
  /** Ends every attempt in progress with the outcome `interrupted`. None starts after that. */
  interrupt(): void;
  /** Ends attempts whose lease expired, because another process may have started the same, unless the message is already sent. */
  interruptLapsed(): void;
  /** Closes idle sessions. */
  close(): void;
}

/** RFC 5321 §4.5.3.1.8: the number that every server must accept. */
const MAX_RECIPIENTS = 100;

export function createAttempter(options: AttempterOptions): Attempter {
  const { context, signer } = options;
  const returnKey = deriveReturnAddressKey(options.secretKey);
  const pool = createSessionPool();
  const ending = new AbortController();
  /** sessions with a transaction in progress, and its recipients */
  const sessions = new Map<SmtpSession, readonly SendingJob[]>();
  ending.signal.addEventListener('abort', () => {
    for (const session of sessions.keys()) session.interrupt('stopped');
  });

  const attempt = async (key: string, transaction: Transaction): Promise<AttemptReport | null> => {
    if (ending.signal.aborted) return interrupted(transaction.jobs);
    return sendOver(key, transaction);
  };

  /** Returns the message, or the report of an attempt without it. */
  const read = async (transaction: Transaction): Promise<{ bytes: Buffer } | { report: AttemptReport | null }> => {
    const { jobs } = transaction;
    try {
      const bytes = await signer.read(transaction);
      if (bytes === null) return { report: await ownFault(context, jobs, 'The stored message is gone or damaged') };
      return ending.signal.aborted ? { report: interrupted(jobs) } : { bytes };
    } catch (error) {
      if (isTransient(error)) {
        context.log.warn({ err: error, emailId: transaction.emailId }, 'sending: an attempt waits for the database');
        return { report: null };
      }
      return { report: await ownFault(context, jobs, 'The message could not be signed', error) };
    }
  };

  /** Opens a session. */
  const open = async (key: string, domain: string): Promise<{ session: SmtpSession } | { failure: NoSession }> => {
    let route = options.fixedRoute(key);
    let onTried: Parameters<typeof openSession>[3];
    if (route === null) {
      const lookUp = options.lookUp();
      const finding = Promise.all([options.policies.find(domain, lookUp), options.findDane(domain)]);
      const resolving = resolveDestination({ ...options.resolving, lookUp }, domain);
      const destination = await unlessAborted(resolving, ending.signal);
      if (destination === null)
        return { failure: { ...NOT_REACHED, outcome: 'interrupted', text: INTERRUPTED.stopped } };
      if (destination.kind === 'unreachable') {
        const { outcome, code, status, text } = destination;
        return { failure: { ...NOT_REACHED, outcome, code, status, text } };
      }
      const found = await unlessAborted(finding, ending.signal);
      if (found === null) return { failure: { ...NOT_REACHED, outcome: 'interrupted', text: INTERRUPTED.stopped } };
      const [mtaSts, dane] = found;
      const secured = await secureHosts(domain, destination.hosts, { mtaSts, dane });
      if ('refusal' in secured && secured.refusal.status === '4.7.5') {
        const names = destination.hosts.map(({ name }) => name);
        options.tlsSessions?.noteUnlisted(domain, names, mtaSts);
      }
      if ('refusal' in secured) return { failure: { ...NOT_REACHED, outcome: 'deferred', ...secured.refusal } };
      route = directRoute(secured.hosts, options.resolving.port);
      onTried = (host, tried) => options.tlsSessions?.note(domain, host, mtaSts, tried);
    }
    return openSession(options.opening, route, ending.signal, onTried);
  };

  /** Runs one transaction, or several when the server does not accept all recipients in one. */
  const sendOver = async (key: string, transaction: Transaction): Promise<AttemptReport | null> => {
    let rest = transaction.jobs;
    let bytes: Buffer | null = null;
    let session = pool.take(key);
    let isReused = session !== null;
    const results: AttemptResult[] = [];
    let verdict: DestinationVerdict = 'refused';
    while (rest.length > 0) {
      if (session === null) {
        const opened = await open(key, transaction.domain);
        if ('failure' in opened) {
          results.push(...rest.map((job) => ({ job, ...toResult(opened.failure) })));
          const hasSent = results.some(isDelivered);
          return { results, verdict: hasSent ? 'sent' : opened.failure.verdict, isUnopened: !hasSent };
        }
        ({ session } = opened);
      }
      if (bytes === null) {
        // Not earlier: an attempt that waits for a server should not hold the message in memory.
        const found = await read(transaction);
        if ('report' in found) {
          pool.give(key, session);
          return found.report;
        }
        ({ bytes } = found);
        // The session may have ended in the meantime.
        if (!session.isUsable) {
          session = null;
          isReused = false;
          continue;
        }
      }
      if (rest.some(hasLapsed)) {
        pool.give(key, session);
        results.push(...interrupted(rest, 'lapsed').results);
        return { results, verdict, isUnopened: false };
      }
      const sent = rest.slice(0, MAX_RECIPIENTS);
      const [first] = sent;
      if (first === undefined) break;
      const report = await send(session, transaction, first.recipientId, sent, bytes);
      if (isReused && isGoneBeforehand(report) && !ending.signal.aborted) {
        session = null;
        isReused = false;
        continue;
      }
      const left = new Set(sent.filter((job) => isTooMany(report, job)));
      results.push(...sent.filter((job) => !left.has(job)).map((job) => resultOfSent(job, report, session, first)));
      verdict = judgeDestination(report) === 'refused' ? verdict : judgeDestination(report);
      if (report.end.kind === 'taken') options.onSent();
      rest = rest.filter((job) => left.has(job) || !sent.includes(job));
      if (!session.isUsable) session = null;
      isReused = false;
    }
    if (session !== null) pool.give(key, session);
    return { results, verdict, isUnopened: false };
  };

  const send = async (
    session: SmtpSession,
    transaction: Transaction,
    returnId: string,
    jobs: readonly SendingJob[],
    bytes: Buffer,
  ): Promise<SendReport> => {
    const { returnDomain } = transaction;
    const from = returnDomain === null ? '' : makeReturnAddress(returnKey, returnId, returnDomain);
    sessions.set(session, jobs);
    const sending = session.send({ from, to: jobs.map((job) => job.address) }, bytes);
    if (ending.signal.aborted) session.interrupt('stopped');
    const report = await sending;
    sessions.delete(session);
    return report;
  };

  return {
    attempt: async (key, transaction) => {
      try {
        return await attempt(key, transaction);
      } catch (error) {
        return ownFault(context, transaction.jobs, 'Internal error', error);
      }
    },
    interrupt: () => ending.abort(),
    interruptLapsed() {
      for (const [session, jobs] of sessions)
        if (!session.isMessageOut && jobs.some(hasLapsed)) session.interrupt('lapsed');
    },
    close: () => pool.close(),
  };
}

const NOT_REACHED = { host: null, remoteAddress: null, code: null, status: null, verdict: 'refused' } as const;
const NOWHERE = { isReply: false, host: null, remoteAddress: null, isTls: null, returnId: null };

function hasLapsed({ leaseUntil }: SendingJob): boolean {
  return leaseUntil < performance.now();
}

function interrupted(jobs: readonly SendingJob[], why: Interruption = 'stopped'): AttemptReport {
  const result = { ...NOWHERE, outcome: 'interrupted', code: null, status: null, text: INTERRUPTED[why] } as const;
  return { results: jobs.map((job) => ({ job, ...result })), verdict: 'refused', isUnopened: false };
}

function isDelivered({ outcome }: AttemptResult): boolean {
  return outcome === 'delivered';
}

/** Returns null when the signal was aborted first. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const onAbort = () => resolve(null);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Sets the recipients aside after an internal fault, and returns their results. */
async function ownFault(
  context: ActorContext,
  jobs: readonly SendingJob[],
  text: string,
  error: unknown = new Error(text),
): Promise<{ results: AttemptResult[]; verdict: 'refused'; isUnopened: boolean }> {
  const results = jobs.map(async (job) => {
    const fault = { workspaceId: job.workspaceId, step: 'send', subjectId: job.recipientId, error } as const;
    const { retrySeconds } = await setAside(context, fault);
    return {
      job,
      ...NOWHERE,
      code: null,
      outcome: 'deferred',
      status: '4.3.0',
      text,
      faultRetrySeconds: retrySeconds,
    } as const;
  });
  return { results: await Promise.all(results), verdict: 'refused', isUnopened: false };
}
