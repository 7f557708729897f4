import type { FastifyInstance } from 'fastify';
import { schema } from '../../../schema/graphql/schema.ts';
import type { Holdings } from '../rows/holdings.ts';
import type { ServedRoute } from '../rows/route-table.ts';
import { auditedRequests } from './audited-requests.ts';
import { requiredArguments } from './graph-places.ts';
import { exampleArguments } from './graph-sweep.ts';
import { listBodies, listCandidates } from './isolation-sweep.ts';
import type { SweptCredential } from './rights-credentials.ts';
import type { Given, SweptOperation } from './rights-operations.ts';
import { actingCases, stayingCases } from './storing-requests.ts';
import type { StoringWorld } from './storing-world.ts';
import { bodyExamples } from './swept-routes.ts';

/** Requests of each operation. */
export interface ValidRequests {
  /** names nothing that there is */
  unknown: (operation: SweptOperation) => Given;
  /** what may be done in the world, the likeliest first; each makes new what it needs */
  tries: (operation: SweptOperation) => ((by: SweptCredential) => Promise<Given>)[];
}

/** Requests that neither the cases of stored actions nor the documented examples have. */
type Cases = Readonly<Record<string, (world: StoringWorld, by: SweptCredential) => Promise<Given>>>;

const body = async (given: object): Promise<Given> => ({ body: given });
const readDomain = (w: StoringWorld) => w.box.address.split('@')[1] ?? '';

/** A draft of the credential itself: that of another one needs `read` beside. Of those who may write none, that of the workspace's key. */
async function ownDraft(w: StoringWorld, { send }: SweptCredential): Promise<{ id: string; version: number }> {
  const given = { kind: 'new', from: w.box.address, to: 'bob@elsewhere.test', subject: 'x', text: 'x' };
  const made = await send('POST', '/api/e2/drafts', given);
  const { id, version } = made.statusCode < 300 ? (made.json() as { id: string; version: number }) : await w.draft();
  return { id, version };
}

/** A note of the credential itself. */
async function ownNote(w: StoringWorld, { send }: SweptCredential): Promise<string> {
  const made = await send('POST', `/api/e2/mail/threads/${await w.thread()}/notes`, { text: 'x' });
  return made.statusCode < 300 ? (made.json() as { id: string }).id : w.note();
}

/** An event of a webhook that failed. */
async function failedEvent(w: StoringWorld): Promise<Given> {
  return { id: w.box.endpointId, other: (await w.failedDelivery()).deliveryId };
}

/** A rule that routes nothing. */
const BLOCKS = { type: 'EXPLICIT', config: { subject: { values: ['x'] } }, action: { action: 'BLOCK' } };

