import { z } from 'zod';
import type { ActionLog } from '../../core/endpoints/actions.ts';
import { explainRoute } from '../../core/routing/explain-route.ts';
import type { GuardMatch } from '../../core/routing/guard-rule.ts';
import { readStoredVerdicts, type StoredVerdict } from '../../core/routing/stored-verdict.ts';
import { adviceOn } from '../../core/sending/refusal-advice.ts';
import { lastReplyText } from '../../core/smtp/delivery-status.ts';
import { describeThreadReason } from '../../core/threads/threading.ts';
import type { EmailOrigin, HandEvent, PastDelivery, PastRecipient } from '../../db/queries/emails/email-history.ts';
import type { EmailAttempt } from '../../db/queries/emails/email-recipients.ts';
import type { DeliveryAttempt } from '../../db/queries/endpoints/delivery-row.ts';
import type { RouteReferences } from '../../db/queries/routing/route-read.ts';

/** The kinds of timeline entries. */
export const TIMELINE_KINDS = [
  'accepted',
  'repeated',
  'created',
  'authenticated',
  'screened',
  'parsed',
  'threaded',
  'asked',
  'routed',
  'held',
  'released',
  'delivery-requested',
  'delivery-attempt',
  'action',
  'delivery-ended',
  'queued',
  'sending-attempt',
  'bounced',
  'given-up',
  'complained',
  'rescheduled',
  'paused',
  'resumed',
  'cancelled',
  'approval-requested',
  'approved',
  'rejected',
  'read',
  'unread',
  'archived',
  'unarchived',
  'reprocessed',
  'spam',
  'not-spam',
] as const;
type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** An event in the history of an email. */
export interface TimelineEntry {
  kind: TimelineKind;
  /** the start of an attempt or question; the end of a processing step */
  at: Date;
  /** in one line */
  title: string;
  /** more text; null: the title says it all */
  detail: string | null;
  /** null: unknown or not applicable */
  durationMs: number | null;
  isFailure: boolean;
  /** the id of the object it refers to; null: none */
  nodeId: string | null;
}

/** Returns an entry with defaults for everything but its title. */
function entry(
  kind: TimelineKind,
  at: Date,
  title: string,
  more: Partial<Omit<TimelineEntry, 'kind' | 'at' | 'title'>> = {},
): TimelineEntry {
  return { kind, at, title, detail: null, durationMs: null, isFailure: false, nodeId: null, ...more };
}

/** Returns how an email was received, parsed, threaded and routed, or how it was created. */
export function originEntries(origin: EmailOrigin, rules: RouteReferences['rules']): TimelineEntry[] {
  return origin.type === 'received' ? receivedEntries(origin, rules) : madeEntries(origin);
}

function madeEntries({ createdAt, releasedAt, isScheduled, hasApproval }: EmailOrigin): TimelineEntry[] {
  const created = hasApproval ? 'Written' : isScheduled ? 'Written and scheduled' : 'Written and queued';
  return [
    entry('created', createdAt, created),
    ...(releasedAt === null ? [] : [entry('queued', releasedAt, 'Due: queued for sending')]),
  ];
}

function receivedEntries(origin: EmailOrigin, rules: RouteReferences['rules']): TimelineEntry[] {
  const { reception, route, parseError } = origin;
  const parsedAt = reception?.parsedAt ?? null;
  return [
    acceptedEntry(origin),
    ...repeatedEntries(origin),
    ...(parsedAt === null ? [] : authenticatedEntries(origin.authentication, parsedAt)),
    ...(parsedAt === null ? [] : screenedEntries(origin.screening, parsedAt)),
    ...(parsedAt === null
      ? []
      : [
          entry('parsed', parsedAt, parseError === null ? 'Parsed' : 'Could not be parsed', {
            detail: parseError === null ? null : `The original is stored: ${parseError}`,
            durationMs: span(origin.createdAt, parsedAt),
            isFailure: parseError !== null,
          }),
        ]),
    ...(route === null
      ? []
      : [
          entry('threaded', route.threaded_at, 'Threaded', {
            detail: threadText(origin),
            durationMs: span(parsedAt ?? origin.createdAt, route.threaded_at),
            nodeId: origin.threadId,
          }),
        ]),
    ...readStoredVerdicts(origin.verdicts).map((verdict) => askedEntry(verdict, rules)),
    ...routedEntries(origin),
  ];
}

