import { type ListUnsubscribe, readListUnsubscribe } from '../../core/mime/list-unsubscribe.ts';
import { UserError } from '../../core/shared/errors.ts';
import { BusTimeout, BusUnavailable, questions, type Reply } from '../../schema/messages.ts';
import { countAttempt } from '../accounts/count-attempts.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { loadContentParts, loadEmails } from './emails.ts';
import { waitUntilParsed } from './pending-emails.ts';
import { readAuthentication } from './stored-authentication.ts';

/** The result of leaving a list; a list that refuses is a result, too. */
export interface LeftList {
  isDone: boolean;
  /** HTTP status; null: the list did not respond */
  statusCode: number | null;
  /** in words */
  message: string;
}

/** Lists that a user leaves per minute, across all gateways. */
const MAX_LEFT = 30;
/** Time reserved at the end of the request for the response. Milliseconds. */
const RESERVE_MS = 1_000;

/** Returns how the list that sent each email is left; null where the email says nothing about it. */
export async function loadListUnsubscribes(
  context: OperationContext,
  emailIds: readonly string[],
): Promise<(ListUnsubscribe | null)[]> {
  const contents = await loadContentParts(context, emailIds, new Set(['headers']));
  return contents.map((content) =>
    content === null
      ? null
      : readListUnsubscribe({ headers: content.headers, authentication: readAuthentication(content.authentication) }),
  );
}

/** Returns how the list that sent an email is left; null: the email says nothing about it. Throws not_found. */
export function readUnsubscribe(context: OperationContext, emailId: string): Promise<ListUnsubscribe | null> {
  return waitUntilParsed(context, [emailId], async () => {
    const [email] = isValidId(emailId) ? await loadEmails(context, [emailId]) : [];
    if (email == null) throw emailNotFound();
    if (email.type !== 'received') return null;
    const [found = null] = await loadListUnsubscribes(context, [emailId]);
    return found;
  });
}

/**
 * Leaves the list that sent an email with one request (RFC 8058). Throws
 * not_found, conflict, rate_limited, unavailable.
 */
export async function unsubscribeFromList(context: OperationContext, emailId: string): Promise<LeftList> {
  const offer = await readUnsubscribe(context, emailId);
  if (offer?.oneClickUrl == null) throw new UserError('conflict', whyNot(offer), { isFinal: true });
  await countAttempt(context, { kind: 'list-unsubscribe', limit: MAX_LEFT, what: 'Unsubscriptions' });
  return describe(await ask(context, offer.oneClickUrl));
}

function whyNot(offer: ListUnsubscribe | null): string {
  const other = offer?.url ?? offer?.mailto;
  if (other == null) return 'This email does not say how to unsubscribe';
  return `This email does not offer to unsubscribe with one click, or no valid DKIM signature covers the offer. Open ${other} instead.`;
}

async function ask({ bus, respondBy, log }: OperationContext, url: string): Promise<Reply<'sending.list.unsubscribe'>> {
  const limitMs = Math.min(questions['sending.list.unsubscribe'].limitMs, respondBy - performance.now() - RESERVE_MS);
  try {
    return await bus.ask('sending.list.unsubscribe', { url }, { limitMs });
  } catch (error) {
    if (!(error instanceof BusTimeout || error instanceof BusUnavailable)) throw error;
    log.warn({ err: error }, 'emails: no sending actor responded to an unsubscription');
    throw new UserError('unavailable', 'Lists cannot be left now', { cause: error });
  }
}

function describe(reply: Reply<'sending.list.unsubscribe'>): LeftList {
  if (reply.verdict === 'failed') {
    const reason = reply.code === null ? '' : ` (${reply.code})`;
    return { isDone: false, statusCode: null, message: `The list could not be reached${reason}. Try again later.` };
  }
  const { statusCode } = reply;
  const isDone = statusCode >= 200 && statusCode < 300;
  const message = isDone
    ? 'The list accepted the request. It may take some days until it sends no more.'
    : `The list refused the request with HTTP status ${statusCode}`;
  return { isDone, statusCode, message };
}
