import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { Given } from './rights-operations.ts';
import { LATER, type StoringWorld } from './storing-world.ts';

/** A request that stores or starts something that acts later. */
export interface ActingCase {
  what: string;
  needs: readonly Scope[];
  /** what of the account it names in its path, and its body, input or arguments */
  given: (world: StoringWorld) => Promise<Given>;
}

const one = (
  what: string,
  needs: readonly Scope[],
  given: (world: StoringWorld) => Promise<Given> | Given,
): ActingCase => ({ what, needs, given: async (world) => given(world) });

const SETUP: Scope[] = ['read', 'manage'];
const ACTING: Scope[] = ['read', 'send', 'manage'];

const url = (world: StoringWorld) => `https://hooks.example.com/${world.fresh()}`;
const email = (world: StoringWorld, more: object = {}) => ({
  from: world.box.address,
  to: ['bob@elsewhere.test'],
  subject: 'x',
  text: 'x',
  ...more,
});
const rule = (action: object) => ({
  name: 'x',
  type: 'explicit',
  config: { subject: { operator: 'OR', values: ['x'] } },
  action,
});

const changedEndpoint = [
  one('where it posts', SETUP, async (w) => ({ id: await w.endpoint('webhook'), body: { config: { url: url(w) } } })),
  one('which events it posts', SETUP, async (w) => ({
    id: await w.endpoint('webhook'),
    body: { events: ['email.sent'] },
  })),
  one('what it posts', SETUP, async (w) => ({ id: await w.endpoint('webhook'), body: { payloadQuery: '{ kind }' } })),
  one('that it acts', ACTING, async (w) => ({ id: await w.endpoint('webhook'), body: { allowActions: true } })),
  one('where one that acts posts', ACTING, async (w) => ({
    id: await w.endpoint('webhook', { allowActions: true }),
    body: { config: { url: url(w) } },
  })),
  one('that it is active', SETUP, async (w) => ({
    id: await w.endpoint('webhook', { isActive: false }),
    body: { isActive: true },
  })),
  one('where it forwards', SETUP, async (w) => ({
    id: await w.endpoint('email'),
    body: { config: { forwardTo: 'eve@elsewhere.test' } },
  })),
];
const changedAddress = [
  one('its endpoint', SETUP, async (w) => ({ id: await w.address(), body: { endpointId: w.box.endpointId } })),
  one('its webhook', SETUP, async (w) => ({ id: await w.address(), body: { webhookId: w.box.endpointId } })),
];
const changedDomain = [
  one('its catch-all', SETUP, async (w) => ({
    id: w.box.domainId,
    body: { isCatchAllEnabled: true, catchAllEndpointId: await w.endpoint('webhook') },
  })),
];
const changedRule = [
  one('where it routes', SETUP, async (w) => ({
    id: await w.rule({ action: 'block' }),
    body: { action: { action: 'route', endpointId: w.box.endpointId } },
  })),
  one('what one that routes matches', SETUP, async (w) => ({
    id: await w.rule({ action: 'route', endpointId: w.box.endpointId }),
    body: { config: { subject: { operator: 'OR', values: [w.fresh()] } } },
  })),
  one('what it matches', SETUP, async (w) => ({
    id: await w.rule({ action: 'block' }),
    body: { config: { subject: { operator: 'OR', values: [w.fresh()] } } },
  })),
];
const reply =
  (more: object = {}) =>
  (w: StoringWorld) =>
    w.received().then((id) => ({ id, body: { from: w.box.address, to: ['a@x.test'], text: 'x', ...more } }));
/** A reply quotes the subject to its recipients. */
const STRANGER = { to: ['eve@elsewhere.test'] };
const forward =
  (more: object = {}) =>
  (w: StoringWorld) =>
    w.received().then((id) => ({ id, body: { from: w.box.address, to: ['bob@elsewhere.test'], ...more } }));
const idAs = (name: string, cases: ActingCase): ActingCase => ({
  ...cases,
  async given(world) {
    const { id, body } = await cases.given(world);
    return { body: { [name]: id, ...body } };
  },
});
const ofInput = (name: string, cases: readonly ActingCase[]) => cases.map((each) => idAs(name, each));