function acceptedEntry({ reception, createdAt, recipient, ownAddress }: EmailOrigin): TimelineEntry {
  const to = recipient ?? ownAddress;
  const own = to.toLowerCase() === ownAddress ? '' : ` (address ${ownAddress})`;
  if (reception === null) return entry('accepted', createdAt, 'Accepted', { detail: `For ${to}${own}.` });
  const from = reception.reversePath === '' ? 'the null return address' : reception.reversePath;
  if (reception.isTest)
    return entry('accepted', reception.acceptedAt, 'Test message created by you', {
      detail: `From ${from} for ${to}${own}. It was not received over SMTP.`,
    });
  if (reception.isImported)
    return entry('accepted', reception.acceptedAt, 'Imported by you', {
      detail: `From ${from} for ${to}${own}. It was not received over SMTP, and its sender was not checked.`,
    });
  return entry('accepted', reception.acceptedAt, 'Accepted by SMTP', {
    detail: `MAIL FROM ${from}, RCPT TO ${to}${own}. Received from ${reception.remoteAddress}, HELO ${reception.helo}, ${reception.isTls ? 'over TLS' : 'without TLS'}.`,
  });
}

function repeatedEntries({ reception }: EmailOrigin): TimelineEntry[] {
  if (reception === null || reception.repeatedAt === null) return [];
  const { repeatCount, repeatedAt, remoteAddress } = reception;
  const title =
    repeatCount === 1 ? 'Sent again, not stored again' : `Sent again ${repeatCount} times, not stored again`;
  return [
    entry('repeated', repeatedAt, title, {
      detail: `${remoteAddress} repeated the message, as clients do that did not receive the reply 250. ${repeatCount === 1 ? 'It got' : 'This is the time of the last repetition. Each got'} the reply “accepted before”.`,
    }),
  ];
}

const verdict = z.object({ result: z.string(), domain: z.string().nullable() });
/** The displayed part of email_content.authentication (core/mime/authentication.ts). */
const verdicts = z
  .object({ spf: verdict, dkim: z.array(verdict), dmarc: verdict.extend({ policy: z.string().nullable() }) })
  .nullable();

function authenticatedEntries(stored: unknown, at: Date): TimelineEntry[] {
  const found = verdicts.parse(stored ?? null);
  if (found === null) return [];
  const { spf, dkim, dmarc } = found;
  const signatures = dkim.map(({ result, domain }) => `DKIM ${result}${of(domain)}`);
  const isFailure = dmarc.result === 'fail';
  const words = [
    `SPF ${spf.result}${of(spf.domain)}`,
    ...(signatures.length === 0 ? ['no DKIM signature'] : signatures),
  ];
  const policy = dmarc.policy === null ? '' : `, domain policy ${dmarc.policy}`;
  return [
    entry('authenticated', at, isFailure ? 'DMARC failed' : `DMARC ${dmarc.result}`, {
      detail: `${words.join('; ')}; DMARC ${dmarc.result}${of(dmarc.domain)}${policy}.`,
      isFailure,
    }),
  ];
}

/** Rules of the filter that are named. */
const NAMED_RULES = 3;

function screenedEntries(screening: EmailOrigin['screening'], at: Date): TimelineEntry[] {
  if (screening === null) return [];
  const { spam, virus } = screening;
  if (virus !== null)
    return [entry('screened', at, `Virus: ${virus}`, { detail: 'It is in quarantine.', isFailure: true })];
  if (spam?.score == null) return [];
  const rules = spam.symbols.slice(0, NAMED_RULES).map(({ name, description }) => description || name);
  const required = spam.required === null ? '' : ` of ${spam.required}`;
  return [
    entry('screened', at, `Spam score ${spam.score}${required}`, {
      detail: rules.length === 0 ? null : `${rules.join('; ')}.`,
    }),
  ];
}

