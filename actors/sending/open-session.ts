import { connect, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { asksToSlowDown, outcomeOfReply, statusOfReply } from '../../core/smtp/delivery-status.ts';
import { describeConnectionError, isTimeout } from './connection-error.ts';
import type { HostSecurity, Route, RouteHost } from './resolve-destination.ts';
import { INTERRUPTED as INTERRUPTED_TEXTS } from './send-report.ts';
import { type OpeningFailure, openSmtpSession, type SessionLimits, type SmtpSession } from './smtp-session.ts';

/** Open idle sessions by destination, reused within seconds. */
export interface SessionPool {
  /** Removes an idle session of that destination and returns it; null when there is none. */
  take(key: string): SmtpSession | null;
  /** Keeps a session that can be reused, and closes any other. */
  give(key: string, session: SmtpSession): void;
  /** Closes idle sessions, and every session that is returned later. */
  close(): void;
}

/** An idle session is closed after this time: servers close them too, and the next message on it would fail. Milliseconds. */
const IDLE_MS = 5_000;
/** Maximum transactions of one session: servers count them, and a host that moved must be noticed. */
const MAX_TRANSACTIONS = 100;
/** Maximum idle sessions in total. */
const MAX_IDLE = 100;

export function createSessionPool(): SessionPool {
  // The sessions of one destination, newest last.
  const idle = new Map<string, { session: SmtpSession; timer: NodeJS.Timeout }[]>();
  let count = 0;
  let isClosed = false;

  const remove = (key: string, session: SmtpSession): boolean => {
    const sessions = idle.get(key) ?? [];
    const at = sessions.findIndex((entry) => entry.session === session);
    if (at === -1) return false;
    clearTimeout(sessions[at]?.timer);
    sessions.splice(at, 1);
    if (sessions.length === 0) idle.delete(key);
    count--;
    session.onIdleEnd = null;
    return true;
  };

  return {
    take(key) {
      for (;;) {
        const last = idle.get(key)?.at(-1);
        if (last === undefined) return null;
        remove(key, last.session);
        if (last.session.isUsable) return last.session;
      }
    },
    give(key, session) {
      if (!session.isUsable) return;
      if (isClosed || count >= MAX_IDLE || session.transactionCount >= MAX_TRANSACTIONS) {
        session.quit();
        return;
      }
      const timer = setTimeout(() => {
        if (remove(key, session)) session.quit();
      }, IDLE_MS);
      const sessions = idle.get(key) ?? [];
      sessions.push({ session, timer });
      idle.set(key, sessions);
      count++;
      session.onIdleEnd = () => void remove(key, session);
    },
    close() {
      isClosed = true;
      for (const [key, sessions] of idle)
        for (const { session } of sessions.slice()) {
          remove(key, session);
          session.quit();
        }
    },
  };
}

/** Milliseconds. */
export interface OpeningLimits extends SessionLimits {
  /** for one address */
  connectMs: number;
  /** no further address is tried after this time */
  openingMs: number;
}

export interface OpeningParts {
  ehloName: string;
  limits: OpeningLimits;
  /** with the authorities that certificates are verified with; null: the default ones */
  secureContext: SecureContext | null;
}

/** No host of the route opened a session. */
export interface NoSession {
  outcome: 'deferred' | 'bounced' | 'interrupted';
  /** the last host that was tried; null when none was */
  host: string | null;
  remoteAddress: string | null;
  code: number | null;
  status: string | null;
  text: string;
  /** the destination as a whole was unreachable, or deferred us */
  verdict: 'unreachable' | 'slow' | 'refused';
}

/** What an attempt to open a session showed of a server's TLS. */
export interface TriedHost {
  name: string;
  address: string;
  /** ours; null when it is not known */
  localAddress: string | null;
  /** null: TLS with a valid certificate; `isCertificate`: TLS works, only the certificate is not valid */
  flaw: { code: string | null; isCertificate: boolean } | null;
}

/** Addresses of one route that one attempt tries. */
const MAX_ADDRESSES = 6;

/**
 * Opens a session with the first host of the route that accepts one, one address after another. When TLS fails with a server that need not
 * use it, the same address is tried once more without TLS. Never rejects.
 */
export async function openSession(
  parts: OpeningParts,
  route: Route,
  signal: AbortSignal,
  onTried: (host: RouteHost, tried: TriedHost) => void = () => undefined,
): Promise<{ session: SmtpSession } | { failure: NoSession }> {
  const startedTick = performance.now();
  const failures: NoSession[] = [];
  const places = route.hosts.flatMap((host) =>
    host.addresses.map((address) => ({
      name: host.name,
      address,
      security: { ...host.security, tls: host.security?.tls ?? route.tls },
      onTried: (tried: TriedHost) => onTried(host, tried),
    })),
  );
  for (const place of places.slice(0, MAX_ADDRESSES)) {
    let opened = await tryAddress(parts, route, place, signal);
    if ('tlsFailure' in opened && place.security.tls === 'opportunistic')
      opened = await tryAddress(parts, route, { ...place, security: { tls: 'none' }, onTried: null }, signal);
    if ('session' in opened) return opened;
    failures.push('tlsFailure' in opened ? opened.tlsFailure : opened.failure);
    if (signal.aborted || performance.now() - startedTick > parts.limits.openingMs) break;
  }
  return { failure: sumUp(failures) };
}

/** Another host may accept what one rejects permanently. If one of them only deferred, the recipient is deferred. */
function sumUp(failures: readonly NoSession[]): NoSession {
  const failure =
    failures.find(({ outcome }) => outcome === 'interrupted') ??
    failures.findLast(({ outcome }) => outcome === 'deferred') ??
    failures.at(-1);
  if (failure === undefined) throw new Error('a route has hosts with addresses');
  return failure;
}

/** One address of a host. */
interface HostAddress {
  name: string;
  address: string;
  security: Partial<HostSecurity> & Pick<HostSecurity, 'tls'>;
  /** null: it was told of this address before */
  onTried: ((tried: TriedHost) => void) | null;
}

async function tryAddress(
  parts: OpeningParts,
  route: Route,
  { name, address, security, onTried }: HostAddress,
  signal: AbortSignal,
): Promise<{ session: SmtpSession } | { failure: NoSession } | { tlsFailure: NoSession }> {
  const at = { host: name, remoteAddress: address };
  const connected = await connectTo(address, route.port, parts.limits.connectMs, signal);
  if ('error' in connected) {
    if (signal.aborted) return { failure: { ...at, ...INTERRUPTED } };
    return { failure: { ...at, ...NO_REPLY, text: connected.error, verdict: 'unreachable' } };
  }
  const { socket } = connected;
  const { remoteAddress = address, localAddress = null } = socket;
  let interrupt = null as (() => void) | null;
  const opened = await openSmtpSession(
    {
      socket,
      hostName: name,
      serverName: security.serverName ?? name,
      acceptsChain: security.acceptsChain ?? null,
      ehloName: parts.ehloName,
      tls: security.tls,
      isCertificateVerified: security.isCertificateVerified ?? route.isCertificateVerified,
      secureContext: parts.secureContext,
      credentials: route.credentials,
      limits: parts.limits,
    },
    (session) => {
      interrupt = () => session.interrupt('stopped');
      signal.addEventListener('abort', interrupt, { once: true });
    },
  );
  if (interrupt !== null) signal.removeEventListener('abort', interrupt);
  const tried = { name, address: remoteAddress, localAddress };
  if ('session' in opened) {
    onTried?.({ ...tried, flaw: toFlaw(opened.session, security.acceptsChain !== undefined) });
    return opened;
  }
  if (opened.failure.kind === 'tls-failed')
    onTried?.({
      ...tried,
      flaw: { code: opened.failure.code, isCertificate: opened.failure.code === 'TLSA_MISMATCH' },
    });
  const failure = toNoSession({ host: name, remoteAddress }, opened.failure);
  if (opened.failure.kind !== 'tls-failed') return { failure };
  const { requiredBy } = security;
  return { tlsFailure: requiredBy === undefined ? failure : { ...failure, text: `${failure.text}. ${requiredBy}` } };
}

/** `isMatched`: the certificate was found to match TLSA records, which is all that counts. */
function toFlaw({ isTls, certificateFlaw }: SmtpSession, isMatched: boolean): TriedHost['flaw'] {
  if (!isTls) return { code: 'ETLS', isCertificate: false };
  return isMatched || certificateFlaw === null ? null : { code: certificateFlaw, isCertificate: true };
}

const NO_REPLY = { outcome: 'deferred', code: null, status: '4.4.1' } as const;
const INTERRUPTED = {
  outcome: 'interrupted',
  code: null,
  status: null,
  text: INTERRUPTED_TEXTS.stopped,
  verdict: 'refused',
} as const;

function toNoSession(at: { host: string; remoteAddress: string }, failure: OpeningFailure): NoSession {
  switch (failure.kind) {
    case 'refused': {
      const { phase, reply } = failure;
      return {
        ...at,
        outcome: outcomeOfReply(reply, phase) === 'bounced' ? 'bounced' : 'deferred',
        code: reply.code,
        status: statusOfReply(reply),
        text: reply.text,
        verdict: asksToSlowDown(reply) ? 'slow' : 'refused',
      };
    }
    case 'interrupted':
      return { ...at, ...INTERRUPTED };
    case 'tls-failed':
      return { ...at, ...NO_REPLY, status: '4.7.5', text: failure.text, verdict: 'refused' };
    case 'late':
      return { ...at, ...NO_REPLY, status: '4.4.2', text: failure.text, verdict: 'slow' };
    case 'lost':
      return { ...at, ...NO_REPLY, status: '4.4.2', text: failure.text, verdict: 'refused' };
  }
}

async function connectTo(
  host: string,
  port: number,
  limitMs: number,
  signal: AbortSignal,
): Promise<{ socket: Socket } | { error: string }> {
  if (signal.aborted) return { error: '' };
  const socket = connect({ host, port });
  const { promise, resolve } = Promise.withResolvers<{ socket: Socket } | { error: string }>();
  const fail = (error: string) => {
    socket.destroy();
    resolve({ error });
  };
  const onAbort = () => fail('');
  const onError = (error: Error) => fail(isTimeout(error) ? TIMED_OUT : describeConnectionError(error));
  const timer = setTimeout(() => fail(TIMED_OUT), limitMs);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('error', onError);
  socket.once('connect', () => resolve({ socket }));
  const result = await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  socket.removeListener('error', onError);
  // Whatever follows a failure is ignored; the session has its own listeners.
  if ('error' in result) socket.on('error', () => undefined);
  return result;
}

const TIMED_OUT = 'The connection timed out';