const hooks = (w: StoringWorld, more: object = {}) => ({
  name: 'x',
  type: 'webhook',
  config: { url: url(w) },
  ...more,
});

const retries = [
  one('to its endpoint', ['read', 'send'], async (w) => {
    const { emailId, deliveryId } = await w.failedDelivery();
    return { id: emailId, body: { deliveryId } };
  }),
];

/** Requests that store what acts later, by route, mutation and tool. */
export const actingCases: Readonly<Record<string, readonly ActingCase[]>> = {
  'POST /endpoints': [
    one('a webhook', SETUP, (w) => ({ body: hooks(w) })),
    one('a webhook with a query', SETUP, (w) => ({ body: hooks(w, { payloadQuery: '{ kind }' }) })),
    one('a webhook that acts', ACTING, (w) => ({ body: hooks(w, { allowActions: true }) })),
    one('a forward', SETUP, () => ({ body: { name: 'x', type: 'email', config: { forwardTo: 'a@x.test' } } })),
    one('forwards', SETUP, () => ({ body: { name: 'x', type: 'email_group', config: { emails: ['a@x.test'] } } })),
  ],
  'PATCH /endpoints/:id': changedEndpoint,
  'PUT /endpoints/:id': changedEndpoint,
  'POST /endpoints/:id/rotate-secret': [
    one('the secret', SETUP, async (w) => ({ id: await w.endpoint('webhook'), body: {} })),
  ],
  'POST /webhooks': [one('a webhook', SETUP, (w) => ({ body: { endpoint: url(w), events: ['email.received'] } }))],
  'PATCH /webhooks/:id': [
    one('where it posts', SETUP, async (w) => ({ id: await w.endpoint('webhook'), body: { endpoint: url(w) } })),
    one('which events it posts', SETUP, async (w) => ({
      id: await w.endpoint('webhook'),
      body: { events: ['email.sent'] },
    })),
    one('that it is active', SETUP, async (w) => ({
      id: await w.endpoint('webhook', { isActive: false }),
      body: { status: 'enabled' },
    })),
  ],
  'POST /webhooks/:id/signing-secret/rotate': [
    one('the secret', SETUP, async (w) => ({ id: await w.endpoint('webhook') })),
  ],
  'POST /endpoints/:id/replay': [
    one('deliveries', SETUP, async (w) => {
      await w.failedDelivery();
      // A replay is of what came before the millisecond in which it begins.
      await sleep(2);
      return { id: w.box.endpointId, body: { since: '2026-01-01T00:00:00Z', status: 'failed' } };
    }),
  ],
  'POST /deliveries/:id/retry': [
    one('a delivery', ['read', 'send'], async (w) => ({ id: (await w.failedDelivery()).deliveryId })),
  ],
  'POST /webhooks/:webhookId/events/:eventId/replay': [
    one('a delivery', ['read', 'send'], async (w) => ({
      id: w.box.endpointId,
      other: (await w.failedDelivery()).deliveryId,
    })),
  ],
  'POST /emails/:id/retry': retries.map((each) => ({
    ...each,
    async given(world: StoringWorld) {
      const { emailId: id, deliveryId } = await world.failedDelivery();
      return { id, body: { delivery_id: deliveryId } };
    },
  })),
  'POST /email-addresses': [
    one('with an endpoint', SETUP, (w) => ({
      body: {
        address: `${w.fresh()}@${w.box.address.split('@')[1]}`,
        domainId: w.box.domainId,
        endpointId: w.box.endpointId,
      },
    })),
  ],
  'PATCH /email-addresses/:id': changedAddress,
  'PUT /email-addresses/:id': changedAddress,
  'PATCH /domains/:id': changedDomain,
  'PUT /domains/:id': changedDomain,
  'POST /guard': [
    one('that routes', SETUP, (w) => ({ body: rule({ action: 'route', endpointId: w.box.endpointId }) })),
    one('that blocks', SETUP, () => ({ body: rule({ action: 'block' }) })),
  ],
  'PATCH /guard/:id': changedRule,
  'PUT /guard/:id': changedRule,
  'POST /emails': [
    one('at once', ['send'], (w) => ({ body: email(w) })),
    one('later', ['send'], (w) => ({ body: email(w, { scheduled_at: LATER }) })),
  ],
  'POST /emails/batch': [
    one('at once and later', ['send'], (w) => ({ body: [email(w), email(w, { scheduled_at: LATER })] })),
  ],
  'POST /emails/schedule': [one('later', ['send'], (w) => ({ body: email(w, { scheduled_at: LATER }) }))],
  'PATCH /emails/:id': [
    one('its time', ['send'], async (w) => ({
      id: await w.scheduled(),
      body: { scheduled_at: new Date(Date.now() + 172_800_000).toISOString() },
    })),
  ],
  'POST /emails/:id/reply': [
    one('to a participant', ['send'], reply()),
    one('to a participant later', ['send'], reply({ scheduled_at: LATER })),
    one('to a stranger', ['read', 'send'], reply(STRANGER)),
    one('to a stranger later', ['read', 'send'], reply({ ...STRANGER, scheduled_at: LATER })),
  ],
  'POST /emails/:id/forward': [
    one('at once', ['read', 'send'], forward()),
    one('later', ['read', 'send'], forward({ scheduled_at: LATER })),
  ],
  'POST /mail': [
    one('to a participant', ['send'], async (w) => ({
      body: { emailId: await w.received(), to: 'a@x.test', textBody: 'x' },
    })),
    one('to a stranger', ['read', 'send'], async (w) => ({
      body: { emailId: await w.received(), to: 'eve@elsewhere.test', textBody: 'x' },
    })),
  ],
  'POST /drafts/:id/send': [
    one('a draft', ['read', 'send'], async (w) => {
      const { id, version } = await w.draft();
      return { id, body: { version } };
    }),
  ],
  'POST /emails/:id/resume': [one('paused mail', ['send'], async (w) => ({ id: await w.paused() }))],
  'POST /emails/:id/retry-sending': [one('deferred mail', ['send'], async (w) => ({ id: await w.deferred() }))],
  'POST /emails/batch/:id/retry': [one('a failed batch', ['send'], async (w) => ({ id: await w.failedBatch() }))],
  'POST /emails/:id/approve': [one('waiting mail', ['approve'], async (w) => ({ id: await w.awaitingApproval() }))],
  'POST /api-keys': [
    one('that reads', ['read', 'manage'], () => ({ body: { name: 'x', scopes: ['read'] } })),
    one('that sends', ['send', 'manage'], () => ({ body: { name: 'x', scopes: ['send'] } })),
    one('that manages', ['manage'], () => ({ body: { name: 'x', scopes: ['manage'] } })),
    one('that approves', ['manage', 'approve'], () => ({ body: { name: 'x', scopes: ['approve'] } })),
  ],

  'mutation createWebhookEndpoint': [
    one('a webhook', SETUP, (w) => ({ body: { name: 'x', url: url(w) } })),
    one('a webhook with a query', SETUP, (w) => ({ body: { name: 'x', url: url(w), payloadQuery: '{ kind }' } })),
    one('a webhook that acts', ACTING, (w) => ({ body: { name: 'x', url: url(w), allowActions: true } })),
  ],
  'mutation createEmailEndpoint': [one('a forward', SETUP, () => ({ body: { name: 'x', forwardTo: 'a@x.test' } }))],
  'mutation createEmailGroupEndpoint': [
    one('forwards', SETUP, () => ({ body: { name: 'x', addresses: ['a@x.test'] } })),
  ],
  'mutation updateWebhookEndpoint': [
    one('where it posts', SETUP, async (w) => ({ body: { id: await w.endpoint('webhook'), url: url(w) } })),
    one('what it posts', SETUP, async (w) => ({ body: { id: await w.endpoint('webhook'), payloadQuery: '{ kind }' } })),
    one('that it acts', ACTING, async (w) => ({ body: { id: await w.endpoint('webhook'), allowActions: true } })),
    one('that it is active', SETUP, async (w) => ({
      body: { id: await w.endpoint('webhook', { isActive: false }), isActive: true },
    })),
  ],
  'mutation updateEmailEndpoint': [
    one('where it forwards', SETUP, async (w) => ({
      body: { id: await w.endpoint('email'), forwardTo: 'eve@elsewhere.test' },
    })),
  ],
  'mutation updateEmailGroupEndpoint': [
    one('where it forwards', SETUP, async (w) => ({
      body: {
        id: await w.endpoint('email_group', { config: { emails: ['a@x.test'] } }),
        addresses: ['eve@elsewhere.test'],
      },
    })),
  ],
  'mutation rotateEndpointSecret': [
    one('the secret', SETUP, async (w) => ({
      body: { id: await w.endpoint('webhook'), replaceVerificationToken: false },
    })),
  ],
  'mutation replayDeliveries': [
    one('deliveries', SETUP, async (w) => {
      await w.failedDelivery();
      await sleep(2);
      return { body: { id: w.box.endpointId, since: '2026-01-01T00:00:00Z', status: 'FAILED' } };
    }),
  ],
  'mutation retryDelivery': [
    one('a delivery', ['read', 'send'], async (w) => ({ body: { id: (await w.failedDelivery()).deliveryId } })),
  ],
  'mutation retryEmail': ofInput('id', retries),
  'mutation createEmailAddress': [
    one('with an endpoint', SETUP, (w) => ({
      body: {
        address: `${w.fresh()}@${w.box.address.split('@')[1]}`,
        domainId: w.box.domainId,
        endpointId: w.box.endpointId,
      },
    })),
  ],
  'mutation updateEmailAddress': ofInput('id', changedAddress),
  'mutation updateDomain': ofInput('id', changedDomain),
  'mutation createGuardRule': [
    one('that routes', SETUP, (w) => ({
      body: {
        name: 'x',
        type: 'EXPLICIT',
        isActive: true,
        priority: 0,
        config: { subject: { values: ['x'] } },
        action: { action: 'ROUTE', endpointId: w.box.endpointId },
      },
    })),
  ],
  'mutation updateGuardRule': [
    one('where it routes', SETUP, async (w) => ({
      body: {
        id: await w.rule({ action: 'block' }),
        action: { action: 'ROUTE', endpointId: w.box.endpointId },
      },
    })),
    one('what it matches', SETUP, async (w) => ({
      body: { id: await w.rule({ action: 'block' }), config: { subject: { values: [w.fresh()] } } },
    })),
  ],
  'mutation sendEmail': [
    one('at once', ['send'], (w) => ({ body: email(w) })),
    one('later', ['send'], (w) => ({ body: email(w, { scheduledAt: LATER }) })),
  ],
  'mutation sendEmails': [
    one('at once and later', ['send'], (w) => ({ body: { emails: [email(w), email(w, { scheduledAt: LATER })] } })),
  ],
  'mutation replyToEmail': ofInput('id', [
    one('to a participant', ['send'], reply()),
    one('to a stranger later', ['read', 'send'], reply({ ...STRANGER, scheduledAt: LATER })),
  ]),
  'mutation forwardEmail': ofInput('id', [one('later', ['read', 'send'], forward({ scheduledAt: LATER }))]),
  'mutation sendDraft': [
    one('a draft', ['read', 'send'], async (w) => {
      const { id, version } = await w.draft();
      return { body: { id, version } };
    }),
  ],
  'mutation rescheduleEmail': [
    one('its time', ['send'], async (w) => ({
      body: { id: await w.scheduled(), scheduledAt: new Date(Date.now() + 172_800_000).toISOString() },
    })),
  ],
  'mutation resumeEmail': [one('paused mail', ['send'], async (w) => ({ body: { id: await w.paused() } }))],
  'mutation retrySending': [one('deferred mail', ['send'], async (w) => ({ body: { id: await w.deferred() } }))],
  'mutation retryBatch': [one('a failed batch', ['send'], async (w) => ({ body: { id: await w.failedBatch() } }))],
  'mutation approveEmail': [
    one('waiting mail', ['approve'], async (w) => ({ body: { id: await w.awaitingApproval() } })),
  ],
  'mutation createApiKey': [
    one('that reads', ['read', 'manage'], () => ({ body: { name: 'x', scopes: ['READ'] } })),
    one('that sends', ['send', 'manage'], () => ({ body: { name: 'x', scopes: ['SEND'] } })),
  ],

  'tool send_email': [
    one('at once', ['send'], (w) => ({ body: email(w) })),
    one('later', ['send'], (w) => ({ body: email(w, { scheduled_at: LATER }) })),
  ],
  'tool reply_to_email': ofInput('email_id', [
    one('to a participant later', ['send'], reply({ scheduled_at: LATER })),
    one('to a stranger', ['read', 'send'], reply(STRANGER)),
  ]),
  'tool forward_email': ofInput('email_id', [one('later', ['read', 'send'], forward({ scheduled_at: LATER }))]),
  'tool reschedule_email': [
    one('its time', ['send'], async (w) => ({
      body: { email_id: await w.scheduled(), scheduled_at: new Date(Date.now() + 172_800_000).toISOString() },
    })),
  ],
  'tool send_draft': [
    one('a draft', ['read', 'send'], async (w) => {
      const { id, version } = await w.draft();
      return { body: { draft_id: id, version } };
    }),
  ],
  'tool approve_email': [
    one('waiting mail', ['approve'], async (w) => ({ body: { email_id: await w.awaitingApproval() } })),
  ],
};

