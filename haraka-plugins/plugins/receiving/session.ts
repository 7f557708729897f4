import type { Span } from '@opentelemetry/api';
import type { Connection } from 'haraka/connection.js';
import type { Reply, Request } from '../../../schema/messages.ts';
import type { SmtpLimits } from '../../settings.ts';
import type { DataReader } from './data-reader.ts';

type AcceptedRecipient = Request<'receiving.message.accept'>['recipients'][number];
export type RecipientVerdict = Reply<'receiving.recipient.check'>;

/** What we know of one connection beside Haraka. Instants are monotonic milliseconds (`performance.now()`). */
export interface Session {
  readonly connection: Connection;
  readonly startedAt: number;
  /** the client has to have sent its next command by then; Infinity while we are the ones who work */
  commandDueAt: number;
  /** start of the DATA phase */
  dataStartedAt: number;
  reader: DataReader | null;
  /** of the transaction under way */
  recipients: AcceptedRecipient[];
  isUtf8: boolean;
  /** replies to commands that made no sense */
  syntaxErrors: number;
  /** since the last message that was taken */
  idleCommands: number;
  acceptedMessages: number;
  /** reading is paused until the commands that were pipelined are answered */
  isHeldBack: boolean;
  /** of the transaction under way; null when there is none, or nothing is recorded */
  span: Span | null;
}

/** The open sessions of this process, by connection. */
export type Sessions = Map<Connection, Session>;

export function openSession(connection: Connection, limits: SmtpLimits): Session {
  const startedAt = performance.now();
  return {
    connection,
    startedAt,
    commandDueAt: startedAt + limits.commandSeconds * 1000,
    dataStartedAt: 0,
    reader: null,
    recipients: [],
    isUtf8: false,
    syntaxErrors: 0,
    idleCommands: 0,
    acceptedMessages: 0,
    isHeldBack: false,
    span: null,
  };
}

/** Begins a transaction: nothing of the last one stays. */
export function beginTransaction(session: Session): void {
  session.recipients = [];
  session.isUtf8 = false;
}

/**
 * Whether the client has used up its time. Total time counts, not silence: one byte now and then keeps nothing open.
 * The DATA phase has its grace and what the bytes so far earn at the slowest pace that is taken.
 */
export function isOverdue(session: Session, isInData: boolean, now: number, limits: SmtpLimits): boolean {
  if (!isInData) return now > session.commandDueAt;
  const earnedSeconds = (session.reader?.receivedBytes ?? 0) / limits.leastBytesPerSecond;
  return now > session.dataStartedAt + (limits.commandSeconds + earnedSeconds) * 1000;
}
