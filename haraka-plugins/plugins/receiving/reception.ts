import type { Connection, EnvelopeAddress } from 'haraka/connection.js';
import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { inSpan } from '../../../actors/bus/tracing.ts';
import { createCountedCache } from '../../../core/shared/sized-cache.ts';
import type { Turns } from '../../../core/shared/turns.ts';
import { receivedHeader } from '../../../core/smtp/received-header.ts';
import { MAX_MESSAGE_BYTES } from '../../../core/smtp/smtp-limits.ts';
import type { Bus } from '../../../schema/messages.ts';
import { smtpMetrics } from '../../../schema/metrics.ts';
import { MAX_RECIPIENTS, type SmtpSettings } from '../../settings.ts';
import { DataReader, type HeldBytes, noRoom, tooBig, tooManyLarge } from './data-reader.ts';
import type { Door } from './door.ts';
import { nameRecipientReason } from './door-ledger.ts';
import { mailbox } from './mailbox.ts';
import {
  beginTransaction,
  beginTransactionSpan,
  endTransactionSpan,
  type RecipientVerdict,
  type Session,
} from './session.ts';
import { close, type Decision, pass, reply } from './smtp-reply.ts';
import type { UnknownRecipients } from './unknown-recipients.ts';

/** What the decisions of a transaction need. */
export interface Reception {
  bus: Bus;
  questions: Questions;
  settings: SmtpSettings;
  log: Logger;
  held: HeldBytes;
  /** of messages that are on the disk, when they come back to memory; weights are bytes, owners accounts */
  turns: Turns;
  unknown: UnknownRecipients;
  door: Door;
}

/** Keywords and values of MAIL and RCPT (RFC 5321 §4.1.1.11), keywords in upper case. */
export type EsmtpParameters = Readonly<Record<string, string | null>>;

/** The stream in which Haraka would keep the message. Ending it would unlink a file that never existed, once per message. */
const noStream = { destroy() {} };

/** MAIL (RFC 5321 §4.1.1.2): size (RFC 1870), body kind (RFC 6152), and whether there is room. Rejects when the receiving actor is unreachable. */
export function decideMail(
  { questions }: Reception,
  session: Session,
  parameters: EsmtpParameters,
): Decision | Promise<Decision> {
  beginTransaction(session);
  beginTransactionSpan(session);
  if (session.connection.transaction !== null) session.connection.transaction.message_stream = noStream;
  session.isUtf8 = 'SMTPUTF8' in parameters;
  const { SIZE: size = null, BODY: body = null } = parameters;
  if (size !== null && !/^\d{1,20}$/.test(size)) return reply(501, '5.5.4 Bad SIZE');
  if (Number(size) > MAX_MESSAGE_BYTES) return tooBig;
  if (body !== null && !/^(7BIT|8BITMIME)$/i.test(body)) return reply(501, '5.5.4 Bad BODY');
  const decide = (hasRoom: boolean): Decision => (hasRoom ? reply(250, '2.1.0 Sender ok') : noRoom);
  const hasRoom = inSpan(session.span, () => questions.hasRoom());
  return typeof hasRoom === 'boolean' ? decide(hasRoom) : hasRoom.then(decide);
}