function of(domain: string | null): string {
  return domain === null ? '' : ` (${domain})`;
}

function threadText({ threadReason }: EmailOrigin): string | null {
  if (threadReason === 'manual') return 'It was threaded, and later moved to another thread by a user.';
  return threadReason === null ? null : describeThreadReason(threadReason);
}

function askedEntry(verdict: StoredVerdict, rules: RouteReferences['rules']): TimelineEntry {
  const { ruleId, isMatch, reason, at, durationMs } = verdict;
  const rule = `guard rule “${rules.get(ruleId)?.name ?? ruleId}”`;
  const outcome =
    isMatch === null ? 'did not respond' : isMatch ? 'says that it matches' : 'says that it does not match';
  return entry('asked', new Date(new Date(at).getTime() - durationMs), `The model of the ${rule} ${outcome}`, {
    detail: reason === '' ? null : reason,
    durationMs,
    isFailure: isMatch === null,
    nodeId: rules.has(ruleId) ? ruleId : null,
  });
}

function routedEntries({ route, matches, ownAddress }: EmailOrigin): TimelineEntry[] {
  if (route === null || route.outcome === null) return [];
  const { outcome, decided_at: decidedAt, released_at: releasedAt, ruleName: rule, endpointName: endpoint } = route;
  const isHeld = outcome === 'blocked' || outcome === 'review';
  const decision = {
    outcome,
    via: route.via,
    endpointId: route.endpoint_id,
    ruleId: route.rule_id,
    reason: route.reason,
    matches: matches as GuardMatch[] | null,
  };
  const reason = explainRoute(decision, { ownAddress, rule, endpoint, isReleased: releasedAt !== null });
  const titles: Record<typeof outcome, string> = {
    blocked: `Blocked by guard rule “${rule ?? route.rule_id}”`,
    review: 'Held for review',
    asking: 'A model is being asked',
    stored: 'Stored, not delivered',
    inactive: 'Stored: its endpoint is disabled',
    endpoint: `Routed to endpoint “${endpoint ?? route.endpoint_id}”`,
  };
  const nodeId = isHeld ? (rule === null ? null : route.rule_id) : endpoint === null ? null : route.endpoint_id;
  return [
    ...(decidedAt === null
      ? []
      : [
          entry(isHeld ? 'held' : 'routed', decidedAt, titles[outcome], {
            detail: `${reason}${matchText(decision.matches)}`,
            durationMs: span(route.threaded_at, decidedAt),
            isFailure: outcome === 'review' || outcome === 'inactive',
            nodeId,
          }),
        ]),
    ...(releasedAt === null
      ? []
      : [
          entry('released', releasedAt, 'Released', {
            detail: 'It is routed as if there were no guard rules.',
          }),
        ]),
  ];
}

function matchText(matches: readonly GuardMatch[] | null): string {
  if (matches === null || matches.length === 0) return '';
  return ` What matched: ${matches.map(({ criteria, value }) => `${criteria} “${value}”`).join(', ')}.`;
}

