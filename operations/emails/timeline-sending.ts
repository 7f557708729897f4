import type { PastRecipient } from '../../db/queries/emails/email-history.ts';
import type { EmailAttempt } from '../../db/queries/emails/email-recipients.ts';
import { entry, type TimelineEntry } from './timeline-entry.ts';

/** What became of an email, or of a copy of it, at one recipient. */
export function sendingEntries(recipient: PastRecipient, attempts: readonly EmailAttempt[]): TimelineEntry[] {
  const { id: nodeId, address, deliveryId, status, settledAt, complainedAt, lastStatus, lastText } = recipient;
  const to = deliveryId === null ? address : `${address} (a copy)`;
  const word = [lastStatus, lastText].filter((part) => part !== null).join(' ');
  const detail = word === '' ? null : word;
  const isReported = status === 'bounced' && !attempts.some(({ outcome }) => outcome === 'bounced');
  return [
    ...attempts.map((attempt) => attemptEntry(attempt, to, nodeId)),
    ...(settledAt === null || !isReported
      ? []
      : [
          entry('bounced', settledAt, `A report came back for ${to}: not delivered`, {
            detail,
            isFailure: true,
            nodeId,
          }),
        ]),
    ...(settledAt === null || status !== 'failed'
      ? []
      : [entry('given-up', settledAt, `Given up for ${to}`, { detail, isFailure: true, nodeId })]),
    ...(complainedAt === null
      ? []
      : [entry('complained', complainedAt, `${to} reported it as unwanted`, { isFailure: true, nodeId })]),
  ];
}

const OUTCOMES = {
  delivered: 'taken',
  deferred: 'put off, to be tried again',
  bounced: 'refused for good',
  interrupted: 'interrupted, does not count',
} as const;

function attemptEntry(attempt: EmailAttempt, to: string, nodeId: string): TimelineEntry {
  const { number, startedAt, finishedAt, outcome, host, remoteAddress, isTls, code, enhancedStatus, text } = attempt;
  const came = outcome === null ? 'under way' : OUTCOMES[outcome];
  const server =
    remoteAddress === null
      ? null
      : `${host ?? remoteAddress}${host === null ? '' : ` [${remoteAddress}]`}, ${isTls === true ? 'over TLS' : 'without TLS'}`;
  const reply = [code, enhancedStatus, text].filter((part) => part !== null).join(' ');
  const detail = [server, reply === '' ? null : reply].filter((part) => part !== null).join(': ');
  return entry('sending-attempt', startedAt, `SMTP to ${to}, try ${number}: ${came}`, {
    detail: detail === '' ? null : detail,
    durationMs: finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime(),
    isFailure: outcome === 'bounced' || outcome === 'deferred',
    nodeId,
  });
}
