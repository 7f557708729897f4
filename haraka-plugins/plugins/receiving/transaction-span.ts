import { type Span, SpanKind } from '@opentelemetry/api';
import { beginSpan, failSpan } from '../../../actors/bus/tracing.ts';
import type { Decision } from './answer.ts';
import type { Session } from './session.ts';

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
