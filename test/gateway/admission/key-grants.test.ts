import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settleKeys } from '../../../actors/scheduling/settle-expired-keys.ts';
import { type Scope } from '../../../core/accounts/key-rights.ts';
import { readEndpointsSql } from '../../../db/queries/routing/delivery-route.ts';
import { runActions } from '../../../operations/endpoints/run-actions.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

/*
 * What is stored now and acts later does no more than the rights of the key that stored it, then and now (docs/decisions/0095). Every request
 * with every set of scopes is in stored-actions.attack.ts.
 */

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
});

const HOOK = { url: 'https://hooks.example.com/in' };
const LATER = new Date(Date.now() + 86_400_000).toISOString();
const key = (...scopes: Scope[]) => insertKey(gateway.owner, box, { scopes });
const webhook = (more: object = {}) => ({ name: 'x', type: 'webhook', config: HOOK, ...more });
const rule = (action: object) => ({ name: 'x', type: 'explicit', config: { from: { values: ['a@x.test'] } }, action });
const status = async (as: string, method: string, path: string, body?: object) =>
  (await gateway.call(as, method as 'POST', path, body)).statusCode;
const readEndpoint = async (id: string) =>
  (await gateway.actor.pool.query(readEndpointsSql, [[box.workspaceId], [id]])).rows[0];
const create = async (as: string, body: object): Promise<string> => {
  const response = await gateway.call(as, 'POST', '/endpoints', body);
  expect(response.statusCode, response.body).toBe(201);
  return response.json().id;
};

test('a key without send changes no endpoint that allows actions, but may stop it from acting', async () => {
  const id = await create(box.apiKey, webhook({ allowActions: true }));
  const { secret } = await key('manage', 'read');
  expect(await status(secret, 'PATCH', `/endpoints/${id}`, { config: { url: 'https://evil.example/' } })).toBe(403);
  expect(await status(secret, 'PATCH', `/endpoints/${id}`, { name: 'y' })).toBe(200);
  expect(await status(secret, 'PATCH', `/endpoints/${id}`, { allowActions: false })).toBe(200);
  expect(await status(secret, 'PATCH', `/endpoints/${id}`, { allowActions: true })).toBe(403);
});

test('simulating a reply or a bounce requires read', async () => {
  const { secret } = await key('manage', 'send');
  const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress: box.address }]);
  const simulate = async (input: string) =>
    (
      await gateway.graphql(
        secret,
        `mutation { simulateInbound(input: { ${input} }) { __typename ... on Error { message } } }`,
      )
    ).json().data.simulateInbound;
  for (const template of ['REPLY', 'BOUNCE'])
    expect(await simulate(`template: ${template}, emailId: "${id}"`)).toEqual({
      __typename: 'Forbidden',
      message: expect.stringContaining('needs the scope read'),
    });
});