/** RCPT (RFC 5321 §4.1.1.3): the receiving actor decides, so that nothing is relayed. Rejects when it is unreachable. */
export function decideRecipient(
  reception: Reception,
  session: Session,
  forwardPath: EnvelopeAddress,
): Decision | Promise<Decision> {
  const { questions, settings } = reception;
  const { transaction } = session.connection;
  if (transaction === null || transaction.rcpt_to.length > MAX_RECIPIENTS)
    return reply(452, '4.5.3 Too many recipients');
  if (forwardPath.user === '') return reply(501, '5.1.3 Bad forward-path');
  // RFC 5321 §4.5.1: <postmaster> without a domain is ours.
  const recipient = forwardPath.host === '' ? `${forwardPath.user}@${settings.mailHostname}` : mailbox(forwardPath);
  const decide = (verdict: RecipientVerdict): Decision | Promise<Decision> => {
    if (verdict.verdict === 'reject') return refuseRecipient(reception, session, { ...verdict, recipient });
    const { verdict: _, ...receiver } = verdict;
    const accept = (refusal: Decision | null): Decision => {
      if (refusal !== null) return refusal;
      if (!session.recipients.some((known) => known.recipient === recipient))
        session.recipients.push({ recipient, ...receiver });
      return reply(250, '2.1.5 Recipient ok');
    };
    const refusal = reception.door.judge(session, {
      recipient,
      workspaceId: verdict.workspaceId,
      isReply: verdict.replyAddressId !== undefined,
    });
    return refusal instanceof Promise ? refusal.then(accept) : accept(refusal);
  };
  const from = mailbox(transaction.mail_from);
  const verdict = inSpan(session.span, () => questions.checkRecipient(recipient, from));
  return verdict instanceof Promise ? verdict.then(decide) : decide(verdict);
}

/** Refuses a recipient, later and later the more of them a client guesses, and ends its session at last. */
function refuseRecipient(
  { unknown, door, log }: Reception,
  session: Session,
  {
    code,
    enhancedCode,
    text,
    workspaceId,
    recipient,
  }: Extract<RecipientVerdict, { verdict: 'reject' }> & {
    recipient: string;
  },
): Decision | Promise<Decision> {
  const refused = { reason: nameRecipientReason(code, workspaceId), workspaceId, recipient };
  const refusal = reply(code, `${enhancedCode} ${text}`);
  if (code < 500) return door.refuse(session, { ...refused, decision: refusal });
  const { connection } = session;
  if (session.door.isTrusted && !isLoopback(connection)) return door.refuse(session, { ...refused, decision: refusal });
  session.unknownRecipients += 1;
  smtpMetrics.unknownRecipients.inc();
  const decide = (isEnded: boolean): Decision => {
    if (!isEnded) return door.refuse(session, { ...refused, decision: refusal });
    smtpMetrics.sessionsEnded.inc({ reason: 'unknown_recipients' });
    log.info({
      event: 'smtp.unknown-recipients',
      session: connection.uuid,
      remoteAddress: connection.remote.ip,
      count: session.unknownRecipients,
    });
    const decision = close(421, '4.7.0 Too many unknown recipients, try again later');
    return door.refuse(session, { ...refused, decision });
  };
  const isEnded = unknown.count(connection.remote.ip, session.unknownRecipients);
  return isEnded instanceof Promise ? isEnded.then(decide) : decide(isEnded);
}

/** DATA: starts to read, unless this process already holds too much. */
export function decideData({ held }: Reception, session: Session): Decision {
  // Half is reserved for messages in transit.
  if (held.sum > held.limit / 2) return noRoom;
  session.reader?.release();
  session.reader = new DataReader(held, new Set(session.recipients.map(({ ownAddress }) => ownAddress)));
  session.dataStartedAt = performance.now();
  return pass;
}

/** Offers a message to those who store it, and returns the reply. Rejects when it is unknown whether they did. */
type Offer = (reception: Reception, session: Session, bytes: Buffer) => Promise<Decision>;

/** End of data: 250 only when the message is stored. Rejects when that is unknown. */
export async function decideMessage(reception: Reception, session: Session, offerTo: Offer): Promise<Decision> {
  const { connection, reader, span } = session;
  if (reader === null || connection.transaction === null) throw new Error('end of data without a transaction');
  // From here on this function releases the reader and the span, even when the session ends first.
  session.reader = null;
  session.span = null;
  const startedAt = performance.now();
  const { sizeBytes, bytes } = reader;
  let decision = reader.refusal;
  try {
    decision ??= await inSpan(span, () =>
      bytes === null ? offerInTurn(reception, session, { reader, offerTo }) : offerTo(reception, session, bytes),
    );
    return decision;
  } finally {
    reader.release();
    endTransactionSpan(span, recipientCount(session), decision);
    const seconds = (performance.now() - startedAt) / 1_000;
    const code = decision === null || decision.kind === 'pass' ? 451 : decision.code;
    smtpMetrics.messageSeconds.observe({ outcome: toOutcome(code) }, seconds);
    if (code === 250) smtpMetrics.acceptedBytes.inc(sizeBytes);
    reception.log.info({
      event: 'smtp.message',
      session: connection.uuid,
      remoteAddress: connection.remote.ip,
      recipients: recipientCount(session),
      sizeBytes,
      reply: decision === null || decision.kind === 'pass' ? null : `${decision.code} ${decision.text}`,
      durationMs: Math.round(performance.now() - startedAt),
    });
  }
}

