import type { HTTPMethods } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { access } from '../admission/access.ts';
import type { ErrorBody } from '../http/error-response.ts';
import type { RestOptions } from './shapes.ts';

const CONTACTS = 'Postroom stores no contacts. Keep them in your application, and send with POST /emails.';
const CAMPAIGNS = 'Postroom sends no campaigns. Send up to 100 emails at once with POST /emails/batch.';
const RULES = 'Postroom has no automations. Use endpoints (POST /endpoints) and guard rules (POST /guard).';
const MAILBOXES =
  'Postroom has no mailbox passwords. Read mail with GET /emails, and submit it over SMTP with an API key as the password.';
const INBOXES = 'Postroom has no inboxes of their own. Use the threads of the account: GET /mail/threads.';
const DRAFTS = 'Drafts belong to the account here: use GET /drafts, POST /drafts and POST /drafts/{id}/send.';
const LABELS =
  'Labels are texts on threads here: GET /labels lists them, and PATCH /mail/threads/{id} changes those of a thread.';
const TEMPLATES = 'Postroom stores no templates. Render the HTML in your application, and send it with POST /emails.';
const ONBOARDING = 'Postroom has no demo. Send mail with POST /emails, and wait for a reply with POST /emails/wait.';
const CUSTOM_EVENTS =
  'Postroom takes no events from outside. GET /events lists those of the account, and POST /emails sends mail.';
const CLAIMS =
  'A domain is claimed by its DNS records. Create it with POST /domains, and check it with POST /domains/{id}/verify.';

/** What published clients can call and Postroom does not serve, each with what to use instead. `…/*` is everything below the path. */
const unserved: readonly [methods: readonly HTTPMethods[], paths: readonly string[], instead: string][] = [
  [
    ['POST'],
    ['/guard/generate'],
    'Postroom does not write guard rules from a description. Create one with POST /guard, and try it on stored mail with POST /guard/backtest.',
  ],
  [
    ['POST'],
    ['/attachments/uploads'],
    'Postroom has no uploads. Send the file in `content` of `attachments`, as base64 or an array of bytes.',
  ],
  [['POST'], ['/emails/raw'], 'Submit a whole message over SMTP with an API key as the password, or use POST /emails.'],
  [['POST'], ['/emails/:id/share'], 'Postroom shares no emails. GET /emails/{id}/html returns an email as a page.'],
  [['GET'], ['/emails/metrics'], 'Use the GraphQL field `overview`, or GET /emails with a `status` and its `total`.'],
  [['POST'], ['/events', '/events/send'], CUSTOM_EVENTS],
  [['GET', 'PATCH', 'DELETE'], ['/events/:id'], CUSTOM_EVENTS],
  [['POST'], ['/onboarding/demo', '/onboarding/check-reply'], ONBOARDING],
  [['GET', 'POST'], ['/mailboxes'], MAILBOXES],
  [['GET', 'PUT', 'PATCH', 'DELETE'], ['/mailboxes/:id'], MAILBOXES],
  [['POST'], ['/mailboxes/:id/rotate-password'], MAILBOXES],
  [['POST'], ['/domains/claim', '/domains/:id/claim/verify'], CLAIMS],
  [['GET'], ['/domains/:id/claim'], CLAIMS],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/contacts', '/contacts/*'], CONTACTS],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/audiences', '/audiences/*'], CONTACTS],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/segments', '/segments/*'], CONTACTS],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/topics', '/topics/*'], CONTACTS],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/contact-properties', '/contact-properties/*'], CONTACTS],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/broadcasts', '/broadcasts/*'], CAMPAIGNS],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/templates', '/templates/*'], TEMPLATES],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/automations', '/automations/*'], RULES],
  [['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ['/inboxes', '/inboxes/*'], INBOXES],
  [['GET', 'POST'], ['/inboxes/:id/drafts'], DRAFTS],
  [['GET', 'POST', 'PATCH', 'DELETE'], ['/inboxes/:id/drafts/*'], DRAFTS],
  [['GET', 'POST'], ['/inboxes/:id/labels'], LABELS],
  [['PATCH', 'DELETE'], ['/inboxes/:id/labels/:labelId'], LABELS],
  [['POST', 'PUT'], ['/inboxes/:id/threads/:threadId/labels'], LABELS],
  [['DELETE'], ['/inboxes/:id/threads/:threadId/labels/:labelId'], LABELS],
  [
    ['GET', 'PATCH'],
    ['/inboxes/:id/agent'],
    'Postroom runs no agent of its own. Connect yours to the MCP server at /mcp.',
  ],
  [['GET'], ['/usage'], 'Use GET /api-keys, which shows what is left of the budgets of a key.'],
];

/** Routes of published clients that are not served, as `POST /events`, with what to use instead. Their paths are below `/api/e2`. */
export const INSTEAD_OF_ROUTES: ReadonlyMap<string, string> = new Map(
  unserved.flatMap(([methods, paths, instead]) =>
    methods.flatMap((method) => paths.map((path) => [`${String(method)} ${path}`, instead] as const)),
  ),
);

/** The names of these routes. */
export const UNSERVED_ROUTES: readonly string[] = [...INSTEAD_OF_ROUTES.keys()];

/** Routes of published clients that respond 501. They are not in the OpenAPI document. */
export const unservedRoutes: FastifyPluginAsyncZod<RestOptions> = async (app) => {
  for (const [methods, paths, message] of unserved)
    for (const url of paths)
      for (const method of methods)
        app.route({
          method,
          url,
          exposeHeadRoute: false,
          config: { access: access.byDocument },
          schema: { hide: true },
          handler: async (_request, reply) => reply.code(501).send(notImplemented(message)),
        });
};

function notImplemented(message: string): ErrorBody {
  return { error: 'Not Implemented', message, statusCode: 501, name: 'not_implemented' };
}