const HAND_TITLES: Readonly<Record<string, { kind: TimelineKind; title: string }>> = {
  'email.read': { kind: 'read', title: 'Marked as read' },
  'email.unread': { kind: 'unread', title: 'Marked as unread' },
  'email.archived': { kind: 'archived', title: 'Archived' },
  'email.unarchived': { kind: 'unarchived', title: 'Unarchived' },
  'email.rescheduled': { kind: 'rescheduled', title: 'Rescheduled' },
  'email.paused': { kind: 'paused', title: 'Paused' },
  'email.resumed': { kind: 'resumed', title: 'Resumed' },
  'email.cancelled': { kind: 'cancelled', title: 'Cancelled' },
  'email.approval_requested': { kind: 'approval-requested', title: 'Waiting for approval' },
  'email.spam': { kind: 'spam', title: 'Moved to the folder Spam' },
  'email.not_spam': { kind: 'not-spam', title: 'Marked as not spam' },
  'email.approved': { kind: 'approved', title: 'Approved' },
  'email.rejected': { kind: 'rejected', title: 'Rejected' },
};
/** Of the events above. */
const handData = z.object({
  scheduledAt: z.string().optional(),
  step: z.string().optional(),
  changed: z.array(z.string()).optional(),
  /** who approved or rejected; null: its time was over */
  by: z.string().nullable().optional(),
  reason: z.string().nullable().optional(),
  /** set by an action of an endpoint, which has a separate entry */
  endpointId: z.string().optional(),
  /** of mail that was kept apart: its name */
  virus: z.string().nullable().optional(),
});
const STEPS: Readonly<Record<string, string>> = { parse: 'Parsed', thread: 'Threaded', route: 'Routed' };

/** Returns the entries of user actions. */
export function handEntries(events: readonly HandEvent[]): TimelineEntry[] {
  return events.flatMap(({ kind, at, data }) => {
    const { scheduledAt, step, changed, endpointId, by, reason, virus } = handData.parse(data ?? {});
    if (endpointId !== undefined) return [];
    if (kind === 'email.reprocessed')
      return entry('reprocessed', at, `${STEPS[step ?? ''] ?? 'Processed'} again`, {
        detail: changed === undefined || changed.length === 0 ? null : `What changed: ${changed.join(', ')}.`,
      });
    const known = HAND_TITLES[kind];
    if (known === undefined) throw new Error(`no title for ${kind}`);
    if (known.kind === 'approved' || known.kind === 'rejected') {
      const title = by == null ? `${known.title}: its time to wait was over` : `${known.title} by ${by}`;
      const detail =
        known.kind === 'rejected' ? (by == null ? null : (reason ?? null)) : `To be sent at ${scheduledAt}.`;
      return entry(known.kind, at, title, { detail, isFailure: known.kind === 'rejected' });
    }
    if (known.kind === 'spam' && virus != null) return entry('spam', at, 'Moved to quarantine');
    const isTimed = known.kind === 'rescheduled' || known.kind === 'resumed' || known.kind === 'paused';
    return entry(known.kind, at, known.title, {
      detail: isTimed && scheduledAt !== undefined ? `To be sent at ${scheduledAt}.` : null,
    });
  });
}

function span(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime());
}

const REQUESTS = {
  route: null,
  release: null,
  event: null,
  retry: 'Delivered again on request',
  replay: 'Replayed',
  action: 'Routed by an action',
} as const;

/** Returns the entries of a delivery and its attempts; forwarded copies are covered by their recipients. */
export function deliveryEntries(delivery: PastDelivery, attempts: readonly DeliveryAttempt[]): TimelineEntry[] {
  const { id: nodeId, cause, eventKind, createdAt, completedAt, status, error, actions, endpointName } = delivery;
  const endpoint = endpointName === null ? 'a deleted endpoint' : `endpoint “${endpointName}”`;
  const request = REQUESTS[cause];
  const isEndedUntried = status === 'failed' && completedAt !== null && delivery.isWebhook && attempts.length === 0;
  return [
    ...(request === null ? [] : [entry('delivery-requested', createdAt, `${request}: to ${endpoint}`, { nodeId })]),
    ...attempts.map((attempt) => deliveryAttemptEntry(attempt, { endpoint, eventKind, nodeId })),
    ...(actions === null || completedAt === null ? [] : actionEntries(actions, completedAt, { endpoint, nodeId })),
    ...(isEndedUntried
      ? [
          entry('delivery-ended', completedAt, `The delivery to ${endpoint} was given up`, {
            detail: error,
            isFailure: true,
            nodeId,
          }),
        ]
      : []),
  ];
}