/** How long a large message waits for its turn; milliseconds. Clients wait ten minutes for the reply (RFC 5321 §4.5.3.2.6). */
export const TURN_LIMIT_MS = 25_000;

/** Offers a message that is on the disk, once there is room for it in memory. Accounts take turns. */
async function offerInTurn(
  reception: Reception,
  session: Session,
  { reader, offerTo }: { reader: DataReader; offerTo: Offer },
): Promise<Decision> {
  const { turns, log, settings } = reception;
  const { connection, recipients, keySha256 } = session;
  settings.fault('smtp.spooled');
  const gone = new AbortController();
  const giveUp = () => gone.abort();
  connection.client.once('close', giveUp);
  const limit = setTimeout(giveUp, TURN_LIMIT_MS);
  const owner = recipients[0]?.workspaceId ?? keySha256 ?? '';
  const end = await turns.enter(owner, reader.sizeBytes, gone.signal).catch(() => null);
  clearTimeout(limit);
  connection.client.removeListener('close', giveUp);
  if (end === null) return tooManyLarge;
  try {
    const bytes = await reader.load().catch((error: unknown) => {
      log.error({ event: 'smtp.spool-failed', session: connection.uuid, err: error });
      return null;
    });
    settings.fault('smtp.loaded');
    return bytes === null ? noRoom : await offerTo(reception, session, bytes);
  } finally {
    end();
  }
}

function toOutcome(code: number): 'accepted' | 'deferred' | 'refused' {
  if (code < 400) return 'accepted';
  return code < 500 ? 'deferred' : 'refused';
}

/** Asks the receiving actor to store a message. */
export async function offer(reception: Reception, session: Session, bytes: Buffer): Promise<Decision> {
  const { bus, settings, door } = reception;
  settings.fault('smtp.before-ask');
  const result = await bus.ask('receiving.message.accept', envelope(settings, session), { bytes });
  settings.fault('smtp.after-reply');
  switch (result.verdict) {
    case 'accepted':
      session.acceptedMessages += 1;
      session.idleCommands = 0;
      return reply(
        250,
        `2.0.0 Ok: ${result.isRepeated === true ? 'accepted before' : 'queued'} as ${result.emailIds[0] ?? 'nothing'}`,
      );
    case 'refused': {
      const decision = reply(result.code, `${result.enhancedCode} ${result.text}`);
      const reason = result.reason ?? (result.code < 500 ? 'unavailable' : 'content');
      for (const { recipient, workspaceId } of session.recipients)
        door.refuse(session, { reason, workspaceId, recipient, decision });
      return decision;
    }
    default:
      return result satisfies never;
  }
}

function envelope(settings: SmtpSettings, { connection, recipients, isUtf8 }: Session) {
  const { transaction, remote, hello, tls } = connection;
  const hop = {
    helo: hello.host ?? '',
    remoteAddress: remote.ip,
    ownHostname: settings.mailHostname,
    isExtended: hello.verb === 'EHLO',
    isTls: tls.enabled,
    isUtf8,
    id: transaction?.uuid ?? connection.uuid,
    recipients: recipients.map(({ recipient }) => recipient),
    receivedAt: new Date(),
  };
  return {
    reversePath: mailbox(transaction?.mail_from ?? null),
    recipients,
    remoteAddress: remote.ip,
    helo: hop.helo,
    isTls: hop.isTls,
    traceFields: receivedHeader(hop),
  };
}