const CASES: Cases = {
  'PATCH /drafts/:id': async (w, by) => {
    const { id, version } = await ownDraft(w, by);
    return { id, body: { version, text: 'y' } };
  },
  'DELETE /drafts/:id': async (w, by) => ({ id: (await ownDraft(w, by)).id }),
  'POST /drafts/:id/send': async (w, by) => {
    const { id, version } = await ownDraft(w, by);
    return { id, body: { version } };
  },
  'mutation updateDraft': async (w, by) => body({ ...(await ownDraft(w, by)), text: 'y' }),
  'mutation deleteDraft': async (w, by) => body({ id: (await ownDraft(w, by)).id }),
  'mutation sendDraft': async (w, by) => body(await ownDraft(w, by)),
  'PATCH /mail/notes/:id': async (w, by) => ({ id: await ownNote(w, by), body: { text: 'y' } }),
  'DELETE /mail/notes/:id': async (w, by) => ({ id: await ownNote(w, by) }),
  'mutation updateThreadNote': async (w, by) => body({ id: await ownNote(w, by), text: 'y' }),
  'mutation deleteThreadNote': async (w, by) => body({ id: await ownNote(w, by) }),
  'POST /mail/threads/merge': async (w) => body({ thread_ids: [await w.thread(), await w.thread()] }),
  'mutation mergeThreads': async (w) => body({ threadIds: [await w.thread(), await w.thread()] }),
  'PATCH /domains/:id': async (w) => ({ id: w.box.domainId, body: { isCatchAllEnabled: false } }),
  'PUT /domains/:id': async (w) => ({ id: w.box.domainId, body: { isCatchAllEnabled: false } }),
  'mutation updateDomain': (w) => body({ id: w.box.domainId, isCatchAllEnabled: false }),
  'POST /email-addresses': (w) => body({ address: `${w.fresh()}@${readDomain(w)}`, domainId: w.box.domainId }),
  'PATCH /email-addresses/:id': async (w) => ({ id: await w.address(), body: { isActive: false } }),
  'PUT /email-addresses/:id': async (w) => ({ id: await w.address(), body: { isActive: false } }),
  'mutation createEmailAddress': (w) => body({ address: `${w.fresh()}@${readDomain(w)}`, domainId: w.box.domainId }),
  'mutation updateEmailAddress': async (w) => body({ id: await w.address(), isActive: false }),
  'PATCH /endpoints/:id': async (w) => ({ id: await w.endpoint('webhook'), body: { name: 'y' } }),
  'PUT /endpoints/:id': async (w) => ({ id: await w.endpoint('webhook'), body: { name: 'y' } }),
  'PATCH /webhooks/:id': async (w) => ({ id: await w.endpoint('webhook'), body: { status: 'disabled' } }),
  'GET /webhooks/:webhookId/events/:eventId': failedEvent,
  'GET /webhooks/:webhookId/events/:eventId/attempts': failedEvent,
  'mutation updateWebhookEndpoint': async (w) => body({ id: await w.endpoint('webhook'), name: 'y' }),
  'mutation updateEmailEndpoint': async (w) => body({ id: await w.endpoint('email'), name: 'y' }),
  'mutation updateEmailGroupEndpoint': async (w) =>
    body({ id: await w.endpoint('email_group', { config: { emails: ['a@x.test'] } }), name: 'y' }),
  'PATCH /guard/:id': async (w) => ({ id: await w.rule({ action: 'block' }), body: { name: w.fresh() } }),
  'PUT /guard/:id': async (w) => ({ id: await w.rule({ action: 'block' }), body: { name: w.fresh() } }),
  'mutation updateGuardRule': async (w) => body({ id: await w.rule({ action: 'block' }), name: w.fresh() }),
  'POST /guard': (w) =>
    body({
      name: w.fresh(),
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['x'] } },
      action: { action: 'block' },
    }),
  'mutation createGuardRule': (w) => body({ name: w.fresh(), ...BLOCKS }),
  'mutation backtestGuardRule': () => body(BLOCKS),
  'mutation cancelEmail': async (w) => body({ id: await w.scheduled() }),
  'mutation claimThread': async (w) => body({ threadId: await w.thread(), holder: 'x' }),
  'mutation createDraft': () => body({ kind: 'NEW', subject: 'x', text: 'x' }),
  'mutation createInvitation': (w) => body({ email: `${w.fresh()}@team.test`, role: 'VIEWER' }),
  'mutation createReplyAddress': (w) => body({ domain: w.box.domainId }),
  // One that was just sent is not sent again.
  'mutation resendInvitation': async (w) => body({ id: await w.invitation() }),
  'mutation pauseEmail': async (w) => body({ id: await w.scheduled() }),
  'mutation rejectEmail': async (w) => body({ id: await w.awaitingApproval() }),
  'mutation releaseThreadClaim': async (w) => {
    const { id, token } = await w.claimed();
    return body({ threadId: id, token });
  },
  'mutation renewThreadClaim': async (w) => {
    const { id, token } = await w.claimed();
    return body({ threadId: id, token, ttl: 300 });
  },
  'mutation removeImageSender': async (w) => body({ address: await w.imageSender() }),
  'mutation removeMember': async (w) => body({ id: await w.member() }),
  'mutation updateMember': async (w) => body({ id: await w.member(), role: 'AGENT' }),
  'mutation transferOwnership': async (w) => body({ id: await w.member() }),
  'mutation removeSuppression': async (w) => body({ idOrAddress: await w.suppressed() }),
  'mutation setPicture': () => body({ content: null }),
  'query waitForEmail': () => body({ timeout: 0 }),
  'query explainRoute': async (w) => body({ emailId: await w.received() }),
  'query customerWorkspaceUsage': async (w) => body({ id: await w.customer() }),
  'POST /emails/wait': () => body({ timeout: 0 }),
  'DELETE /oauth/grants/:id': async (w) => ({ id: await w.grant() }),
  'mutation revokeOauthGrant': async (w) => body({ id: await w.grant() }),
  'POST /members/leave': async (w) => body({ workspace_id: w.box.workspaceId }),
  'tool who_am_i': () => body({}),
  'tool search_threads': () => body({}),
  'tool read_thread': async (w) => body({ thread_id: await w.thread() }),
  'tool search_emails': () => body({}),
  'tool read_email': async (w) => body({ email_id: await w.received() }),
  'tool wait_for_email': () => body({ timeout: 0 }),
  'tool list_labels': () => body({}),
  'tool list_drafts': () => body({}),
  'tool read_draft': async (w) => body({ draft_id: (await w.draft()).id }),
  'tool cancel_email': async (w) => body({ email_id: await w.scheduled() }),
  'tool create_draft': () => body({ kind: 'new', subject: 'x', text: 'x' }),
  'tool update_draft': async (w, by) => {
    const { id, version } = await ownDraft(w, by);
    return body({ draft_id: id, version, text: 'y' });
  },
  'tool delete_draft': async (w, by) => body({ draft_id: (await ownDraft(w, by)).id }),
  'tool send_draft': async (w, by) => {
    const { id, version } = await ownDraft(w, by);
    return body({ draft_id: id, version });
  },
  'tool review_email': async (w) => body({ email_id: await w.awaitingApproval() }),
  'tool reject_email': async (w) => body({ email_id: await w.awaitingApproval() }),
  'tool label_threads': async (w) => body({ thread_ids: [await w.thread()], add_labels: ['x'] }),
  'tool archive_threads': async (w) => body({ thread_ids: [await w.thread()] }),
  'tool mark_threads_read': async (w) => body({ thread_ids: [await w.thread()] }),
  'tool trash_threads': async (w) => body({ thread_ids: [await w.thread()] }),
  'tool claim_thread': async (w) => body({ thread_id: await w.thread(), holder: 'x' }),
  'tool release_thread': async (w) => {
    const { id, token } = await w.claimed();
    return body({ thread_id: id, claim_token: token });
  },
  'tool list_thread_notes': async (w) => body({ thread_id: await w.thread() }),
  'tool assign_thread': async (w) => body({ thread_id: await w.thread(), assignee: null }),
  'tool snooze_thread': async (w) => body({ thread_id: await w.thread(), until: null }),
  'tool remind_of_thread': async (w) => body({ thread_id: await w.thread(), at: null }),
  'tool add_thread_note': async (w) => body({ thread_id: await w.thread(), text: 'x' }),
  'tool suppress_address': () => body({ address: 'swept@example.org' }),
  'tool list_suppressions': () => body({}),
  'tool remove_suppression': async (w) => body({ id_or_address: await w.suppressed() }),
  'tool create_reply_address': (w) => body({ domain: readDomain(w), metadata: { a: 'b' } }),
  'tool list_reply_addresses': () => body({}),
  'tool revoke_reply_address': async (w) => body({ reply_address_id: await w.replyAddress() }),
  'tool list_refusals': () => body({}),
};

