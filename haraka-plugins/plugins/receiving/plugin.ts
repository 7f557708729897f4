import type { Connection, EnvelopeAddress } from 'haraka/connection.js';
import constants from 'haraka-constants';
import type { Logger } from 'pino';
import { maxGuessDelayMs } from '../../../core/screening/door/guess-score.ts';
import { clientNetwork } from '../../../core/shared/network-address.ts';
import { createTurns } from '../../../core/shared/turns.ts';
import { MAX_MESSAGE_BYTES } from '../../../core/smtp/smtp-limits.ts';
import type { Bus } from '../../../schema/messages.ts';
import { smtpMetrics } from '../../../schema/metrics.ts';
import { defaultSmtpLimits, type SmtpSettings } from '../../settings.ts';
import { replaceConnectionMethods, toSocket } from './connection-methods.ts';
import { createDoor } from './door.ts';
import { leaveOutWhatOthersUse } from './lean-hooks.ts';
import {
  decideData,
  decideMail,
  decideMessage,
  decideRecipient,
  type EsmtpParameters,
  offer,
  type Reception,
  refuseConnection,
  rememberReplies,
  TURN_LIMIT_MS,
} from './reception.ts';
import { logRefusedCertificate } from './refused-certificate.ts';
import { endAbandonedSpan, isOverdue, openSession, type Session, type Sessions } from './session.ts';
import { close, type Decision, decideHook, type Next, pass, reply } from './smtp-reply.ts';
import type { SpoolSpace } from './spool.ts';
import { type AuthStep, authenticate, decideSubmittedMail, decideSubmittedRecipient, submit } from './submission.ts';
import { limitUnknownRecipients } from './unknown-recipients.ts';

/** The Haraka plugin: `reception.ts` makes the decision of each hook; this file holds the wiring and the life cycle of sessions. */

/** What `start.ts` passes before Haraka loads the plugin. */
export interface Equipment {
  bus: Bus;
  settings: SmtpSettings;
  log: Logger;
  spools: SpoolSpace | null;
}

/** Time limit of a decision that asks the bus, above the limits of the questions (8 s and 30 s). */
const QUESTION_LIMIT_MS = 9_000;
/** A large message waits for its turn before. */
const MESSAGE_LIMIT_MS = 35_000 + TURN_LIMIT_MS;
/** The same for a recipient, which is delayed when it is unknown: unknown-recipients.ts. */
const RECIPIENT_LIMIT_MS = QUESTION_LIMIT_MS + maxGuessDelayMs(defaultSmtpLimits);
const HANDSHAKE_LIMIT_MS = 25_000;
/** How long a client may keep the socket open after we ended the session. */
const LINGER_MS = 5_000;
const SWEEP_MS = 1_000;
const DRAIN_SWEEP_MS = 50;
/** Time limits of a drain, for sessions that are still busy. */
const LAST_WORDS_MS = 1_000;

const sessions: Sessions = new Map();
/** by clientNetwork */
const sessionsOfClient = new Map<string, number>();
const { state: states } = constants.connection;
let reception: Reception | null = null;
let isDraining = false;

/** Must be called once, before Haraka loads the plugin. */
export function equip({ bus, settings, log, spools }: Equipment): void {
  reception = {
    bus,
    questions: rememberReplies(bus),
    settings,
    log,
    held: { sum: 0, limit: settings.limits.heldBytes, spools },
    turns: createTurns(settings.limits.offeredBytes),
    unknown: limitUnknownRecipients(settings.limits, bus, log),
    door: createDoor(settings, bus, log),
  };
}

/** Continues with what is known about clients from before the start, as soon as that is known. */
export function recallClients(): void {
  void reception?.unknown.recall();
}

/** Drops remembered verdicts on recipients, because announcements of changes may have been missed. */
export function forgetReplies(): void {
  reception?.questions.forget();
}

/**
 * Ends each session when it is between two transactions: transactions in progress are finished, so that clients need not repeat them.
 * Sessions that are still busy are ended shortly before the limit, and disconnected when it is reached.
 */
export async function drain(limitMs: number): Promise<void> {
  isDraining = true;
  equipped().unknown.release();
  const endAt = performance.now() + limitMs;
  while (sessions.size > 0 && performance.now() < endAt) {
    const isNear = performance.now() > endAt - LAST_WORDS_MS;
    for (const { connection } of sessions.values()) {
      const isWaiting = connection.state === states.CMD || connection.state === states.LOOP;
      const isAtRest = isWaiting && connection.transaction == null && (connection.current_data?.length ?? 0) === 0;
      const mustEnd = isNear && (isWaiting || connection.state === states.DATA);
      if (isAtRest || mustEnd) shut(connection, '4.3.2 Shutting down', 'draining');
    }
    await new Promise((resolve) => setTimeout(resolve, DRAIN_SWEEP_MS));
  }
  for (const { connection } of sessions.values()) connection.client.destroy();
  await equipped().door.stop();
  await equipped().questions.stop();
}

