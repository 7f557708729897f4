import type { ActingCase } from './storing-requests.ts';
import { actingCases, stayingCases, stayingRequests } from './storing-requests.ts';
import type { StoringWorld } from './storing-world.ts';

/** A changing request of REST that the audit log has an entry of. */
export interface AuditedRequest {
  /** of its entry, such as `endpoint.created` */
  action: string;
  /** whether its object is not the one in its path */
  isOther?: true;
  /** absent: the first case of storing-requests.ts */
  given?: ActingCase['given'];
}

const named = async (given: Promise<string> | string): Promise<{ id: string }> => ({ id: await given });

/** All requests of REST that change settings, with what their entry says. */
export const auditedRequests: Readonly<Record<string, AuditedRequest>> = {
  'POST /endpoints': { action: 'endpoint.created' },
  'PATCH /endpoints/:id': { action: 'endpoint.updated' },
  'PUT /endpoints/:id': { action: 'endpoint.updated' },
  'POST /endpoints/:id/rotate-secret': { action: 'endpoint.updated' },
  'DELETE /endpoints/:id': { action: 'endpoint.deleted', given: (w) => named(w.endpoint('webhook')) },
  'POST /webhooks': { action: 'endpoint.created' },
  'PATCH /webhooks/:id': { action: 'endpoint.updated' },
  'POST /webhooks/:id/signing-secret/rotate': { action: 'endpoint.updated' },
  'DELETE /webhooks/:id': { action: 'endpoint.deleted', given: (w) => named(w.endpoint('webhook')) },
  'POST /email-addresses': { action: 'email_address.created' },
  'PATCH /email-addresses/:id': { action: 'email_address.updated' },
  'PUT /email-addresses/:id': { action: 'email_address.updated' },
  'DELETE /email-addresses/:id': { action: 'email_address.deleted', given: (w) => named(w.address()) },
  'POST /domains': { action: 'domain.created', given: async (w) => ({ body: { domain: `${w.fresh()}.test` } }) },
  'PATCH /domains/:id': { action: 'domain.updated' },
  'PUT /domains/:id': { action: 'domain.updated' },
  'DELETE /domains/:id': { action: 'domain.deleted', given: (w) => named(w.domain()) },
  'POST /domains/:id/dkim': { action: 'dkim_key.created', given: (w) => named(w.domain()) },
  'POST /guard': { action: 'guard_rule.created' },
  'PATCH /guard/:id': { action: 'guard_rule.updated' },
  'PUT /guard/:id': { action: 'guard_rule.updated' },
  'DELETE /guard/:id': { action: 'guard_rule.deleted', given: (w) => named(w.rule({ action: 'block' })) },
  'POST /api-keys': { action: 'api_key.created' },
  'PATCH /api-keys/:id': { action: 'api_key.updated' },
  'DELETE /api-keys/:id': { action: 'api_key.revoked', given: (w) => named(w.key()) },
  'POST /auth/revoke-key': { action: 'api_key.revoked', isOther: true },
  'POST /suppressions': {
    action: 'suppression.created',
    given: async (w) => ({ body: { email: `${w.fresh()}@elsewhere.test` } }),
  },
  'DELETE /suppressions/:id': { action: 'suppression.deleted', given: (w) => named(w.suppression()) },
  'POST /suppressions/batch/add': {
    action: 'suppression.created',
    given: async (w) => ({ body: { emails: [`${w.fresh()}@elsewhere.test`] } }),
  },
  'POST /suppressions/batch/remove': {
    action: 'suppression.deleted',
    given: async (w) => ({ body: { ids: [await w.suppression()] } }),
  },
  'POST /blocklist/unblock': {
    action: 'suppression.deleted',
    given: async (w) => ({ body: { emailAddress: await w.suppressed() } }),
  },
  'POST /image-senders': {
    action: 'image_sender.created',
    given: async (w) => ({ body: { address: `${w.fresh()}@elsewhere.test` } }),
  },
  'DELETE /image-senders/:address': { action: 'image_sender.deleted' },
  'PUT /retention': {
    action: 'retention.updated',
    given: async (w) => ({ body: { raw_days: w.days(), body_days: null, metadata_days: null } }),
  },
  'POST /reply-addresses': {
    action: 'reply_address.created',
    given: async (w) => ({ body: { domain: w.box.domainId } }),
  },
  'DELETE /reply-addresses/:id': { action: 'reply_address.revoked', given: (w) => named(w.replyAddress()) },
  'PATCH /workspace': {
    action: 'workspace.updated',
    given: async (w) => ({ body: { name: w.fresh().slice(0, 20) } }),
  },
  'PATCH /members/:id': {
    action: 'member.updated',
    given: async (w) => ({ id: await w.member(), body: { role: 'agent' } }),
  },
  'DELETE /members/:id': { action: 'member.deleted', given: (w) => named(w.member()) },
  'POST /invitations': {
    action: 'invitation.created',
    given: async (w) => ({ body: { email: `${w.fresh()}@team.test`, role: 'viewer' } }),
  },
  'POST /invitations/:id/resend': { action: 'invitation.updated', given: (w) => named(w.invitation()) },
  'DELETE /invitations/:id': { action: 'invitation.revoked', given: (w) => named(w.invitation()) },
  'DELETE /oauth/grants/:id': { action: 'api_key.revoked', given: (w) => named(w.grant()) },
  'POST /workspaces': {
    action: 'customer_workspace.created',
    given: async (w) => ({ body: { client_id: w.fresh() } }),
  },
  'PATCH /workspaces/:id': {
    action: 'customer_workspace.suspended',
    given: async (w) => ({ id: await w.customer(), body: { is_suspended: true } }),
  },
  'DELETE /workspaces/:id': { action: 'customer_workspace.erased', given: (w) => named(w.customer()) },
  'POST /workspaces/:id/api-keys': {
    action: 'customer_workspace.key_created',
    given: async (w) => ({ id: await w.customer(), body: { name: w.fresh(), scopes: ['read'] } }),
  },
  'POST /emails/:id/approve': { action: 'approval.approved' },
  'POST /emails/:id/reject': { action: 'approval.rejected', given: (w) => named(w.awaitingApproval()) },
};

