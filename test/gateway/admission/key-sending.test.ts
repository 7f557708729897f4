import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let other: TestMailbox;
let key: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  other = await gateway.mailbox({ workspaceId: box.workspaceId });
  await gateway.mailbox({ workspaceId: box.workspaceId, domain: `sub.${readName(box)}` });
  const domain = { id: box.domainId, name: readName(box) };
  key = (await insertKey(gateway.owner, box, { scopes: ['read', 'send'], domain })).secret;
});
afterAll(() => gateway.close());

const readName = (mailbox: TestMailbox) => mailbox.address.split('@')[1] ?? '';
const LATER = new Date(Date.now() + 86_400_000).toISOString();
const mail = (from: string, more: object = {}) => ({
  from,
  to: ['bob@elsewhere.test'],
  subject: 'x',
  text: 'x',
  ...more,
});
const call = (as: string, method: string, path: string, body?: object, idempotencyKey?: string) =>
  gateway.app.inject({
    method: method as 'POST',
    url: `/api/e2${path}`,
    headers: {
      authorization: `Bearer ${as}`,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { payload: body }),
  });
const outgoing = async () =>
  (
    await gateway.actor.pool.query(
      `select own_domain, status from email where workspace_id = $1 and type <> 'received' order by id`,
      [box.workspaceId],
    )
  ).rows;

describe('a key of one domain', () => {
  test('sends from that domain only, and from no other address', async () => {
    const sent = await call(key, 'POST', '/emails', mail(box.address));
    expect(sent.statusCode, sent.body).toBe(200);
    expect((await call(key, 'POST', '/emails', mail(`anybody@${readName(box)}`))).statusCode).toBe(200);
    const before = await outgoing();
    for (const from of [
      other.address,
      `hello@sub.${readName(box)}`,
      'ann@of-nobody.test',
      `hello@not${readName(box)}`,
    ]) {
      const domain = from.split('@')[1];
      const message = `This API key can send from ${readName(box)} only, not from ${domain}.`;
      const refused = await call(key, 'POST', '/emails', mail(from));
      expect([refused.statusCode, refused.json()]).toEqual([
        403,
        expect.objectContaining({ message, code: 'limited_to_domain', details: [{ field: 'from', message }] }),
      ]);
      expect((await call(key, 'POST', '/emails', mail(from, { scheduled_at: LATER }))).statusCode).toBe(403);
      const mixed = await call(key, 'POST', '/emails/batch', { emails: [mail(box.address), mail(from)] });
      expect([mixed.statusCode, mixed.json().details]).toEqual([403, [{ field: 'emails.1.from', message }]]);
      const graph = await gateway.graphql(
        key,
        `mutation { sendEmail(input: { from: "${from}", to: ["a@b.test"], subject: "x", text: "x" }) { __typename ... on Error { message code } } }`,
      );
      expect(graph.json().data.sendEmail).toEqual({ __typename: 'Forbidden', message, code: 'limited_to_domain' });
    }
    expect(await outgoing()).toEqual(before);
  });

  test('gets no response that the account stored under an Idempotency-Key', async () => {
    for (const more of [{}, { scheduled_at: LATER }]) {
      const asked = mail(other.address, more);
      const first = await call(box.apiKey, 'POST', '/emails', asked, `key ${JSON.stringify(more)}`);
      expect(first.statusCode, first.body).toBeLessThan(300);
      const refused = await call(key, 'POST', '/emails', asked, `key ${JSON.stringify(more)}`);
      expect([refused.statusCode, refused.body.includes(first.json().id)]).toEqual([403, false]);
    }
    const own = await call(key, 'POST', '/emails', mail(box.address), 'own');
    expect((await call(key, 'POST', '/emails', mail(box.address), 'own')).json()).toEqual(own.json());
  });

  test('replies to and forwards mail of that domain only', async () => {
    const [mine = '', theirs = ''] = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, ownAddress: box.address },
      { workspaceId: box.workspaceId, ownAddress: other.address },
    ]);
    const reply = (id: string, from: string) =>
      call(key, 'POST', `/emails/${id}/reply`, { from, to: ['bob@elsewhere.test'], text: 'x' });
    expect((await reply(mine, box.address)).statusCode).toBe(200);
    expect((await reply(mine, other.address)).statusCode).toBe(403);
    expect((await reply(theirs, box.address)).json().message).toBe('Email or thread not found');
    const forward = async (id: string, from: string) =>
      (
        await gateway.graphql(
          key,
          `mutation { forwardEmail(input: { id: "${id}", from: "${from}", to: ["a@b.test"], withAttachments: false, idempotencyKey: "f" }) { __typename } }`,
        )
      ).json();
    expect((await forward(theirs, box.address)).data?.forwardEmail.__typename).toBe('NotFound');
    expect((await forward(mine, other.address)).data?.forwardEmail.__typename).toBe('Forbidden');
    expect((await forward(mine, box.address)).data?.forwardEmail.__typename).toBe('ForwardEmailPayload');
  });

  test('changes scheduled mail of that domain only', async () => {
    const schedule = async (from: string) =>
      (await call(box.apiKey, 'POST', '/emails', mail(from, { scheduled_at: LATER }))).json().id as string;
    const [mine, theirs] = [await schedule(box.address), await schedule(other.address)];
    const changes = [
      ['PATCH', '', { scheduled_at: new Date(Date.now() + 2 * 86_400_000).toISOString() }],
      ['POST', '/pause', {}],
      ['POST', '/resume', {}],
      ['POST', '/cancel', {}],
    ] as const;
    for (const [method, path, body] of changes) {
      expect((await call(key, method, `/emails/${theirs}${path}`, body)).statusCode, path).toBe(404);
      const done = await call(key, method, `/emails/${mine}${path}`, body);
      expect(done.statusCode, done.body).toBe(200);
    }
    const batch = async (emails: object[]) =>
      (await call(box.apiKey, 'POST', '/emails/batch', { emails })).json().id as string;
    const later = { scheduled_at: LATER };
    const [own, mixed] = [
      await batch([mail(box.address, later)]),
      await batch([mail(box.address, later), mail(other.address, later)]),
    ];
    expect((await call(key, 'POST', `/emails/batch/${mixed}/cancel`)).statusCode).toBe(404);
    expect((await call(key, 'GET', `/emails/batch/${mixed}`)).statusCode).toBe(404);
    expect((await call(key, 'POST', `/emails/batch/${own}/cancel`)).statusCode).toBe(200);
  });
});

