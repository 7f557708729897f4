import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import {
  type AwaitedEmail,
  findAwaited,
  findUnreachable,
  type Unreachable,
} from '../../db/queries/emails/email-wait.ts';
import { invalid, type OperationContext } from '../context.ts';
import { describeReceivingAddresses } from '../domains/receiving-addresses.ts';
import { openReaderAt, readFeedBounds } from '../events/events.ts';

/** Filters of an awaited email; omitted filters match all. */
export interface EmailFilter {
  /** id or address; with a plus-tag, only mail to that tag */
  address?: string | undefined;
  /** id or name */
  domain?: string | undefined;
  /** the sender's address, or its domain */
  from?: string | undefined;
  /** substring of the subject */
  subject?: string | undefined;
  /** accepted at this time or later; omitted: from now on */
  since?: Date | undefined;
  /** ids of emails that do not match */
  exceptEmailIds?: readonly string[] | undefined;
}

/** Maximum wait; milliseconds. */
export const MAX_WAIT_MS = 300_000;
/** Maximum age of matching mail; hours. */
export const MAX_SINCE_HOURS = 24;
/** Characters; longer than any address (RFC 5321 §4.5.3.1). */
const MAX_FILTER_LENGTH = 400;

/**
 * Returns the id of the first received email that matches and has a thread; null on timeout or when the client has
 * gone. Uses the event feed instead of polling. Throws validation, also when no mail can arrive that matches, rate_limited, unavailable (the process is stopping).
 */
export async function waitForEmail(
  context: OperationContext,
  filter: EmailFilter,
  timeoutMs: number,
): Promise<string | null> {
  const endAt = performance.now() + timeoutMs;
  checkFilter(filter, timeoutMs, context.now());
  return firstFitting(context, filter, endAt);
}

/** Returns whether a received, threaded email matches the filter. */
export async function fitsFilter(context: OperationContext, emailId: string, filter: EmailFilter): Promise<boolean> {
  return (await find(context, readAwaited(filter, new Date(0)), [emailId])) !== null;
}

async function firstFitting(context: OperationContext, filter: EmailFilter, endAt: number): Promise<string | null> {
  // Read the end of the feed before searching: what is threaded afterwards is in the feed.
  const { lastSeq, now } = await readFeedBounds(context);
  const awaited = readAwaited(filter, now);
  // Reserve the reader before searching.
  const reader = openReaderAt(context, lastSeq, ['email.threaded']);
  try {
    const there = filter.since === undefined ? null : await find(context, awaited, null);
    if (there !== null) return there;
    await checkReachable(context, awaited);
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

function readAwaited(filter: EmailFilter, begin: Date): AwaitedEmail {
  const { address = null, domain = null, from = null, subject = null, since = begin, exceptEmailIds = [] } = filter;
  return { address, domain, from, subject, since, exceptEmailIds };
}

function find(context: OperationContext, awaited: AwaitedEmail, emailIds: string[] | null): Promise<string | null> {
  return asWorkspace(context.database, context.workspaceId, (transaction) =>
    findAwaited(transaction, context.workspaceId, awaited, emailIds),
  );
}

/** Throws validation when the account receives no mail for the address or domain, which is more likely a typo than a plan. */
async function checkReachable(context: OperationContext, { address, domain }: AwaitedEmail): Promise<void> {
  if (address === null && domain === null) return;
  const { database, workspaceId } = context;
  const unreachable = await asWorkspace(database, workspaceId, (transaction) =>
    findUnreachable(transaction, workspaceId, { address, domain }),
  );
  if (unreachable === null) return;
  const { field, reason } = unreachable;
  throw invalid(`${UNREACHABLE[reason]} ${await describeReceivingAddresses(context)}`, field);
}

const UNREACHABLE: Record<Unreachable['reason'], string> = {
  foreign_domain: 'This domain is not one of yours.',
  unverified_domain: 'This domain receives no mail until it is verified.',
  no_address: 'You have no such address, and its domain has no catch-all.',
  disabled_address: 'This address is disabled.',
};

function checkFilter(filter: EmailFilter, timeoutMs: number, now: Date): void {
  if (!(timeoutMs >= 0 && timeoutMs <= MAX_WAIT_MS))
    throw invalid(`timeout must be 0 to ${MAX_WAIT_MS / 1_000} seconds`, 'timeout');
  if (filter.since !== undefined && filter.since.getTime() < now.getTime() - MAX_SINCE_HOURS * 3_600_000)
    throw invalid(`since can be at most ${MAX_SINCE_HOURS} hours ago. Search for older mail instead.`, 'since');
  for (const field of ['address', 'domain', 'from', 'subject'] as const) {
    const value = filter[field];
    if (value === undefined) continue;
    if (value.trim() === '') throw invalid('must not be empty', field);
    if (value.length > MAX_FILTER_LENGTH)
      throw invalid(`must not be longer than ${MAX_FILTER_LENGTH} characters`, field);
    if (value.includes('\0')) throw invalid('must not contain NUL', field);
  }
}