/** A request of stayingRequests whose documented example fits nothing of a test's account. */
export interface StayingCase {
  /** what its route needs running beside the gateway */
  actors: 'none' | 'receiving' | 'delivery' | 'scheduling';
  given: ActingCase['given'];
}

const MESSAGE = 'From: ada@elsewhere.test\r\nSubject: Hi\r\n\r\nHello\r\n';
const alone = (given: StayingCase['given']): StayingCase => ({ actors: 'none', given });
const checksDns: StayingCase = { actors: 'scheduling', given: async (w) => ({ id: w.box.domainId }) };

/** Requests that the documented examples do not try, each with what it needs to be done. */
export const stayingCases: Readonly<Record<string, StayingCase>> = {
  'POST /mail/threads/:id/claim': alone(async (w) => ({ id: await w.thread(), body: { holder: 'x', ttl: 300 } })),
  'POST /mail/threads/:id/notes': alone(async (w) => ({ id: await w.thread(), body: { text: 'A note' } })),
  'DELETE /mail/notes/:id': alone(async (w) => ({ id: await w.note() })),
  'POST /mail/threads/:id/assign': alone(async (w) => ({ id: await w.thread(), body: { assignee: null } })),
  'POST /mail/threads/:id/snooze': alone(async (w) => ({ id: await w.thread(), body: { until: 'in 1 hour' } })),
  'POST /mail/threads/:id/reminder': alone(async (w) => ({ id: await w.thread(), body: { at: 'in 1 hour' } })),
  'POST /mail/threads/:id/claim/renew': alone(async (w) => {
    const { id, token } = await w.claimed();
    return { id, body: { token, ttl: 300 } };
  }),
  'POST /mail/threads/:id/claim/release': alone(async (w) => {
    const { id, token } = await w.claimed();
    return { id, body: { token } };
  }),
  'DELETE /saved-views/:id': alone(async (w) => ({ id: await w.savedView() })),
  'DELETE /snippets/:id': alone(async (w) => ({ id: await w.snippet() })),
  'DELETE /image-senders/:address': alone(async (w) => ({ id: await w.imageSender() })),
  'POST /emails/explain-route': {
    actors: 'receiving',
    given: async (w) => ({ body: { to: w.box.address, from: 'ada@elsewhere.test', subject: 'Hi', text: 'Hello' } }),
  },
  'PATCH /api-keys/:id': alone(async (w) => ({ id: await w.key(), body: { name: 'y', scopes: ['read'] } })),
  'POST /auth/revoke-key': alone(async () => ({})),
  'POST /emails/import': {
    actors: 'receiving',
    given: async (w) => ({
      body: { address: w.box.address, messages: [{ raw: Buffer.from(MESSAGE).toString('base64') }] },
    }),
  },
  'POST /emails/simulate': {
    actors: 'receiving',
    given: async (w) => ({ body: { raw: MESSAGE, to: w.box.address } }),
  },
  // That of a webhook is the same endpoint: whichever route comes first leaves the other none.
  'DELETE /endpoints/:id': alone(async (w) => ({ id: await w.endpoint('webhook') })),
  'DELETE /webhooks/:id': alone(async (w) => ({ id: await w.endpoint('webhook') })),
  'POST /endpoints/:id/test': { actors: 'delivery', given: async (w) => ({ id: w.box.endpointId, body: {} }) },
  'POST /domains/:id/verify': checksDns,
  'POST /domains/:id/auth': checksDns,
  'PATCH /domains/:id/auth': checksDns,
};

