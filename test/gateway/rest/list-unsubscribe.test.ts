import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDispatcherLater } from '../../../actors/network/checked-request.ts';
import { leaveList } from '../../../actors/sending/leave-list.ts';
import { createAddressGuard } from '../../../core/shared/network-address.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { mutate } from '../../support/stages/graph-results.ts';

let gateway: TestGateway;
let box: TestMailbox;
/** A list on loopback, which the actor may reach. */
let list: WebhookReceiver;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  list = await startWebhookReceiver({ tlsName: 'localhost' });
  const open = (allowedPrivateNetworks: string[]) =>
    openDispatcherLater({
      guard: createAddressGuard({ allowedPrivateNetworks, ownPorts: [] }),
      dnsServers: [],
      trustedCertificates: [list.certificate ?? ''],
    });
  const [allowed, strict] = [open(['127.0.0.0/8', '::1/128']), open([])];
  gateway.bus.serve('sending.list.unsubscribe', ({ url }) =>
    leaveList(url.includes('/private') ? strict : allowed, url),
  );
});
afterAll(async () => {
  await gateway.close();
  await list.stop();
});

/** Stores a mail of a list whose signature passed, unless told. */
async function insert(path: string, { isSigned = true, workspaceId = box.workspaceId } = {}): Promise<string> {
  const headers: [string, string][] = [
    ['list-unsubscribe', `<https://localhost:${list.port}${path}>`],
    ['list-unsubscribe-post', 'List-Unsubscribe=One-Click'],
    ['dkim-signature', 'v=1; d=list.test; s=s1; h=from:list-unsubscribe:list-unsubscribe-post; b=abc'],
  ];
  const [id = ''] = await insertMail(gateway.actor, [{ workspaceId, headers }]);
  const authentication = {
    spf: { result: 'none', domain: null },
    dkim: [{ result: isSigned ? 'pass' : 'fail', domain: 'list.test', selector: 's1' }],
    dmarc: { result: 'none', policy: null, domain: null },
    arc: { result: 'none' },
    hasSeveralFromFields: false,
  };
  await gateway.actor.pool.query(
    'update email_content set authentication = $3 where workspace_id = $1 and email_id = $2',
    [workspaceId, id, JSON.stringify(authentication)],
  );
  return id;
}
const leave = (id: string, key = box.apiKey) => gateway.call(key, 'POST', `/emails/${id}/unsubscribe`);

test('a list is left with one request, which has nothing but what RFC 8058 says', async () => {
  const id = await insert('/u/1?a=b');
  const offer = await gateway.call(box.apiKey, 'GET', `/emails/${id}/unsubscribe`);
  expect(offer.json()).toEqual({
    object: 'list_unsubscribe',
    email_id: id,
    one_click: true,
    url: `https://localhost:${list.port}/u/1?a=b`,
    mailto: null,
  });
  const before = list.requests.length;
  const response = await leave(id);
  expect(response.statusCode).toBe(200);
  expect(response.json()).toMatchObject({ object: 'list_unsubscription', id, done: true, status_code: 200 });
  const [request, ...others] = list.requests.slice(before);
  expect(others).toEqual([]);
  expect(request).toMatchObject({ method: 'POST', path: '/u/1?a=b' });
  expect(request?.body.toString()).toBe('List-Unsubscribe=One-Click');
  expect(request?.headers).toMatchObject({ 'content-type': 'application/x-www-form-urlencoded' });
  expect(Object.keys(request?.headers ?? {})).not.toEqual(expect.arrayContaining(['cookie', 'authorization']));
});

test('GraphQL says how a list is left and leaves it', async () => {
  const id = await insert('/u/graph');
  const query = `{ email(id: "${id}") { listUnsubscribe { isOneClick url mailto } } }`;
  const read = await gateway.graphql(box.apiKey, query);
  expect(read.json().data.email.listUnsubscribe).toMatchObject({ isOneClick: true, mailto: null });
  const left = await mutate(
    gateway,
    box.apiKey,
    'unsubscribeFromList',
    { emailId: id },
    'isDone statusCode email { id }',
  );
  expect(left).toMatchObject({ isDone: true, statusCode: 200, email: { id } });
});

test.each([
  ['redirects', [{ status: 302, headers: { location: '/elsewhere' } }], { done: false, status_code: 302 }],
  ['refuses', [{ status: 410 }], { done: false, status_code: 410 }],
] as const)('a list that %s is a result, and no other request follows', async (_how, script, expected) => {
  list.respond(script);
  const before = list.requests.length;
  const response = await leave(await insert('/u/2'));
  list.respond([200]);
  expect(response.statusCode).toBe(200);
  expect(response.json()).toMatchObject(expected);
  expect(list.requests.slice(before)).toHaveLength(1);
});

test('a list at a private address is not reached', async () => {
  const before = list.requests.length;
  const response = await leave(await insert('/private'));
  expect(response.json()).toMatchObject({ done: false, status_code: null });
  expect(response.json().message).toContain('BLOCKED_ADDRESS');
  expect(list.requests.slice(before)).toEqual([]);
});

test('mail whose signature is not valid is a conflict that names the page', async () => {
  const before = list.requests.length;
  const response = await leave(await insert('/u/3', { isSigned: false }));
  expect(response.statusCode).toBe(409);
  expect(response.json().error).toContain(`Open https://localhost:${list.port}/u/3 instead`);
  expect(list.requests.slice(before)).toEqual([]);
});

test('mail of another account and mail that does not exist are not found', async () => {
  const other = await gateway.mailbox();
  const id = await insert('/u/4');
  const before = list.requests.length;
  for (const each of [id, 'em_00000000000000000000000000000000', "';"])
    expect((await leave(each, other.apiKey)).statusCode).toBe(404);
  expect(list.requests.slice(before)).toEqual([]);
});

test('50 requests at once leave 30 lists, and the others get a time to retry', async () => {
  const own = await gateway.mailbox();
  const id = await insert('/u/5', { workspaceId: own.workspaceId });
  const responses = await Promise.all(Array.from({ length: 50 }, () => leave(id, own.apiKey)));
  expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(30);
  const refused = responses.filter(({ statusCode }) => statusCode === 429);
  expect(refused).toHaveLength(20);
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
});

test('a key that may send and not read leaves no list, and is not shown where the offer leads', async () => {
  const { token } = (await gateway.call(box.apiKey, 'POST', '/api-keys', { name: 'x', scopes: ['send'] })).json();
  const before = list.requests.length;
  for (const isSigned of [true, false]) {
    const refused = await leave(await insert('/u/secret', { isSigned }), token);
    expect([refused.statusCode, refused.json().requiredScope]).toEqual([403, 'read']);
    expect(refused.body).not.toContain('secret');
  }
  expect(list.requests).toHaveLength(before);
});
