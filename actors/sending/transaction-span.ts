import { SpanKind } from '@opentelemetry/api';
import type { Database } from '../../db/connection/database.ts';
import { noteStage } from '../mail-spans.ts';
import type { AttemptReport } from './attempt.ts';
import type { Transaction } from './job.ts';

/** Records one attempt over SMTP, without its server's name and words: they tell who was written to. */
export function noteTransaction(
  database: Database,
  transaction: Transaction,
  startedTick: number,
  { results }: AttemptReport,
): void {
  const failed = results.find(({ outcome }) => outcome !== 'delivered');
  const told = failed ?? results[0];
  noteStage(database, [transaction], {
    name: 'smtp attempt',
    kind: SpanKind.CLIENT,
    startedTick,
    attributes: {
      'network.protocol.name': 'smtp',
      'postroom.recipients': results.length,
      'postroom.recipients.delivered': results.filter(({ outcome }) => outcome === 'delivered').length,
      'postroom.attempt': 1 + Math.max(0, ...results.map(({ job }) => job.attempts)),
      ...(told?.code == null ? {} : { 'postroom.smtp.reply_code': told.code }),
      ...(told?.isTls == null ? {} : { 'tls.established': told.isTls }),
    },
    error: failed?.outcome ?? null,
  });
}