describe('a key that may create keys', () => {
  const make = async (as: string, input: string) => {
    const { errors, data } = (
      await gateway.graphql(
        as,
        `mutation { createApiKey(input: { name: "x", ${input} }) { __typename ... on Error { message code } ... on ValidationError { fields { path message } }
          ... on CreateApiKeyPayload { secret apiKey { id } } } }`,
      )
    ).json();
    expect(errors).toBeUndefined();
    return data.createApiKey;
  };

  test('grants at most its own rights', async () => {
    const manages = (await insertKey(gateway.owner, box, { scopes: ['send', 'manage'] })).secret;
    const all = (await insertKey(gateway.owner, box, { scopes: ['read', 'send', 'manage'] })).secret;
    const given = { __typename: 'CreateApiKeyPayload' };
    for (const input of [
      'scopes: [SEND]',
      'scopes: [MANAGE, SEND, SEND]',
      `scopes: [SEND], domains: ["${box.domainId}"]`,
    ])
      expect(await make(manages, input), input).toMatchObject(given);
    for (const input of [
      'scopes: [READ]',
      'scopes: [SEND, READ]',
      'scopes: null',
      'expiresAt: null',
      `domains: ["${box.domainId}"]`,
    ])
      expect(await make(manages, input), input).toEqual({
        __typename: 'Forbidden',
        message: 'A key cannot create a key with more rights than its own. This key has send and manage only.',
        code: 'insufficient_scope',
      });
    // All by name is less than full rights, whatever there will be.
    expect(await make(all, 'scopes: null')).toMatchObject({ __typename: 'Forbidden' });
    expect(await make(all, 'scopes: [READ, SEND, MANAGE]')).toMatchObject(given);
    expect(await make(box.apiKey, 'scopes: null')).toMatchObject(given);
  });

  test.each([
    ['scopes: []', 'scopes', 'Give at least one scope, or omit scopes for full rights'],
    [
      'scopes: [MANAGE], domains: ["DOMAIN"]',
      'scopes',
      'A key that is limited to one domain can have the scopes read and send, not manage.',
    ],
    [
      'domains: ["dom_00000000000070008000000000000000"]',
      'domains',
      'You have no domain dom_00000000000070008000000000000000',
    ],
    ['domains: ["DOMAIN", "FOREIGN"]', 'domains', 'You have no domain FOREIGN'],
    ['addresses: ["ADDRESS", "nobody@elsewhere.test"]', 'addresses', 'You have no email address nobody@elsewhere.test'],
    [
      'addresses: ["ADDRESS"], scopes: [READ, APPROVE]',
      'scopes',
      'A key that is limited to domains or addresses can have the scopes read and send, not approve.',
    ],
    ['addresses: []', 'addresses', 'Give at least one, or omit addresses'],
  ])('gets an error that explains %s', async (input, field, message) => {
    const stranger = await gateway.mailbox();
    const filled = (text: string) =>
      text.replace('DOMAIN', box.domainId).replace('FOREIGN', stranger.domainId).replace('ADDRESS', box.address);
    expect(await make(box.apiKey, filled(input))).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: [field], message: filled(message) }],
    });
  });

  test('revokes itself with any scope, and others with manage', async () => {
    const reads = await insertKey(gateway.owner, box, { scopes: ['read'] });
    const sends = await insertKey(gateway.owner, box, { scopes: ['send'] });
    const manages = await insertKey(gateway.owner, box, { scopes: ['manage'] });
    const end = (as: string, id: string, variables?: object) =>
      gateway.call(as, 'POST', '/graphql', {
        query:
          variables === undefined
            ? `mutation { revokeApiKey(input: { id: "${id}" }) { __typename ... on RevokeApiKeyPayload { apiKey { id status } } } }`
            : 'mutation($id: ID!, $input: RevokeApiKeyInput = { id: "x" }) { a: revokeApiKey(input: { id: $id }) { __typename } b: revokeApiKey(input: $input) { __typename } }',
        ...(variables === undefined ? {} : { variables }),
      });
    expect((await end(sends.secret, reads.id)).json().errors[0].extensions).toMatchObject({
      code: 'FORBIDDEN',
      requiredScope: 'manage',
    });
    const both = { id: sends.id, input: { id: reads.id } };
    expect((await end(sends.secret, '', both)).json().errors[0].extensions.code).toBe('FORBIDDEN');
    expect((await end(sends.secret, sends.id)).json().data.revokeApiKey).toEqual({
      __typename: 'RevokeApiKeyPayload',
      apiKey: { id: sends.id, status: 'REVOKED' },
    });
    expect((await end(sends.secret, sends.id)).statusCode).toBe(401);
    expect((await end(manages.secret, reads.id)).json().data.revokeApiKey.apiKey.status).toBe('REVOKED');
  });

  test('sees which one it is, and the rights of each', async () => {
    const { apiKey } = await make(box.apiKey, `scopes: [SEND], domains: ["${box.domainId}"]`);
    const shown = await gateway.graphql(
      box.apiKey,
      `{ apiKey(id: "${apiKey.id}") { isCurrent scopes domains { id name } addresses status } apiKeys(first: 50) { edges { node { isCurrent scopes } } } }`,
    );
    const { apiKey: made, apiKeys } = shown.json().data;
    expect(made).toEqual({
      isCurrent: false,
      scopes: ['SEND'],
      domains: [{ id: box.domainId, name: readName(box) }],
      addresses: [],
      status: 'ACTIVE',
    });
    const current = apiKeys.edges.filter(({ node }: { node: { isCurrent: boolean } }) => node.isCurrent);
    expect(current).toEqual([{ node: { isCurrent: true, scopes: null } }]);
  });
});
