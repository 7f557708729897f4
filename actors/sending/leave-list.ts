import type { Reply } from '../../schema/messages.ts';
import { type OpenDispatcher, requestChecked } from '../network/checked-request.ts';

/** Lists respond at once, or have a job of their own. Milliseconds. */
const TIME_LIMIT_MS = 10_000;
/** The response is a status; its body is not read. Bytes. */
const MAX_BYTES = 1_000_000;
/** The only body that RFC 8058 §3.2 has. */
const BODY = Buffer.from('List-Unsubscribe=One-Click');

/** Leaves a mailing list with one request: no cookies, no redirects, no private addresses. Never rejects. */
export async function leaveList(
  openDispatcher: OpenDispatcher,
  url: string,
): Promise<Reply<'sending.list.unsubscribe'>> {
  const response = await requestChecked(openDispatcher, {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: BODY,
    timeoutMs: TIME_LIMIT_MS,
    maxBytes: MAX_BYTES,
  });
  return response.kind === 'responded'
    ? { verdict: 'responded', statusCode: response.statusCode }
    : { verdict: 'failed', code: response.code };
}