describe('a key that loses rights', () => {
  const narrow = async (id: string, scopes: Scope[]) => {
    const changed = await gateway.call(box.apiKey, 'PATCH', `/api-keys/${id}`, { scopes });
    expect(changed.statusCode, changed.body).toBe(200);
  };
  const act = async (endpointId: string, type: 'reply' | 'archive') => {
    const [emailId = ''] = await insertMail(gateway.actor, [
      {
        workspaceId: box.workspaceId,
        ownAddress: box.address,
        addresses: {
          from: { text: 'a@x.test', addresses: [{ name: null, address: 'a@x.test' }] },
          to: null,
          cc: null,
          bcc: null,
          replyTo: null,
        },
      },
    ]);
    const row = await readEndpoint(endpointId);
    const settings = { sendLimitPerHour: 0, approvalDays: 7, secretKey: Buffer.alloc(32), unsubscribeUrl: null };
    const context = { ...testActorContext(gateway.actor), settings, workspaceId: box.workspaceId };
    const acted = await runActions(context, {
      emailId,
      eventKind: 'email.received',
      endpoint: { id: endpointId, name: 'x', setByKeyId: row.set_by_key_id, grantedScopes: row.granted_scopes },
      actions: type === 'reply' ? [{ type, text: 'Hi' }] : [{ type }],
      readRaw: async () => null,
      traceParent: null,
      stopping: new AbortController().signal,
      finish: async () => [],
      onReady: () => undefined,
    });
    return acted.kind === 'refused' ? (acted.log.problem?.message ?? JSON.stringify(acted.log)) : acted.kind;
  };

  test('limits the actions of its endpoint to them, which is disabled without read', async () => {
    const { id: keyId, secret } = await key('read', 'send', 'manage');
    const id = await create(secret, webhook({ allowActions: true }));
    expect([await act(id, 'reply'), await act(id, 'archive')]).toEqual(['done', 'done']);
    await narrow(keyId, ['read', 'manage']);
    expect(await act(id, 'reply')).toContain('needs the scope send');
    expect(await act(id, 'archive')).toBe('done');
    await narrow(keyId, ['read']);
    expect(await act(id, 'archive')).toContain('needs the scope manage');
    expect(await readEndpoint(id)).toMatchObject({ is_active: true, granted_scopes: ['read'] });
    expect(await status(box.apiKey, 'DELETE', `/api-keys/${keyId}`)).toBe(200);
    const stopped = (await gateway.call(box.apiKey, 'GET', `/endpoints/${id}`)).json();
    expect(stopped).toMatchObject({ isActive: false, inactiveReason: expect.stringContaining('was revoked') });
    const { rows } = await gateway.actor.pool.query(
      `select endpoint_id from event where workspace_id = $1 and kind = 'endpoint.disabled'`,
      [box.workspaceId],
    );
    expect(rows).toEqual([{ endpoint_id: id }]);
    expect(await status(box.apiKey, 'PATCH', `/endpoints/${id}`, { isActive: true })).toBe(200);
    expect([(await readEndpoint(id)).granted_scopes, await act(id, 'reply')]).toEqual([null, 'done']);
  });

  test('stops its routes, rules, endpoints and scheduled mail, unless they are kept', async () => {
    const set = async () => {
      const { id: keyId, secret } = await key('read', 'send', 'manage');
      const endpointId = await create(secret, webhook());
      expect(await status(secret, 'PATCH', `/email-addresses/${box.addressId}`, { endpointId })).toBe(200);
      expect(await status(secret, 'POST', '/guard', rule({ action: 'route', endpointId }))).toBe(201);
      const { rows } = await gateway.owner.pool.query('select id from guard_rule where set_by_key_id = $1', [keyId]);
      const email = { from: box.address, to: 'a@x.test', subject: 'x', text: 'x', scheduled_at: LATER };
      const scheduled = await gateway.call(secret, 'POST', '/emails', email);
      return { keyId, endpointId, ruleId: rows[0].id as string, emailId: scheduled.json().id as string };
    };
    const states = async ({ endpointId, ruleId, emailId }: Awaited<ReturnType<typeof set>>) => {
      const { rows } = await gateway.owner.pool.query(
        `select (select is_active from endpoint where id = $1) as endpoint, (select is_active from guard_rule where id = $2) as rule,
           (select route_granted_scopes is null or 'read' = any (route_granted_scopes) from email_address where id = $3) as route,
           (select status from email where id = $4) as email`,
        [endpointId, ruleId, box.addressId, emailId],
      );
      return rows[0];
    };
    const ended = await set();
    expect(await status(box.apiKey, 'DELETE', `/api-keys/${ended.keyId}`)).toBe(200);
    expect(await states(ended)).toEqual({ endpoint: false, rule: false, route: false, email: 'paused' });
    const kept = await set();
    expect(await status(box.apiKey, 'DELETE', `/api-keys/${kept.keyId}?keep_configuration=true`)).toBe(200);
    expect(await states(kept)).toEqual({ endpoint: true, rule: true, route: true, email: 'scheduled' });
    const expired = await set();
    await gateway.owner.pool.query(`update api_key set expires_at = now() - interval '1 s' where id = $1`, [
      expired.keyId,
    ]);
    expect(await settleKeys(testActorContext(gateway.actor))).toBe(1);
    expect(await states(expired)).toEqual({ endpoint: false, rule: false, route: false, email: 'paused' });
    expect(await settleKeys(testActorContext(gateway.actor))).toBe(0);
  });

  test('pauses scheduled mail with a new send policy, and the key resumes none that the policy did not judge', async () => {
    const { id: keyId, secret } = await key('read', 'send');
    const schedule = async (as: string, to: string) => {
      const email = { from: box.address, to, subject: 'x', text: 'x', scheduled_at: LATER };
      const response = await gateway.call(as, 'POST', '/emails', email);
      expect(response.statusCode, response.body).toBe(201);
      return response.json().id as string;
    };
    const readState = async (id: string) =>
      (await gateway.owner.pool.query('select status from email where id = $1', [id])).rows[0].status;
    const resume = async (as: string, id: string, at?: string) => {
      const more = at === undefined ? '' : `, scheduledAt: "${at}"`;
      const query = `mutation { resumeEmail(input: { id: "${id}"${more} }) { __typename ... on Error { code } } }`;
      return (await gateway.graphql(as, query)).json().data?.resumeEmail;
    };
    const earlier = await schedule(secret, 'stranger@x.test');
    const policy = { recipients: 'list', allow: ['a@x.test'] };
    expect(await status(box.apiKey, 'PATCH', `/api-keys/${keyId}`, { name: 'renamed' })).toBe(200);
    expect(await readState(earlier)).toBe('scheduled');
    expect(await status(box.apiKey, 'PATCH', `/api-keys/${keyId}`, { policy })).toBe(200);
    expect(await readState(earlier)).toBe('paused');
    const refused = { __typename: 'Forbidden', code: 'SEND_POLICY' };
    expect(await resume(secret, earlier)).toEqual(refused);
    expect(await resume(secret, earlier, LATER)).toEqual(refused);
    // Nor does another time make it the key's own.
    expect(await status(secret, 'PATCH', `/emails/${earlier}`, { scheduled_at: LATER })).toBe(403);
    expect(await readState(earlier)).toBe('paused');
    const own = await schedule(secret, 'a@x.test');
    expect(await status(box.apiKey, 'PATCH', `/api-keys/${keyId}`, { policy })).toBe(200);
    expect(await readState(own)).toBe('scheduled');
    const pause = `mutation { pauseEmail(input: { id: "${own}" }) { __typename } }`;
    expect((await gateway.graphql(secret, pause)).json().data.pauseEmail.__typename).toBe('PauseEmailPayload');
    expect((await resume(secret, own)).__typename).toBe('ResumeEmailPayload');
    expect((await resume(box.apiKey, earlier)).__typename).toBe('ResumeEmailPayload');
    expect([await readState(own), await readState(earlier)]).toEqual(['scheduled', 'scheduled']);
  });

  describe('under a send policy', () => {
    const schedule = async (as: string, to = 'a@x.test', from = box.address) => {
      const email = { from, to, subject: 'x', text: 'x', scheduled_at: LATER };
      const response = await gateway.call(as, 'POST', '/emails', email);
      expect(response.statusCode, response.body).toBe(201);
      return response.json().id as string;
    };
    const readState = async (id: string) =>
      (await gateway.owner.pool.query('select status from email where id = $1', [id])).rows[0].status;
    const setPolicy = async (keyId: string, policy: object) =>
      expect(await status(box.apiKey, 'PATCH', `/api-keys/${keyId}`, { policy })).toBe(200);
    const over = {
      REST: (as: string, verb: string, id: string, body: object = {}) =>
        status(as, 'POST', `/emails/${id}/${verb}`, body),
      async GraphQL(as: string, verb: string, id: string, { scheduled_at: at }: { scheduled_at?: string } = {}) {
        const more = at === undefined ? '' : `, scheduledAt: "${at}"`;
        const query = `mutation { done: ${verb}Email(input: { id: "${id}"${more} }) { __typename ... on Error { code } } }`;
        const { done } = (await gateway.graphql(as, query)).json().data;
        return done.code === 'SEND_POLICY' ? 403 : done.code === undefined ? 200 : done;
      },
    };

    test.each(['REST', 'GraphQL'] as const)(
      'neither resumes nor moves what it paused before the policy, over %s',
      async (path) => {
        const { id: keyId, secret } = await key('read', 'send');
        const id = await schedule(secret, 'stranger@x.test');
        expect(await over[path](secret, 'pause', id)).toBe(200);
        await setPolicy(keyId, { recipients: 'participants' });
        expect(await over[path](secret, 'resume', id)).toBe(403);
        expect(await over[path](secret, 'resume', id, { scheduled_at: LATER })).toBe(403);
        expect(await status(secret, 'PATCH', `/emails/${id}`, { scheduled_at: LATER })).toBe(403);
        expect(await readState(id)).toBe('paused');
        expect(await over[path](box.apiKey, 'resume', id)).toBe(200);
        expect(await readState(id)).toBe('scheduled');
      },
    );

    test('keeps its scheduled mail when the policy becomes looser, and still resumes it', async () => {
      const { id: keyId, secret } = await key('read', 'send');
      await setPolicy(keyId, { recipients: 'list', allow: ['a@x.test'], per_hour: 10 });
      const [id, paused] = [await schedule(secret), await schedule(secret)];
      expect(await over.REST(secret, 'pause', paused)).toBe(200);
      await setPolicy(keyId, { recipients: 'list', allow: ['x.test'], per_hour: 1_000 });
      expect(await readState(id)).toBe('scheduled');
      expect(await over.REST(secret, 'resume', paused)).toBe(200);
      await setPolicy(keyId, { recipients: 'list', allow: ['x.test'], per_hour: 999 });
      expect([await readState(id), await readState(paused)]).toEqual(['paused', 'paused']);
    });

    test.each(['REST', 'GraphQL'] as const)(
      'does not pause over %s what it could not resume, also after it moved it',
      async (path) => {
        const { id: keyId, secret } = await key('read', 'send');
        await setPolicy(keyId, { per_hour: 10 });
        const id = await schedule(box.apiKey, 'stranger@x.test');
        expect(await over[path](secret, 'pause', id)).toBe(403);
        expect(await status(secret, 'PATCH', `/emails/${id}`, { scheduled_at: LATER })).toBe(200);
        expect(await over[path](secret, 'resume', id, { scheduled_at: LATER })).toBe(200);
        expect(await over[path](secret, 'pause', id)).toBe(403);
        expect(await over[path](box.apiKey, 'pause', id)).toBe(200);
        expect(await over[path](secret, 'resume', id)).toBe(403);
        expect(await status(secret, 'DELETE', `/emails/${id}`)).toBe(200);
        const own = await schedule(secret);
        for (const verb of ['pause', 'resume']) expect(await over[path](secret, verb, own)).toBe(200);
      },
    );

    test.each(['REST', 'GraphQL'] as const)(
      'of the sender, pauses what was scheduled before, and no key resumes that over %s but one that may change it',
      async (path) => {
        const { secret } = await key('read', 'send');
        const setSenderPolicy = async (policy: object | null) =>
          expect(await status(box.apiKey, 'PATCH', `/email-addresses/${box.addressId}`, { policy })).toBe(200);
        const tagged = box.address.replace('@', '+news@');
        const ids = [await schedule(secret), await schedule(secret), await schedule(secret, 'a@x.test', tagged)];
        const [id, paused = ''] = ids;
        expect(await over[path](secret, 'pause', paused)).toBe(200);
        await setSenderPolicy({ links: false });
        for (const each of ids) {
          expect(await readState(each)).toBe('paused');
          expect(await over[path](secret, 'resume', each)).toBe(403);
          expect(await over[path](secret, 'resume', each, { scheduled_at: LATER })).toBe(403);
          expect(await status(secret, 'PATCH', `/emails/${each}`, { scheduled_at: LATER })).toBe(403);
          expect(await over[path](box.apiKey, 'resume', each)).toBe(200);
        }
        const own = await schedule(secret);
        for (const verb of ['pause', 'resume']) expect(await over[path](secret, verb, own)).toBe(200);
        await setSenderPolicy(null);
        expect([await readState(id ?? ''), await readState(own)]).toEqual(['scheduled', 'scheduled']);
      },
    );

    test('of a sender that is added with one pauses what was scheduled before', async () => {
      const address = box.address.replace(/^[^@]*/, 'later');
      const [id, other] = [await schedule(box.apiKey, 'a@x.test', address), await schedule(box.apiKey)];
      const added = { address, domainId: box.domainId, policy: { per_day: 5 } };
      expect(await status(box.apiKey, 'POST', '/email-addresses', added)).toBe(201);
      expect([await readState(id), await readState(other)]).toEqual(['paused', 'scheduled']);
    });

    test('is not outrun by a key that resumes mail of others while it is set', async () => {
      const { id: keyId, secret } = await key('read', 'send');
      const id = await schedule(box.apiKey, 'stranger@x.test');
      expect(await over.REST(box.apiKey, 'pause', id)).toBe(200);
      const waiting = async () =>
        (
          await gateway.owner.pool.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).rows.length;
      const holder = await gateway.owner.pool.connect();
      try {
        await holder.query('begin; lock table email_counter in exclusive mode');
        const resumed = over.REST(secret, 'resume', id);
        await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
        let isSet = false;
        const set = setPolicy(keyId, { recipients: 'participants' }).then(() => {
          isSet = true;
        });
        await expect.poll(async () => isSet || (await waiting()) === 2, { timeout: 20_000 }).toBe(true);
        await holder.query('commit');
        expect(await resumed).toBe(200);
        await set;
      } finally {
        await holder.query('rollback');
        holder.release();
      }
      expect(await readState(id)).toBe('paused');
    });
  });

  test('lists the objects that its revocation would stop, over REST and GraphQL, also those of keys that it created', async () => {
    const { id: keyId, secret } = await key('read', 'send', 'manage');
    const endpointId = await create(secret, webhook({ name: 'Hook' }));
    const disabled = await create(secret, webhook({ name: 'Off', isActive: false }));
    expect(await status(secret, 'PATCH', `/email-addresses/${box.addressId}`, { endpointId })).toBe(200);
    const child = (
      await gateway.call(secret, 'POST', '/api-keys', { name: 'Child', scopes: ['read', 'manage'] })
    ).json();
    expect(await status(child.token, 'POST', '/guard', { ...rule({ action: 'block' }), name: 'Rule' })).toBe(201);
    const email = { from: box.address, to: 'a@x.test', subject: 'Later', text: 'x', scheduled_at: LATER };
    const scheduled = (await gateway.call(secret, 'POST', '/emails', email)).json();
    const list = async (as: string) => gateway.call(as, 'GET', `/api-keys/${keyId}/configuration`);
    const { data, has_more: hasMore } = (await list(box.apiKey)).json();
    expect(data).toEqual([
      { kind: 'endpoint', id: endpointId, name: 'Hook' },
      { kind: 'address_route', id: box.addressId, name: box.address },
      { kind: 'guard_rule', id: expect.stringMatching(/^grd_/), name: 'Rule' },
      { kind: 'scheduled_email', id: scheduled.id, name: 'Later' },
      { kind: 'api_key', id: child.id, name: 'Child' },
    ]);
    expect(data.map(({ id }: { id: string }) => id)).not.toContain(disabled);
    expect(hasMore).toBe(false);
    const query = `{ apiKeys { nodes { id configuration { items { kind id name } hasMore } } } }`;
    const { nodes } = (await gateway.graphql(box.apiKey, query)).json().data.apiKeys;
    const shown = nodes.find(({ id }: { id: string }) => id === keyId).configuration;
    expect(shown.items.map(({ kind, ...item }: { kind: string }) => ({ kind: kind.toLowerCase(), ...item }))).toEqual(
      data,
    );

    const stranger = await gateway.mailbox({});
    expect((await list(stranger.apiKey)).statusCode).toBe(404);
    expect((await list((await key('manage')).secret)).statusCode).toBe(403);
    expect(await status(box.apiKey, 'DELETE', `/api-keys/${keyId}`)).toBe(200);
    expect((await list(box.apiKey)).json().data).toEqual([]);
  });

  test('stores nothing with rights that it lost after the request was admitted', async () => {
    const { id: keyId, secret } = await key('read', 'send', 'manage');
    expect(await status(secret, 'GET', '/endpoints')).toBe(200);
    await gateway.owner.pool.query(`update api_key set scopes = '{manage}' where id = $1`, [keyId]);
    expect(await status(secret, 'POST', '/endpoints', webhook())).toBe(403);
  });
});