const MAIL = 'ordinary work with mail, which has events and a timeline';
const SENDS = 'sends mail, which has events and a timeline';
const DRAFT = 'a draft changes nothing until it is sent';
const DELIVERS = 'repeats or tests deliveries, which the delivery log has';
const LOOKS = 'shows or computes something';
const SESSION = 'needs a session; see audit-sign-ins.test.ts';
const SIGNED = 'returns a signed text, and stores nothing';
const CHECKS = 'checks DNS; the system records a change of the status';

/** All other changing requests of REST, each with the reason why the audit log has no entry. */
export const unauditedRequests: Readonly<Record<string, string>> = {
  'POST /members/:id/transfer': SESSION,
  'POST /members/leave': SESSION,
  'PUT /members/picture':
    'needs a session, and has its entry in all workspaces of the person; see accounts/pictures.test.ts',
  'POST /agent/confirm': 'needs the code of a mail; see rest/agent-sign-up.test.ts',
  'POST /scim/token': 'needs a session; see scim/scim-members.test.ts',
  'DELETE /scim/token/:id': 'needs a session; see scim/scim-members.test.ts',
  'POST /mail/threads/:id/presence': SESSION,
  'POST /mail/threads/read-by-me': MAIL,
  'POST /emails': SENDS,
  'POST /emails/batch': SENDS,
  'POST /emails/schedule': SENDS,
  'PATCH /emails/:id': SENDS,
  'POST /emails/:id/reply': SENDS,
  'POST /emails/:id/forward': SENDS,
  'POST /mail': SENDS,
  'POST /drafts/:id/send': SENDS,
  'POST /emails/:id/resume': SENDS,
  'POST /emails/:id/pause': SENDS,
  'POST /emails/:id/cancel': SENDS,
  'POST /emails/:id/retry-sending': SENDS,
  'POST /emails/batch/:id/retry': SENDS,
  'POST /emails/batch/:id/cancel': SENDS,
  'DELETE /emails/schedule/:id': SENDS,
  'POST /drafts': DRAFT,
  'PATCH /drafts/:id': DRAFT,
  'DELETE /drafts/:id': DRAFT,
  'POST /endpoints/:id/replay': DELIVERS,
  'POST /emails/:id/unsubscribe': 'makes a request to the list, and changes nothing here',
  'POST /endpoints/:id/test': DELIVERS,
  'POST /endpoints/:id/retry-waiting': DELIVERS,
  'POST /deliveries/:id/retry': DELIVERS,
  'POST /webhooks/:webhookId/events/:eventId/replay': DELIVERS,
  'POST /emails/:id/retry': DELIVERS,
  'POST /endpoints/preview-payload': LOOKS,
  'POST /emails/wait': LOOKS,
  'POST /emails/explain-route': LOOKS,
  'POST /guard/:id/check': LOOKS,
  'POST /guard/backtest': LOOKS,
  'POST /guard/:id/backtest': LOOKS,
  'POST /workspaces/:id/tokens': SIGNED,
  'POST /domains/:id/verify': CHECKS,
  'POST /domains/:id/auth': CHECKS,
  'PATCH /domains/:id/auth': CHECKS,
  ...Object.fromEntries(
    [
      'PUT /emails/:id',
      'DELETE /emails/:id',
      'POST /emails/bulk',
      'POST /emails/reprocess',
      'POST /emails/import',
      'POST /emails/:id/release',
      'POST /emails/simulate',
      'PATCH /mail/threads/:id',
      'DELETE /mail/threads/:id',
      'POST /mail/threads/bulk',
      'POST /mail/threads/undo',
      'POST /mail/threads/merge',
      'POST /mail/threads/:id/split',
      'POST /mail/threads/:id/move',
      'POST /emails/:id/trash',
      'POST /emails/:id/spam',
      'POST /emails/:id/not-spam',
      'POST /emails/:id/restore',
      'POST /mail/threads/:id/restore',
      'POST /mail/threads/:id/assign',
      'POST /mail/threads/:id/snooze',
      'POST /mail/threads/:id/reminder',
      'POST /emails/:id/reminder',
      'POST /emails/:id/event-reply',
      'POST /mail/threads/:id/notes',
      'PATCH /mail/notes/:id',
      'DELETE /mail/notes/:id',
      'POST /saved-views',
      'PATCH /saved-views/:id',
      'DELETE /saved-views/:id',
      'POST /snippets',
      'PATCH /snippets/:id',
      'DELETE /snippets/:id',
      'POST /mail/threads/:id/claim',
      'POST /mail/threads/:id/claim/renew',
      'POST /mail/threads/:id/claim/release',
      'PATCH /mail/:id',
      'POST /mail/bulk',
    ].map((name) => [name, MAIL]),
  ),
};

/** Returns what a request of the audit log names in its path, and its body. */
export async function makeAudited(name: string, world: StoringWorld): Promise<{ id?: string; body?: object }> {
  const given = auditedRequests[name]?.given ?? actingCases[name]?.[0]?.given ?? stayingCases[name]?.given;
  if (given === undefined) throw new Error(`${name} has no case`);
  return given(world);
}

/** The names of all changing requests of REST. */
export const changingRequests: readonly string[] = [
  ...Object.keys(actingCases),
  ...Object.keys(stayingRequests),
].filter((name) => !/^(?:mutation|tool) /.test(name));