/** Called by Haraka when it loads the plugin. */
export function register(): void {
  const { settings } = equipped();
  replaceConnectionMethods({ sessions, limits: settings.limits, log });
  leaveOutWhatOthersUse();
  setInterval(endOverdue, SWEEP_MS).unref();
}

export const hook_connect_init = hook('connect_init', QUESTION_LIMIT_MS, (connection) => {
  const { settings, door } = equipped();
  // Replies are small and the client waits for each: Nagle's algorithm costs 40 ms.
  toSocket(connection).setNoDelay(true);
  connection.set('local.host', settings.mailHostname);
  connection.set('local.info', 'Postroom');
  const purpose = findPort(connection) === settings.port ? 'reception' : 'submission';
  // Haraka refuses MAIL on 465 and 587 by itself, before decideSubmittedMail gives the reason.
  if (purpose === 'submission') connection.relaying = true;
  connection.client.once('error', (error: unknown) => logRefusedCertificate(log(), error, connection.remote.ip));
  sessions.set(
    connection,
    openSession(connection, purpose, { limits: settings.limits, door: door.meet(connection.remote.ip, purpose) }),
  );
  smtpMetrics.sessions.inc();
  smtpMetrics.sessionsOpen.set(sessions.size);
  sessionsOfClient.set(clientNetwork(connection.remote.ip), countOpen(connection) + 1);
  return pass;
});

/** Calls back at once, so that Haraka does not look up the PTR record: the name is not used. */
export function hook_lookup_rdns(next: Next): void {
  next(constants.ok, '');
}

export const hook_connect = hook('connect', QUESTION_LIMIT_MS, (connection) => {
  connection.set('remote.host', '');
  if (isDraining) {
    smtpMetrics.sessionsRefused.inc({ reason: 'draining' });
    return close(421, '4.3.2 Shutting down');
  }
  const refusal = refuseConnection(equipped(), connection, sessions.size, countOpen(connection));
  if (refusal.kind !== 'pass') return refusal;
  const greeted = equipped().door.greet(toSession(connection));
  return greeted instanceof Promise ? greeted.then((decision) => decision ?? pass) : (greeted ?? pass);
});

export const hook_capabilities = hook('capabilities', QUESTION_LIMIT_MS, (connection) => {
  connection.capabilities = connection.capabilities.filter((line) => !line.startsWith('SIZE '));
  connection.capabilities.push(`SIZE ${MAX_MESSAGE_BYTES}`);
  if (!connection.tls.enabled) connection.capabilities.push('STARTTLS');
  if (toSession(connection).purpose === 'reception') return pass;
  // Outgoing mail has ASCII addresses.
  connection.capabilities = connection.capabilities.filter((line) => line !== 'SMTPUTF8');
  if (connection.tls.enabled) connection.capabilities.push('AUTH PLAIN LOGIN');
  return pass;
});

export const hook_unrecognized_command = hook<string[]>(
  'unrecognized_command',
  HANDSHAKE_LIMIT_MS,
  (connection, [command, parameter]) => {
    const session = toSession(connection);
    if (session.purpose === 'submission' && command?.toUpperCase() === 'AUTH')
      return takeAuthStep(session, authenticate(equipped(), session, parameter ?? ''));
    if (command?.toUpperCase() !== 'STARTTLS') return pass;
    if (connection.tls.enabled) return reply(503, '5.5.1 TLS is active already');
    if (parameter) return reply(501, '5.5.4 STARTTLS takes no parameter');
    return startTls(connection);
  },
);

export const hook_mail = hook<[EnvelopeAddress, EsmtpParameters]>('mail', QUESTION_LIMIT_MS, (connection, [, given]) =>
  (toSession(connection).purpose === 'submission' ? decideSubmittedMail : decideMail)(
    equipped(),
    toSession(connection),
    given,
  ),
);

export const hook_rcpt = hook<[EnvelopeAddress]>('rcpt', RECIPIENT_LIMIT_MS, (connection, [forwardPath]) =>
  toSession(connection).purpose === 'submission'
    ? decideSubmittedRecipient(toSession(connection), forwardPath)
    : decideRecipient(equipped(), toSession(connection), forwardPath),
);

export const hook_data = hook('data', QUESTION_LIMIT_MS, (connection) => decideData(equipped(), toSession(connection)));

export const hook_queue = hook('queue', MESSAGE_LIMIT_MS, (connection) =>
  decideMessage(equipped(), toSession(connection), toSession(connection).purpose === 'submission' ? submit : offer),
);

export const hook_disconnect = hook('disconnect', QUESTION_LIMIT_MS, (connection) => {
  const session = sessions.get(connection);
  if (session === undefined) return pass;
  sessions.delete(connection);
  smtpMetrics.sessionsOpen.set(sessions.size);
  const client = clientNetwork(connection.remote.ip);
  const others = countOpen(connection) - 1;
  if (others > 0) sessionsOfClient.set(client, others);
  else sessionsOfClient.delete(client);
  // A message that is being decided is released by its decision.
  session.reader?.release();
  endAbandonedSpan(session);
  const linger = setTimeout(() => connection.client.destroy(), LINGER_MS).unref();
  connection.client.once('close', () => clearTimeout(linger));
  logEnd(session);
  return pass;
});