/** Returns the reply that ends an unwanted session at its start, or null. */
export function refuseConnection(
  { settings: { limits } }: Reception,
  connection: Connection,
  openCount: number,
  openOfClient: number,
): Decision {
  if (openCount > limits.connections) {
    smtpMetrics.sessionsRefused.inc({ reason: 'connections' });
    return close(421, '4.3.2 Too many connections, please try again later');
  }
  if (isLoopback(connection) || openOfClient <= limits.connectionsPerAddress) return pass;
  smtpMetrics.sessionsRefused.inc({ reason: 'connections_per_address' });
  return close(421, '4.7.0 Too many connections from your address');
}

function isLoopback({ remote }: Connection): boolean {
  const ip = remote.ip.replace(/^::ffff:(?=\d+\.)/i, '');
  return ip === '127.0.0.1' || ip === '::1';
}

function recipientCount({ purpose, recipients, submittedTo }: Session): number {
  return (purpose === 'submission' ? submittedTo : recipients).length;
}

/** How long an accepting verdict is reused, milliseconds (docs: speed of RCPT); dropped at once when routing changes. */
const VERDICT_LIFETIME_MS = 5_000;
const MAX_VERDICTS = 10_000;
/** How long the reply about disk space is reused, milliseconds. */
const CAPACITY_LIFETIME_MS = 1_000;

/** Asks the receiving actor, and caches replies that do not depend on the message. */
export interface Questions {
  /** Whether mail to this forward-path is accepted. Rejects like Bus.ask. */
  checkRecipient(recipient: string, reversePath: string): Promise<RecipientVerdict> | RecipientVerdict;
  /** Whether there is disk space for a message. Rejects like Bus.ask. */
  hasRoom(): Promise<boolean> | boolean;
  /** Drops cached verdicts on recipients. */
  forget(): void;
  stop(): Promise<void>;
}

interface Remembered<T> {
  value: T;
  until: number;
}

function newVerdicts(): LRUCache<string, Remembered<RecipientVerdict>> {
  return createCountedCache(MAX_VERDICTS);
}

/**
 * A verdict depends on the recipient alone, so it is cached by recipient; that on a reply address also on its sender and its earlier mail. Only accepting verdicts are cached: a refused address may be
 * created the next moment, and its owner tries at once. A reply from before a change is not cached after it.
 */
export function rememberReplies(bus: Bus): Questions {
  let verdicts = newVerdicts();
  let room: Remembered<boolean> | null = null;
  let roomAsked: Promise<boolean> | null = null;
  const forget = (): void => {
    verdicts = newVerdicts();
  };
  const subscription = bus.subscribe('routing.changed', forget);

  const askVerdict = async (recipient: string, reversePath: string): Promise<RecipientVerdict> => {
    const generation = verdicts;
    const value = await bus.ask('receiving.recipient.check', { recipient, reversePath });
    if (value.verdict === 'accept' && value.replyAddressId === undefined) {
      generation.set(recipient, { value, until: performance.now() + VERDICT_LIFETIME_MS });
    }
    return value;
  };
  const askRoom = async (): Promise<boolean> => {
    try {
      const { hasRoom } = await bus.ask('receiving.capacity.check', {});
      room = { value: hasRoom, until: performance.now() + CAPACITY_LIFETIME_MS };
      return hasRoom;
    } finally {
      roomAsked = null;
    }
  };

  return {
    checkRecipient(recipient, reversePath) {
      const known = verdicts.get(recipient);
      if (known !== undefined && known.until > performance.now()) return known.value;
      return askVerdict(recipient, reversePath);
    },
    hasRoom() {
      if (room !== null && room.until > performance.now()) return room.value;
      roomAsked ??= askRoom();
      return roomAsked;
    },
    forget,
    stop: () => subscription.stop(),
  };
}
