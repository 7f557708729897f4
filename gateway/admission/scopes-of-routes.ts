import type { FastifyRequest } from 'fastify';
import type { Scope } from '../../core/accounts/key-rights.ts';

/** What a key needs for a route. */
export interface RouteNeed {
  /** all of them; where the request decides, one of them before it is read */
  scopes: readonly Scope[] | ScopesOfRequest;
  /** whether what it does can be limited to one domain exactly, so that keys of a domain may use it */
  isOfDomain: boolean;
}

/** Of a route that does several things: what may be asked for at all, and what this request asks for. */
export interface ScopesOfRequest {
  oneOf: readonly Scope[];
  of: (request: Pick<FastifyRequest, 'body' | 'query'>) => readonly Scope[];
}

const read: RouteNeed = { scopes: ['read'], isOfDomain: true };
const send: RouteNeed = { scopes: ['send'], isOfDomain: true };
/** Of what is the account's as a whole, as endpoints are. */
const readAccount: RouteNeed = { scopes: ['read'], isOfDomain: false };
const sendToEndpoint: RouteNeed = { scopes: ['send'], isOfDomain: false };
const manage: RouteNeed = { scopes: ['manage'], isOfDomain: false };
/** The document says what it does; graphql-scopes.ts asks for that. */
const byDocument: RouteNeed = { scopes: [], isOfDomain: true };

/** Sets another time for an email, which is sending, or marks it. */
const changeOfEmail: RouteNeed = {
  scopes: {
    oneOf: ['send', 'manage'],
    of: ({ body }) => {
      const { scheduled_at, scheduledAt, ...flags } = (body ?? {}) as Record<string, unknown>;
      const isScheduled = scheduled_at != null || scheduledAt != null;
      const isMarked = Object.entries(flags).some(([name, value]) => name !== 'timezone' && value != null);
      return [...(isScheduled ? (['send'] as const) : []), ...(isMarked || !isScheduled ? (['manage'] as const) : [])];
    },
  },
  isOfDomain: true,
};

/** `check` looks at DNS, which may prove a domain, or find its proof lost. */
const readWithCheck: RouteNeed = {
  scopes: {
    oneOf: ['read'],
    of: ({ query }) => ((query as { check?: unknown }).check === true ? ['read', 'manage'] : ['read']),
  },
  isOfDomain: true,
};

/** By method and path as the route has them. A route that is missing here takes a key with full rights; HEAD is as GET. */
export const scopesOfRoutes: Readonly<Record<string, RouteNeed>> = {
  'GET /graphql': byDocument,
  'POST /graphql': byDocument,

  'GET /api/e2/emails': read,
  'GET /api/e2/emails/:id': read,
  'PATCH /api/e2/emails/:id': changeOfEmail,
  'PUT /api/e2/emails/:id': changeOfEmail,
  'POST /api/e2/emails/wait': read,
  'GET /api/e2/emails/:id/raw': read,
  'GET /api/e2/emails/:id/html': read,
  'GET /api/e2/emails/:id/attachments': read,
  'GET /api/e2/emails/:id/attachments/:index': read,
  'GET /api/e2/attachments/:id/:filename': read,
  'GET /api/e2/attachments/:id/parts/:index': read,
  'GET /api/e2/emails/receiving': read,
  'GET /api/e2/emails/receiving/:id': read,
  'GET /api/e2/emails/receiving/:id/attachments': read,
  'GET /api/e2/emails/receiving/:id/attachments/:index': read,
  'GET /api/e2/emails/:id/route': readAccount,
  'GET /api/e2/emails/:id/timeline': readAccount,
  'GET /api/e2/emails/:id/deliveries': read,
  'POST /api/e2/emails/:id/release': manage,

  'POST /api/e2/emails': send,
  'POST /api/e2/emails/:id/reply': send,
  'POST /api/e2/emails/:id/retry': sendToEndpoint,
  'POST /api/e2/emails/batch': send,
  'GET /api/e2/emails/batch/:id': read,
  'POST /api/e2/emails/batch/:id/cancel': send,
  'DELETE /api/e2/emails/:id': send,
  'POST /api/e2/emails/:id/cancel': send,
  'POST /api/e2/emails/:id/pause': send,
  'POST /api/e2/emails/:id/resume': send,
  'POST /api/e2/emails/schedule': send,
  'GET /api/e2/emails/schedule': read,
  'GET /api/e2/emails/schedule/:id': read,
  'DELETE /api/e2/emails/schedule/:id': send,

  'GET /api/e2/mail': read,
  'GET /api/e2/mail/:id': read,
  'PATCH /api/e2/mail/:id': manage,
  'POST /api/e2/mail': send,
  'POST /api/e2/mail/bulk': manage,
  'GET /api/e2/mail/:id/thread': read,
  'GET /api/e2/mail/threads': read,
  'GET /api/e2/mail/threads/:id': read,

  'GET /api/e2/suppressions': readAccount,
  'GET /api/e2/suppressions/:id': readAccount,
  'POST /api/e2/suppressions': manage,
  'DELETE /api/e2/suppressions/:id': manage,
  'POST /api/e2/blocklist/unblock': manage,

  'GET /api/e2/domains': readWithCheck,
  'GET /api/e2/domains/:id': readWithCheck,
  'GET /api/e2/domains/:id/dns-records': read,
  'GET /api/e2/domains/:id/dmarc': readAccount,
  'GET /api/e2/domains/:id/dmarc-reports': readAccount,
  'GET /api/e2/domains/:id/dmarc-reports/:reportId': readAccount,
  'POST /api/e2/domains': manage,
  'PATCH /api/e2/domains/:id': manage,
  'PUT /api/e2/domains/:id': manage,
  'DELETE /api/e2/domains/:id': manage,
  'POST /api/e2/domains/:id/dkim': manage,
  'POST /api/e2/domains/:id/verify': manage,
  'POST /api/e2/domains/:id/auth': manage,
  'PATCH /api/e2/domains/:id/auth': manage,

  'GET /api/e2/email-addresses': read,
  'GET /api/e2/email-addresses/:id': read,
  'POST /api/e2/email-addresses': manage,
  'PATCH /api/e2/email-addresses/:id': manage,
  'PUT /api/e2/email-addresses/:id': manage,
  'DELETE /api/e2/email-addresses/:id': manage,

  'GET /api/e2/endpoints': readAccount,
  'GET /api/e2/endpoints/:id': readAccount,
  'GET /api/e2/endpoints/:id/deliveries': readAccount,
  'POST /api/e2/endpoints': manage,
  'PATCH /api/e2/endpoints/:id': manage,
  'PUT /api/e2/endpoints/:id': manage,
  'DELETE /api/e2/endpoints/:id': manage,
  'POST /api/e2/endpoints/:id/rotate-secret': manage,
  'POST /api/e2/endpoints/:id/replay': manage,
  'POST /api/e2/endpoints/:id/test': manage,

  'GET /api/e2/events': read,

  'GET /api/e2/guard': readAccount,
  'GET /api/e2/guard/:id': readAccount,
  'POST /api/e2/guard/:id/check': readAccount,
  'POST /api/e2/guard/backtest': readAccount,
  'POST /api/e2/guard/:id/backtest': readAccount,
  'POST /api/e2/guard': manage,
  'PATCH /api/e2/guard/:id': manage,
  'PUT /api/e2/guard/:id': manage,
  'DELETE /api/e2/guard/:id': manage,
};