/** Haraka's log levels mapped to ours; anything below them is dropped. */
const levels: Readonly<Record<string, 'warn' | 'error'>> = {
  WARN: 'warn',
  ERROR: 'error',
  CRIT: 'error',
  ALERT: 'error',
  EMERG: 'error',
};

/** Haraka's own messages, in our log. */
export function hook_log(next: Next, _logger: unknown, item: { level: string; data: string }): void {
  log()[levels[item.level] ?? 'debug']({ event: 'haraka', text: item.data });
  next(constants.ok);
}

function hook<P = unknown>(
  name: string,
  limitMs: number,
  decide: (connection: Connection, params: P) => Decision | Promise<Decision>,
) {
  return decideHook<P>(name, limitMs, decide, log);
}

function equipped(): Reception {
  if (reception === null) throw new Error('equip() was not called');
  return reception;
}

function log(): Logger {
  return equipped().log;
}

function toSession(connection: Connection): Session {
  const session = sessions.get(connection);
  if (session === undefined) throw new Error('no session');
  return session;
}

/** Returns how many sessions the client network of this session has open. */
function countOpen({ remote }: Connection): number {
  return sessionsOfClient.get(clientNetwork(remote.ip)) ?? 0;
}

function endOverdue(): void {
  smtpMetrics.heldBytes.set(equipped().held.sum);
  const now = performance.now();
  for (const session of sessions.values()) {
    const { connection } = session;
    const isInData = connection.state === states.DATA;
    if (isOverdue(session, isInData, now, equipped().settings.limits)) shut(connection, '4.4.2 Timeout', 'timeout');
  }
}

function shut(connection: Connection, text: string, reason: 'draining' | 'timeout'): void {
  smtpMetrics.sessionsEnded.inc({ reason });
  connection.respond(421, text, () => connection.disconnect());
}

/**
 * Sends a challenge and lets the client's next line answer it, or sends the outcome. Haraka sends no reply of a hook to an unknown command
 * whose code is below 400, so this does.
 */
async function takeAuthStep(session: Session, step: AuthStep): Promise<Decision> {
  const { connection } = session;
  if ('challenge' in step) {
    session.takeLine = (line) => void continueAuth(session, step.next(line));
    connection.respond(334, step.challenge);
    return reply(334, step.challenge);
  }
  const decision = await step.catch((error: unknown) => {
    log().warn({ event: 'smtp.trouble', hook: 'auth', session: connection.uuid, err: error });
    return authTrouble;
  });
  if (decision.kind !== 'pass' && decision.code < 400) connection.respond(decision.code, decision.text);
  return decision;
}

async function continueAuth(session: Session, step: AuthStep): Promise<void> {
  const { connection } = session;
  const decision = await takeAuthStep(session, step);
  if (decision.kind === 'pass' || decision.code < 400) return;
  smtpMetrics.replies.inc({ stage: 'auth', code: decision.code });
  connection.respond(decision.code, decision.text, () => {
    if (decision.kind === 'close') connection.disconnect();
  });
}

const authTrouble = reply(454, '4.7.0 Temporary authentication failure');

/** The port of the listener; that of the connection may be the proxy's. */
function findPort({ server }: Connection): number | null {
  const address = server.address();
  return address === null || typeof address === 'string' ? null : address.port;
}

/** RFC 3207: input received in the clear after the command is dropped, and the session starts over with EHLO. */
function startTls(connection: Connection): Promise<Decision> {
  connection.current_data = null;
  const result = reply(220, '2.0.0 Ready to start TLS');
  connection.respond(220, '2.0.0 Ready to start TLS');
  return new Promise((resolve) => {
    // Such as a client that refuses the certificate.
    connection.client.once('error', () => resolve(result));
    connection.client.upgrade((verified, verifyError, peerCertificate, cipher) => {
      connection.reset_transaction(() => {
        connection.setTLS({ cipher, verified, verifyError, peerCertificate });
        resolve(result);
      });
    });
  });
}

function logEnd(session: Session): void {
  const { connection, startedAt, acceptedMessages, syntaxErrors } = session;
  if (
    session.purpose === 'submission' &&
    connection.tls.enabled &&
    session.keySha256 === null &&
    session.authFailures === 0
  )
    log().info(
      { event: 'smtp.submission-unused', remoteAddress: connection.remote.ip },
      'a client ended a session of submission after TLS without signing in: it may not trust the certificate (docs/submission.md)',
    );
  log().debug({
    event: 'smtp.session',
    session: connection.uuid,
    remoteAddress: connection.remote.ip,
    isTls: connection.tls.enabled,
    acceptedMessages,
    syntaxErrors,
    durationMs: Math.round(performance.now() - startedAt),
  });
}