/** Returns an entry for each action that ran, or one for why none of them did. */
function actionEntries(
  { problem, results }: ActionLog,
  at: Date,
  { endpoint, nodeId }: { endpoint: string; nodeId: string },
): TimelineEntry[] {
  if (problem === null)
    return results.map(({ type, message, emailId, deliveryId }) =>
      entry('action', at, `Action “${type}” of ${endpoint}`, {
        detail: message,
        nodeId: emailId ?? deliveryId ?? nodeId,
      }),
    );
  const detail = problem.place === null ? problem.message : `${problem.place}: ${problem.message}`;
  return [entry('action', at, `The actions of ${endpoint} did not run`, { detail, isFailure: true, nodeId })];
}

function deliveryAttemptEntry(
  attempt: DeliveryAttempt,
  { endpoint, eventKind, nodeId }: { endpoint: string; eventKind: string | null; nodeId: string },
): TimelineEntry {
  const { number, startedAt, durationMs, outcome, statusCode, error } = attempt;
  const response = statusCode === null ? 'no response' : `status ${statusCode}`;
  const came = { success: response, failed: `failed, ${response}`, interrupted: 'interrupted, not counted' }[outcome];
  const what = eventKind === null ? 'Webhook' : `Webhook of ${eventKind}`;
  return entry('delivery-attempt', startedAt, `${what} to ${endpoint}, attempt ${number}: ${came}`, {
    detail: error,
    durationMs,
    isFailure: outcome === 'failed',
    nodeId,
  });
}

/** Returns the sending attempts and the final outcome for one recipient of an email or a forwarded copy. */
export function sendingEntries(recipient: PastRecipient, attempts: readonly EmailAttempt[]): TimelineEntry[] {
  const {
    id: nodeId,
    address,
    deliveryId,
    status,
    settledAt,
    complainedAt,
    lastCode,
    lastStatus,
    lastText,
    refusalReason,
  } = recipient;
  const to = deliveryId === null ? address : `${address} (a copy)`;
  const refusal = adviceOn(refusalReason);
  const said = lastReplyText(lastCode, lastStatus, lastText);
  const detail =
    refusal === null
      ? said
      : `${refusal.title}. ${refusal.advice}${said === null ? '' : ` The server’s words: ${said}`}`;
  const isReported = status === 'bounced' && !attempts.some(({ outcome }) => outcome === 'bounced');
  return [
    ...attempts.map((attempt) => sendingAttemptEntry(attempt, to, nodeId)),
    ...(settledAt === null || !isReported
      ? []
      : [
          entry('bounced', settledAt, `Bounce report for ${to}: not delivered`, {
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
      : [entry('complained', complainedAt, `${to} reported it as spam`, { isFailure: true, nodeId })]),
  ];
}

const OUTCOMES = {
  delivered: 'delivered',
  deferred: 'deferred, will be retried',
  bounced: 'rejected',
  interrupted: 'interrupted, not counted',
} as const;

function sendingAttemptEntry(attempt: EmailAttempt, to: string, nodeId: string): TimelineEntry {
  const { number, startedAt, finishedAt, outcome, host, remoteAddress, isTls, code, enhancedStatus, text } = attempt;
  const came = outcome === null ? 'in progress' : OUTCOMES[outcome];
  const server =
    remoteAddress === null
      ? null
      : `${host ?? remoteAddress}${host === null ? '' : ` [${remoteAddress}]`}, ${isTls === true ? 'over TLS' : 'without TLS'}`;
  const reply = [code, enhancedStatus, text].filter((part) => part !== null).join(' ');
  const detail = [server, reply === '' ? null : reply].filter((part) => part !== null).join(': ');
  return entry('sending-attempt', startedAt, `SMTP to ${to}, attempt ${number}: ${came}`, {
    detail: detail === '' ? null : detail,
    durationMs: finishedAt === null ? null : finishedAt.getTime() - startedAt.getTime(),
    isFailure: outcome === 'bounced' || outcome === 'deferred',
    nodeId,
  });
}
