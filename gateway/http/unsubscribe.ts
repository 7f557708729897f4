import type { FastifyInstance, FastifyReply } from 'fastify';
import { UNSUBSCRIBE_PATH, type Unsubscription } from '../../core/sending/unsubscribe-link.ts';
import type { OperationParts } from '../../operations/context.ts';
import { readUnsubscription, unsubscribe } from '../../operations/sending/unsubscribe.ts';
import { sendPlainPage } from './plain-page.ts';

/** A one-click request has a body of 26 bytes, or a little more as multipart/form-data (RFC 8058 §3.2). */
const BODY_LIMIT = 4_096;
/** Requests of one client address in a minute. Mailbox providers send those of many recipients from few addresses. */
const REQUESTS_PER_MINUTE = 1_200;
const WINDOW_MS = 60_000;
/** Client addresses that are counted. */
const MAX_CLIENTS = 100_000;

/**
 * Serves the links of List-Unsubscribe, without an account: POST unsubscribes (RFC 8058), GET only shows a page with a button, because scanners
 * follow links.
 */
export async function unsubscribeRoutes(app: FastifyInstance, { parts }: { parts: OperationParts }): Promise<void> {
  const isTooMany = createClientLimit();
  app.removeAllContentTypeParsers();
  // What it says does not matter: the link says everything.
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  );
  app.addHook('onRequest', async (request, reply) => {
    if (!isTooMany(request.ip)) return;
    await sendPlainPage(reply.code(429).header('retry-after', '60'), 'Too many requests', 'Try again in a minute.');
  });

  const route = { schema: { hide: true }, bodyLimit: BODY_LIMIT };
  const path = `${UNSUBSCRIBE_PATH}:token`;

  app.get<{ Params: { token: string } }>(path, route, async (request, reply) => {
    const unsubscription = readUnsubscription(parts, request.params.token);
    if (unsubscription === null) return sendInvalid(reply);
    const form =
      '<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>';
    return sendPlainPage(reply, 'Unsubscribe', `Stop mail to ${shown(unsubscription)}?`, form);
  });

  app.post<{ Params: { token: string } }>(path, route, async (request, reply) => {
    const unsubscription = await unsubscribe(parts, request.params.token);
    if (unsubscription === null) return sendInvalid(reply);
    return sendPlainPage(reply, 'Unsubscribed', `No more mail is sent to ${shown(unsubscription)}.`);
  });
}

function shown({ address, list }: Unsubscription): string {
  return `${address} from the list "${list}"`;
}

function sendInvalid(reply: FastifyReply): FastifyReply {
  return sendPlainPage(reply.code(404), 'Link not valid', 'This link is incomplete, or was not made by this service.');
}

/** Counts requests of each client in windows of a minute, in memory. */
function createClientLimit(): (client: string) => boolean {
  const counts = new Map<string, number>();
  let endsAt = 0;
  return (client) => {
    const now = performance.now();
    if (now > endsAt || counts.size > MAX_CLIENTS) {
      counts.clear();
      endsAt = now + WINDOW_MS;
    }
    const count = (counts.get(client) ?? 0) + 1;
    counts.set(client, count);
    return count > REQUESTS_PER_MINUTE;
  };
}
