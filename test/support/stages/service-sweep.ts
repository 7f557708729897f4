import { openDatabase } from '../../../db/connection/database.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import {
  addByInterface,
  addDraft,
  addMail,
  addRequest,
  type GatewayResponse,
  type Holdings,
  type HoldingsGround,
  readDigests,
  readHoldings,
  workspaceTables,
} from '../rows/holdings.ts';
import { recordRoutes } from '../rows/route-table.ts';
import type { TestMailbox } from '../rows/routing-rows.ts';
import { openRoutesOnly } from '../servers/gateway.ts';
import type { DomainAccount, Service } from '../servers/service.ts';
import { graphPlaces } from './graph-places.ts';
import { type GraphSweepOptions, sweepField, sweptFields } from './graph-sweep.ts';
import { type Breadth, type SweepOptions, sweepRoute } from './isolation-sweep.ts';
import { bodyExamples, inSweepOrder, routesOfUsers } from './swept-routes.ts';

/** Columns that a running service writes by itself: when a key was used, and when DNS of a domain was looked up, with what result. */
const MOVING = ['last_used_at', 'last_used_from', 'checked_at', 'check_due_at', 'dns_check'];

/** Fields of routes in which an ID of the stranger does not change the response, each with the reason. */
const UNANSWERED_ROUTES: Readonly<Record<string, string>> = {
  'PATCH /api/e2/drafts/:id attachments.0.id': 'the version of the example is past',
  'POST /api/e2/emails/reprocess email_ids.0': 'the emails of the stranger are rows without a received message',
  'POST /api/e2/mail/threads/merge thread_ids.0': 'the other thread of the example is unknown',
  'POST /api/e2/emails/simulate email_id': 'read by templates only that answer an email',
  'POST /api/e2/mail/threads/undo undo_id': 'a change is undone once',
  'POST /api/e2/suppressions/batch/remove ids.0': 'DELETE /suppressions/:id has removed them',
};

/** Places in which an ID of the stranger does not change the response, each with the reason. */
const UNANSWERED: Readonly<Record<string, string>> = {
  'mutation reprocessEmails input.emailIds': 'the emails of the stranger are rows without a received message',
  'query draftAttachment draftId': 'found only with the ID of one of its attachments',
  'query draftAttachment id': 'an attachment is found only within its draft',
  'mutation simulateInbound input.emailId': 'read by templates only that answer an email',
};

/**
 * Asks a running service, as a stranger with rows of each kind, for everything of an account, by every route of REST and every field of
 * GraphQL. Returns what is wrong, see sweepRoute and sweepField, and how many routes and fields were asked. The rows of the account must
 * have come to rest. It leaves rows behind that no ledger knows of.
 */
export async function sweepService(
  service: Service,
  swept: TestMailbox,
  breadth: Breadth,
): Promise<{ complaints: string[]; routes: number; fields: number }> {
  const actor = openDatabase({
    url: await service.databaseUrl(),
    role: null,
    poolSize: 2,
    applicationName: 'sweep',
    onError: () => undefined,
  });
  const { opened: app, routes } = await recordRoutes(openRoutesOnly);
  try {
    await app.ready();
    const ground: HoldingsGround = {
      actor,
      mailbox: async () => readMailbox(await service.createAccount()),
      call: (key, method, path, body, headers) => request(service.url, key, method, `/api/e2${path}`, body, headers),
    };
    await addByInterface(ground, swept, ['later', 'rule', 'suppression']);
    const theirs = await readHoldings(actor, swept);
    // The log of requests is written a second later.
    const tables = (await workspaceTables(actor)).filter((name) => name !== 'api_request');
    const digests = () => readDigests(actor, tables, swept.workspaceId, MOVING);
    let before = await digests();
    const findChanged = async () => {
      const now = await digests();
      const changed = tables.filter((table) => now.get(table) !== before.get(table));
      before = now;
      return changed;
    };
    // The rows of an experiment are many: looked at after every route at length, and once at the end otherwise.
    const changedTables = async () => (breadth === 'few' ? [] : findChanged());
    const complaints: string[] = [];

    // The log of requests lists what the stranger asked, with the IDs in it: it is swept where the log is off.
    // Each sweep deletes at its end what its stranger has.
    const ofRest = await strangerOn(ground);
    const restRoutes = inSweepOrder(routesOfUsers(routes).filter(({ url }) => url !== '/api/e2/requests'));
    const restOptions: SweepOptions = {
      mine: ofRest,
      theirs,
      call: (method, path, body) => request(service.url, ofRest.mailbox.apiKey, method, path, body),
      changedTables,
      unanswered: UNANSWERED_ROUTES,
      written: new Set(),
      listExamples: bodyExamples(app),
      breadth,
      isLive: true,
    };
    for (const route of restRoutes) complaints.push(...(await sweepRoute(route, restOptions)));

    const ofGraph = await strangerOn(ground);
    const fields = sweptFields(graphPlaces(schema)).filter(([name]) => name !== 'query apiRequests');
    const graphOptions: GraphSweepOptions = {
      schema,
      mine: ofGraph,
      theirs,
      call: (query, variables) =>
        request(service.url, ofGraph.mailbox.apiKey, 'POST', '/graphql', { query, variables }),
      unanswered: UNANSWERED,
      breadth,
      isLive: true,
    };
    for (const [name, places] of fields) {
      complaints.push(...(await sweepField(name, places, graphOptions)));
      for (const table of await changedTables()) complaints.push(`${name}: rows of the other user in ${table} changed`);
    }
    for (const table of await findChanged()) complaints.push(`rows of the other user in ${table} changed`);
    return { complaints, routes: restRoutes.length, fields: fields.length };
  } finally {
    await app.close();
    await actor.close();
  }
}

/** An account with some rows of each kind that routes and fields ask for. */
async function strangerOn(ground: HoldingsGround): Promise<Holdings> {
  const mailbox = await ground.mailbox();
  const known = await addMail(ground, mailbox);
  await addRequest(ground.actor, mailbox);
  await addByInterface(ground, mailbox, ['sent', 'batch', 'domain', 'later', 'rule', 'suppression', 'reply-address']);
  await addDraft(ground, mailbox, known['email_id'] ?? '');
  return readHoldings(ground.actor, mailbox);
}

/** Gives the account an email address with a webhook, which no server listens to. */
async function readMailbox(account: DomainAccount): Promise<TestMailbox> {
  const { workspaceId, apiKey, domainId, domain } = account;
  const config = { url: 'https://hooks.example.com/' };
  const endpoint = await account.call('POST', '/endpoints', { name: 'hook', type: 'webhook', config });
  const address = `hello@${domain}`;
  const made = await account.call('POST', '/email-addresses', { address, domainId, endpointId: endpoint.body.id });
  return { workspaceId, apiKey, domainId, address, addressId: made.body.id, endpointId: endpoint.body.id };
}

async function request(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<GatewayResponse> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
