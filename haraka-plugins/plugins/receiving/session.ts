import { type Span, SpanKind } from '@opentelemetry/api';
import type { Connection } from 'haraka/connection.js';
import { beginSpan, failSpan } from '../../../actors/bus/tracing.ts';
import type { Reply, Request } from '../../../schema/messages.ts';
import type { SmtpLimits } from '../../settings.ts';
import type { DataReader } from './data-reader.ts';
import type { DoorState } from './door-state.ts';
import type { Decision } from './smtp-reply.ts';

type AcceptedRecipient = Request<'receiving.message.accept'>['recipients'][number];
export type RecipientVerdict = Reply<'receiving.recipient.check'>;

/** What we know about a connection in addition to Haraka. Instants are monotonic milliseconds (`performance.now()`). */
export interface Session {
  readonly connection: Connection;
  readonly startedAt: number;
  /** deadline for the client's next command; Infinity while we are working */
  commandDueAt: number;
  /** start of the DATA phase */
  dataStartedAt: number;
  reader: DataReader | null;
  /** what decides whether its mail is refused before it is accepted */
  readonly door: DoorState;
  /** receives mail for our domains, or takes mail that clients submit */
  readonly purpose: 'reception' | 'submission';
  /** of the API key with which the client authenticated; null before, and in reception */
  keySha256: string | null;
  /** wrong keys so far */
  authFailures: number;
  /** takes the client's next line instead of Haraka: the response to a challenge */
  takeLine: ((line: string) => void) | null;
  /** of the transaction in progress, in submission */
  submittedTo: string[];
  /** of the transaction in progress, in reception */
  recipients: AcceptedRecipient[];
  isUtf8: boolean;
  /** error replies so far */
  syntaxErrors: number;
  /** recipients so far that do not exist */
  unknownRecipients: number;
  /** commands since the last accepted message */
  idleCommands: number;
  acceptedMessages: number;
  /** reading is paused until the pipelined commands have their replies */
  isHeldBack: boolean;
  /** of the transaction in progress; null without one, or when nothing is recorded */
  span: Span | null;
}

/** The open sessions of this process, by connection. */
export type Sessions = Map<Connection, Session>;

export function openSession(
  connection: Connection,
  purpose: Session['purpose'],
  { limits, door }: { limits: SmtpLimits; door: DoorState },
): Session {
  const startedAt = performance.now();
  return {
    connection,
    startedAt,
    commandDueAt: startedAt + limits.commandSeconds * 1000,
    dataStartedAt: 0,
    reader: null,
    door,
    purpose,
    keySha256: null,
    authFailures: 0,
    takeLine: null,
    submittedTo: [],
    recipients: [],
    isUtf8: false,
    syntaxErrors: 0,
    unknownRecipients: 0,
    idleCommands: 0,
    acceptedMessages: 0,
    isHeldBack: false,
    span: null,
  };
}

/** Begins a transaction: resets what the last one left. */
export function beginTransaction(session: Session): void {
  session.recipients = [];
  session.submittedTo = [];
  session.isUtf8 = false;
}

/**
 * Whether the client has used up its time. Total time counts, not silence, so that sending one byte now and then keeps nothing open. The
 * DATA phase gets a grace period, plus the time that its bytes so far take at the minimum rate.
 */
export function isOverdue(session: Session, isInData: boolean, now: number, limits: SmtpLimits): boolean {
  if (!isInData) return now > session.commandDueAt;
  const earnedSeconds = (session.reader?.receivedBytes ?? 0) / limits.leastBytesPerSecond;
  return now > session.dataStartedAt + (limits.commandSeconds + earnedSeconds) * 1000;
}

/** Begins a trace with the transaction, and ends the span of one that the client abandoned. */
export function beginTransactionSpan(session: Session): void {
  endAbandonedSpan(session);
  const { connection } = session;
  session.span = beginSpan('smtp transaction', {
    kind: SpanKind.SERVER,
    attributes: {
      'session.id': connection.uuid,
      'network.protocol.name': 'smtp',
      'tls.established': connection.tls.enabled,
    },
  });
}

/** Ends the span with the reply to the message; null when the outcome is unknown and the reply was 451. */
export function endTransactionSpan(span: Span | null, recipients: number, decision: Decision | null): void {
  if (span === null) return;
  const code = decision === null || decision.kind === 'pass' ? null : decision.code;
  span.setAttribute('postroom.recipients', recipients);
  if (code !== null) span.setAttribute('postroom.smtp.reply_code', code);
  if (code === null || code >= 400) failSpan(span, code === null ? 'trouble' : String(code));
  span.end();
}

/** Ends the span of a transaction without a message, which ended by RSET, the next MAIL, or the end of its session. */
export function endAbandonedSpan(session: Session): void {
  const { span } = session;
  session.span = null;
  if (span === null) return;
  failSpan(span, 'abandoned');
  span.end();
}