/** How many IDs of the workspace are tried in a path with two, the likeliest first. */
const MAX_IDS = 24;
/** Values of required arguments that name nothing. */
const UNKNOWN: Readonly<Record<string, unknown>> = { String: 'x', ID: 'em_none', Int: 1, Boolean: true, JSON: {} };

export function listValidRequests(
  app: FastifyInstance,
  { mine, world, routes }: { mine: Holdings; world: StoringWorld; routes: readonly ServedRoute[] },
): ValidRequests {
  const listExamples = bodyExamples(app);
  const routesByName = new Map(routes.map((route) => [`${route.method} ${route.url.replace('/api/e2', '')}`, route]));
  const readField = (name: string) => {
    const [operation, field = ''] = name.split(' ');
    return schema.getRootType(operation as never)?.getFields()[field];
  };

  function examples({ name }: SweptOperation): Given[] {
    const route = routesByName.get(name);
    if (route !== undefined) {
      const bodies = [...listBodies(route, { mine, listExamples }), undefined] as (object | undefined)[];
      const ids =
        route.params.length === 0
          ? [undefined]
          : listCandidates(mine, route.url).slice(0, route.params.length < 2 ? Infinity : MAX_IDS);
      const others =
        route.params.length < 2
          ? [undefined]
          : ['0', 'a.txt', ...['att', 'dmr'].flatMap((prefix) => mine.ids.get(prefix) ?? [])];
      return ids.flatMap((id) =>
        others.flatMap((other) =>
          bodies.map((each) => ({
            ...(id !== undefined && { id }),
            ...(other !== undefined && { other }),
            ...(each !== undefined && { body: each }),
          })),
        ),
      );
    }
    const field = readField(name);
    return field === undefined ? [] : exampleArguments(field, mine).map((each) => ({ body: each }));
  }

  return {
    unknown({ name, url }) {
      if (name === 'query waitForEmail' || name === 'tool wait_for_email') return { body: { timeout: 0 } };
      const field = readField(name);
      if (field !== undefined) return { body: requiredArguments(field, (_name, type) => UNKNOWN[type] ?? 'x') };
      return url === '/mcp' || !name.startsWith('GET ') ? { body: {} } : {};
    },
    tries(operation) {
      const { name } = operation;
      const own = CASES[name];
      const acting = (actingCases[name] ?? []).map(
        ({ given }) =>
          () =>
            given(world),
      );
      const staying = stayingCases[name];
      const audited = auditedRequests[name]?.given;
      return [
        ...(own === undefined ? [] : [(by: SweptCredential) => own(world, by)]),
        ...acting,
        ...(staying === undefined || staying.actors !== 'none' ? [] : [() => staying.given(world)]),
        ...(audited === undefined ? [] : [() => audited(world)]),
        ...examples(operation).map((given) => async () => given),
      ];
    },
  };
}