const AT_ONCE = 'changes mail, threads or drafts at once, and nothing acts on it later';
const REMOVES = 'removes or stops something';
const LOOKS = 'shows or computes something';
const LEAVES = 'makes one request to a list at once, and stores nothing';
const ADDS_MAIL = 'adds or reads mail, which endpoints and rules treat with the rights of those who set them up';
const GIVES = 'gives no role with more rights than the request has';
const SESSION = 'needs a session';
const ACCOUNT = 'a value of the account that neither reads nor sends, see decision 95';

/** Requests that store nothing that acts later, each with the reason. */
export const stayingRequests: Readonly<Record<string, string>> = {
  'PUT /emails/:id': AT_ONCE,
  'DELETE /emails/:id': REMOVES,
  'POST /emails/bulk': AT_ONCE,
  'POST /emails/reprocess': ADDS_MAIL,
  'POST /saved-views': AT_ONCE,
  'PATCH /saved-views/:id': AT_ONCE,
  'DELETE /saved-views/:id': REMOVES,
  'POST /snippets': ACCOUNT,
  'PATCH /snippets/:id': ACCOUNT,
  'DELETE /snippets/:id': REMOVES,
  'POST /image-senders': ACCOUNT,
  'DELETE /image-senders/:address': REMOVES,
  'POST /emails/wait': LOOKS,
  'POST /emails/import': ADDS_MAIL,
  'POST /emails/batch/:id/cancel': REMOVES,
  'POST /drafts': 'a draft is sent with the rights of who sends it',
  'PATCH /drafts/:id': 'a draft is sent with the rights of who sends it',
  'DELETE /drafts/:id': REMOVES,
  'POST /emails/:id/cancel': REMOVES,
  'POST /emails/:id/pause': REMOVES,
  'POST /emails/:id/reject': REMOVES,
  'POST /emails/explain-route': LOOKS,
  'POST /emails/:id/release': ADDS_MAIL,
  'POST /emails/simulate': ADDS_MAIL,
  'PATCH /mail/threads/:id': AT_ONCE,
  'DELETE /mail/threads/:id': REMOVES,
  'POST /mail/threads/bulk': AT_ONCE,
  'POST /mail/threads/undo': AT_ONCE,
  'POST /mail/threads/merge': AT_ONCE,
  'POST /mail/threads/:id/split': AT_ONCE,
  'POST /mail/threads/:id/move': AT_ONCE,
  'POST /emails/:id/trash': AT_ONCE,
  'POST /emails/:id/spam': AT_ONCE,
  'POST /emails/:id/not-spam': ADDS_MAIL,
  'POST /emails/:id/restore': AT_ONCE,
  'POST /mail/threads/:id/restore': AT_ONCE,
  'POST /mail/threads/:id/assign': AT_ONCE,
  'POST /mail/threads/:id/snooze': AT_ONCE,
  'POST /mail/threads/:id/reminder': AT_ONCE,
  'POST /emails/:id/reminder': AT_ONCE,
  'POST /mail/threads/:id/presence': SESSION,
  'POST /mail/threads/read-by-me': SESSION,
  'POST /mail/threads/:id/notes': AT_ONCE,
  'PATCH /mail/notes/:id': AT_ONCE,
  'DELETE /mail/notes/:id': REMOVES,
  'POST /mail/threads/:id/claim': AT_ONCE,
  'POST /mail/threads/:id/claim/renew': AT_ONCE,
  'POST /mail/threads/:id/claim/release': AT_ONCE,
  'POST /suppressions': ACCOUNT,
  'DELETE /suppressions/:id': ACCOUNT,
  'POST /suppressions/batch/add': ACCOUNT,
  'POST /suppressions/batch/remove': ACCOUNT,
  'POST /blocklist/unblock': ACCOUNT,
  'POST /domains': ACCOUNT,
  'DELETE /domains/:id': REMOVES,
  'POST /domains/:id/dkim': ACCOUNT,
  'POST /domains/:id/verify': ACCOUNT,
  'POST /domains/:id/auth': ACCOUNT,
  'PATCH /domains/:id/auth': ACCOUNT,
  'DELETE /email-addresses/:id': REMOVES,
  'POST /reply-addresses': 'its mail only joins a thread',
  'DELETE /reply-addresses/:id': REMOVES,
  'DELETE /endpoints/:id': REMOVES,
  'DELETE /webhooks/:id': REMOVES,
  'POST /endpoints/preview-payload': LOOKS,
  'POST /emails/:id/unsubscribe': LEAVES,
  'POST /emails/:id/event-reply': AT_ONCE,
  'POST /endpoints/:id/test': 'posts an example at once',
  'POST /endpoints/:id/retry-waiting': 'makes pending deliveries due at once',
  'DELETE /guard/:id': REMOVES,
  'POST /guard/:id/check': LOOKS,
  'POST /guard/backtest': LOOKS,
  'POST /guard/:id/backtest': LOOKS,
  'PUT /retention': ACCOUNT,
  'PATCH /workspace': ACCOUNT,
  'PATCH /members/:id': GIVES,
  'DELETE /members/:id': REMOVES,
  'POST /members/:id/transfer': SESSION,
  'POST /members/leave': SESSION,
  'PUT /members/picture': SESSION,
  'POST /invitations': GIVES,
  'POST /invitations/:id/resend': GIVES,
  'DELETE /invitations/:id': REMOVES,
  'DELETE /oauth/grants/:id': REMOVES,
  'POST /scim/token': SESSION,
  'POST /agent/confirm': 'needs the code of a mail; see rest/agent-sign-up.test.ts',
  'DELETE /scim/token/:id': SESSION,
  'POST /workspaces': ACCOUNT,
  'PATCH /workspaces/:id': ACCOUNT,
  'DELETE /workspaces/:id': REMOVES,
  'POST /workspaces/:id/api-keys': 'ends with its key; see accounts/customers.test.ts',
  'POST /workspaces/:id/tokens': 'ends with its key; see accounts/browser-tokens.test.ts',
  'PATCH /api-keys/:id': 'a key only loses scopes, domains and addresses',
  'DELETE /api-keys/:id': REMOVES,
  'POST /auth/revoke-key': REMOVES,
  'DELETE /emails/schedule/:id': REMOVES,
  'PATCH /mail/:id': AT_ONCE,
  'POST /mail/bulk': AT_ONCE,

  'mutation createSavedView': AT_ONCE,
  'mutation updateSavedView': AT_ONCE,
  'mutation deleteSavedView': REMOVES,
  'mutation createSnippet': ACCOUNT,
  'mutation updateSnippet': ACCOUNT,
  'mutation deleteSnippet': REMOVES,
  'mutation addImageSender': ACCOUNT,
  'mutation removeImageSender': REMOVES,
  'mutation backtestGuardRule': LOOKS,
  'mutation backtestSavedGuardRule': LOOKS,
  'mutation checkGuardRule': LOOKS,
  'mutation cancelBatch': REMOVES,
  'mutation cancelEmail': REMOVES,
  'mutation pauseEmail': REMOVES,
  'mutation rejectEmail': REMOVES,
  'mutation assignThread': AT_ONCE,
  'mutation snoozeThread': AT_ONCE,
  'mutation remindOfThread': AT_ONCE,
  'mutation remindOfEmail': AT_ONCE,
  'mutation setThreadPresence': SESSION,
  'mutation setReadByMe': SESSION,
  'mutation addThreadNote': AT_ONCE,
  'mutation updateThreadNote': AT_ONCE,
  'mutation deleteThreadNote': REMOVES,
  'mutation claimThread': AT_ONCE,
  'mutation renewThreadClaim': AT_ONCE,
  'mutation releaseThreadClaim': AT_ONCE,
  'mutation createDomain': ACCOUNT,
  'mutation verifyDomain': ACCOUNT,
  'mutation verifyDomains': ACCOUNT,
  'mutation rotateDkimKey': ACCOUNT,
  'mutation deleteDomain': REMOVES,
  'mutation createDraft': 'a draft is sent with the rights of who sends it',
  'mutation updateDraft': 'a draft is sent with the rights of who sends it',
  'mutation deleteDraft': REMOVES,
  'mutation createReplyAddress': 'its mail only joins a thread',
  'mutation revokeReplyAddress': REMOVES,
  'mutation deleteEmailAddress': REMOVES,
  'mutation deleteEndpoint': REMOVES,
  'mutation deleteGuardRule': REMOVES,
  'mutation deleteThreadsForever': REMOVES,
  'mutation eraseAccount': REMOVES,
  'mutation importEmails': ADDS_MAIL,
  'mutation reprocessEmails': ADDS_MAIL,
  'mutation simulateInbound': ADDS_MAIL,
  'mutation releaseEmail': ADDS_MAIL,
  'mutation mergeThreads': AT_ONCE,
  'mutation moveEmails': AT_ONCE,
  'mutation splitThread': AT_ONCE,
  'mutation restoreThreads': AT_ONCE,
  'mutation trashEmails': AT_ONCE,
  'mutation markSpam': AT_ONCE,
  'mutation markNotSpam': ADDS_MAIL,
  'mutation trashThreads': AT_ONCE,
  'mutation updateEmail': AT_ONCE,
  'mutation updateEmails': AT_ONCE,
  'mutation undoThreadChange': AT_ONCE,
  'mutation updateThreads': AT_ONCE,
  'mutation updateRetention': ACCOUNT,
  'mutation updateWorkspace': ACCOUNT,
  'mutation updateMember': GIVES,
  'mutation removeMember': REMOVES,
  'mutation transferOwnership': SESSION,
  'mutation leaveWorkspace': SESSION,
  'mutation setPicture': SESSION,
  'mutation createInvitation': GIVES,
  'mutation resendInvitation': GIVES,
  'mutation revokeInvitation': REMOVES,
  'mutation revokeOauthGrant': REMOVES,
  'mutation createScimToken': SESSION,
  'mutation revokeScimToken': SESSION,
  'mutation suppressAddress': ACCOUNT,
  'mutation removeSuppression': ACCOUNT,
  'mutation createCustomerWorkspace': ACCOUNT,
  'mutation updateCustomerWorkspace': ACCOUNT,
  'mutation deleteCustomerWorkspace': REMOVES,
  'mutation createCustomerApiKey': 'ends with its key; see accounts/customers.test.ts',
  'mutation createBrowserToken': 'ends with its key; see accounts/browser-tokens.test.ts',
  'mutation updateApiKey': 'a key only loses scopes, domains and addresses',
  'mutation revokeApiKey': REMOVES,
  'mutation testEndpoint': 'posts an example at once',
  'mutation unsubscribeFromList': LEAVES,
  'mutation replyToEvent': AT_ONCE,
  'mutation retryWaitingDeliveries': 'makes pending deliveries due at once',

  'tool cancel_email': REMOVES,
  'tool create_draft': 'a draft is sent with the rights of who sends it',
  'tool update_draft': 'a draft is sent with the rights of who sends it',
  'tool delete_draft': REMOVES,
  'tool reject_email': REMOVES,
  'tool unsubscribe_from_list': LEAVES,
  'tool reply_to_event': AT_ONCE,
  'tool label_threads': AT_ONCE,
  'tool archive_threads': AT_ONCE,
  'tool mark_threads_read': AT_ONCE,
  'tool trash_threads': AT_ONCE,
  'tool assign_thread': AT_ONCE,
  'tool snooze_thread': AT_ONCE,
  'tool remind_of_thread': AT_ONCE,
  'tool add_thread_note': AT_ONCE,
  'tool mark_spam': AT_ONCE,
  'tool mark_not_spam': ADDS_MAIL,
  'tool claim_thread': AT_ONCE,
  'tool release_thread': AT_ONCE,
  'tool suppress_address': ACCOUNT,
  'tool remove_suppression': AT_ONCE,
  'tool create_reply_address': 'its mail only joins a thread',
  'tool revoke_reply_address': REMOVES,
};
