import { UserError } from '../../core/shared/errors.ts';
import { asUser } from '../../db/connection/database.ts';
import { type AwaitedEmail, findAwaited } from '../../db/queries/emails/email-wait.ts';
import { invalid, type OperationContext } from '../context.ts';
import { feedEnd, openAt } from '../events/events.ts';

/** What an email has to fit; absent puts no condition. */
export interface EmailFilter {
  /** id, or the address itself; with a plus-tag, mail to that tag alone */
  address?: string | undefined;
  /** id or name */
  domain?: string | undefined;
  /** the sender's address, or its domain */
  from?: string | undefined;
  /** part of the subject */
  subject?: string | undefined;
  /** accepted then or later; absent: from now on */
  since?: Date | undefined;
}

/** The longest wait; milliseconds. */
export const MAX_WAIT_MS = 60_000;
/** Mail is waited for, not searched for: how old it may be at most. Hours. */
export const MAX_SINCE_HOURS = 24;
/** The longest address (RFC 5321 §4.5.3.1) and more; characters. */
export const MAX_FILTER_LENGTH = 400;

/**
 * The id of the first received email that fits and has its thread, as soon as it is there; null when the time is over or the caller gone.
 * Nothing is asked again and again: the event feed tells. Throws validation, rate_limited, unavailable (the process is stopping).
 */
export async function waitForEmail(
  context: OperationContext,
  filter: EmailFilter,
  timeoutMs: number,
): Promise<string | null> {
  const endAt = performance.now() + timeoutMs;
  checkFilter(filter, timeoutMs, context.now());
  return await firstFitting(context, filter, endAt);
}

/** Whether a received email that has its thread fits. */
export async function fitsFilter(context: OperationContext, emailId: string, filter: EmailFilter): Promise<boolean> {
  const { address = null, domain = null, from = null, subject = null, since = new Date(0) } = filter;
  return (await find(context, { address, domain, from, subject, since }, [emailId])) !== null;
}

async function firstFitting(context: OperationContext, filter: EmailFilter, endAt: number): Promise<string | null> {
  // Before the emails that are there: what gets its thread after this is told by the feed.
  const { lastSeq, now } = await feedEnd(context);
  const { address = null, domain = null, from = null, subject = null, since = now } = filter;
  const awaited = { address, domain, from, subject, since };
  // The slot of the reader is taken before anything is searched.
  const reader = openAt(context, lastSeq, ['email.threaded']);
  try {
    const there = filter.since === undefined ? null : await find(context, awaited, null);
    if (there !== null) return there;
    for (;;) {
      const pulled = await reader.pull(Math.max(0, endAt - performance.now()));
      switch (pulled.kind) {
        case 'closed':
        case 'nothing':
          return null;
        case 'ended':
          if (pulled.reason === 'UNAUTHORIZED')
            throw new UserError('unauthorized', 'Authentication required', { name: 'invalid_api_key' });
          throw new UserError('unavailable', 'This gateway is stopping');
        case 'events': {
          const emailIds = pulled.events.flatMap(({ emailId }) => (emailId === null ? [] : [emailId]));
          const found = await find(context, awaited, emailIds);
          if (found !== null) return found;
        }
      }
    }
  } finally {
    reader.close();
  }
}

function find(context: OperationContext, awaited: AwaitedEmail, emailIds: string[] | null): Promise<string | null> {
  return asUser(context.database, context.userId, (transaction) =>
    findAwaited(transaction, context.userId, awaited, emailIds),
  );
}

function checkFilter(filter: EmailFilter, timeoutMs: number, now: Date): void {
  if (!(timeoutMs >= 0 && timeoutMs <= MAX_WAIT_MS))
    throw invalid(`A wait lasts 0 to ${MAX_WAIT_MS / 1_000} seconds`, 'timeout');
  if (filter.since !== undefined && filter.since.getTime() < now.getTime() - MAX_SINCE_HOURS * 3_600_000)
    throw invalid(`Mail of the last ${MAX_SINCE_HOURS} hours can be waited for; search for older mail`, 'since');
  for (const field of ['address', 'domain', 'from', 'subject'] as const) {
    const value = filter[field];
    if (value === undefined) continue;
    if (value.trim() === '') throw invalid('must not be empty', field);
    if (value.length > MAX_FILTER_LENGTH)
      throw invalid(`must not be longer than ${MAX_FILTER_LENGTH} characters`, field);
    if (value.includes('\0')) throw invalid('must not contain NUL', field);
  }
}
