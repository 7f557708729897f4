import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { MAX_GUARD_RULES } from '../../../operations/routing/guard-rules.ts';
import { insertMail, type MailRow } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let mailbox: TestMailbox;
/** users whose rules changed, as broadcast */
const changed: string[] = [];

beforeAll(async () => {
  gateway = await openTestGateway({ config: { hasGuardModel: true } });
  gateway.bus.subscribe('guard.changed', ({ workspaceId }) => void changed.push(workspaceId));
});
afterAll(() => gateway.close());
beforeEach(async () => {
  mailbox = await gateway.mailbox({ endpointUrl: 'https://hooks.example.test/' });
  changed.length = 0;
});

const call = (method: string, path: string, body?: unknown) => gateway.call(mailbox.apiKey, method, path, body);
const blockCasinos = {
  name: 'Casinos',
  type: 'explicit',
  config: { subject: { operator: 'OR', values: ['casino'] } },
  action: { action: 'block' },
};

async function makeRule(changes: object = {}): Promise<string> {
  const response = await call('POST', '/guard', { ...blockCasinos, ...changes });
  expect(response.statusCode, response.body).toBe(201);
  return response.json().data.id;
}

/** Inserts received emails of the last minutes, newest last. Returns their IDs. */
function received(...mails: Partial<MailRow>[]): Promise<string[]> {
  const now = Date.now();
  return insertMail(
    gateway.actor,
    mails.map((mail, n) => {
      const from = mail.from ?? 'ada@shop.test';
      const list = (address: string) => ({ text: address, addresses: [{ name: null, address }] });
      return {
        workspaceId: mailbox.workspaceId,
        ownAddress: mailbox.address,
        createdAt: new Date(now - (mails.length - n) * 60_000),
        addresses: { from: list(from), to: list(mailbox.address), cc: null, bcc: null, replyTo: null },
        ...mail,
        from,
      };
    }),
  );
}

const makeAttachment = (filename: string): Attachment => ({
  index: 0,
  filename,
  contentType: 'application/octet-stream',
  size: 1,
  contentId: null,
  contentDisposition: 'attachment',
  start: 0,
  length: 1,
  transferEncoding: '7bit',
});

describe('a rule', () => {
  test('is created, shown with its config and action as JSON, and announced', async () => {
    const made = await call('POST', '/guard', { ...blockCasinos, description: 'No games', priority: 10 });
    expect(made.statusCode).toBe(201);
    const { success, data } = made.json();
    expect(success).toBe(true);
    expect(data).toEqual({
      id: expect.stringMatching(/^grd_[0-9a-f]{32}$/),
      userId: mailbox.workspaceId,
      name: 'Casinos',
      description: 'No games',
      type: 'explicit',
      config: '{"subject":{"operator":"OR","values":["casino"]}}',
      isActive: true,
      priority: 10,
      lastTriggeredAt: null,
      triggerCount: 0,
      actions: '{"action":"block"}',
      createdAt: expect.any(String),
      updatedAt: data.createdAt,
      configObject: { subject: { operator: 'OR', values: ['casino'] } },
      action: { action: 'block' },
    });
    expect((await call('GET', `/guard/${data.id}`)).json()).toEqual(data);
    expect(changed).toEqual([mailbox.workspaceId]);
  });

  test('allows by default, and accepts its config as JSON', async () => {
    const made = await call('POST', '/guard', {
      name: 'Friends',
      type: 'explicit',
      config: '{"from":{"operator":"or","values":["*@shop.test"],"aligned":true}}',
    });
    expect(made.json().data).toMatchObject({
      actions: '{"action":"allow"}',
      priority: 0,
      configObject: { from: { operator: 'OR', values: ['*@shop.test'], aligned: true } },
    });
  });

  test('leads to an endpoint of the user', async () => {
    const id = await makeRule({ action: { action: 'route', endpointId: mailbox.endpointId } });
    expect((await call('GET', `/guard/${id}`)).json()).toMatchObject({
      actions: JSON.stringify({ action: 'route', endpointId: mailbox.endpointId }),
      action: { action: 'route', endpointId: mailbox.endpointId },
    });
  });

  test.each(['PATCH', 'PUT'])('is changed in part by %s', async (method) => {
    const id = await makeRule({ priority: 3 });
    const before = (await call('GET', `/guard/${id}`)).json();
    const response = await call(method, `/guard/${id}`, {
      isActive: false,
      action: { action: 'allow' },
      description: 'x',
    });
    expect([response.statusCode, response.json()]).toEqual([
      200,
      {
        ...before,
        isActive: false,
        description: 'x',
        actions: '{"action":"allow"}',
        action: { action: 'allow' },
        updatedAt: expect.any(String),
      },
    ]);
    const config = { hasWords: { operator: 'AND', values: ['a', 'b'] } };
    expect((await call(method, `/guard/${id}`, { config, description: null })).json()).toMatchObject({
      configObject: config,
      description: null,
      isActive: false,
    });
    expect(changed).toHaveLength(3);
  });

  test('requires a config of its type when its type changes', async () => {
    const id = await makeRule();
    expect((await call('PATCH', `/guard/${id}`, { type: 'ai_prompt' })).statusCode).toBe(400);
    const response = await call('PATCH', `/guard/${id}`, { type: 'ai_prompt', config: { prompt: 'Spam?' } });
    expect(response.json()).toMatchObject({ type: 'ai_prompt', config: '{"prompt":"Spam?"}' });
  });

  test('is deleted with its counters', async () => {
    const id = await makeRule();
    await count(id, 2, '2026-11-20T10:00:00.000Z');
    const response = await call('DELETE', `/guard/${id}`);
    expect([response.statusCode, response.json()]).toEqual([200, { success: true }]);
    expect((await call('GET', `/guard/${id}`)).statusCode).toBe(404);
    expect((await call('DELETE', `/guard/${id}`)).json()).toMatchObject({ error: 'Guard rule not found' });
    const { rows } = await gateway.actor.pool.query('select 1 from guard_rule_stat where workspace_id = $1', [
      mailbox.workspaceId,
    ]);
    expect(rows).toEqual([]);
    expect(changed).toHaveLength(2);
  });

  test('shows how often and when it matched', async () => {
    const id = await makeRule();
    await count(id, 7, '2026-11-20T10:00:00.000Z');
    expect((await call('GET', `/guard/${id}`)).json()).toMatchObject({
      triggerCount: 7,
      lastTriggeredAt: '2026-11-20T10:00:00.000Z',
    });
  });

  test('can be disabled although its endpoint is deleted or disabled', async () => {
    const id = await makeRule({ action: { action: 'route', endpointId: mailbox.endpointId } });
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [mailbox.endpointId]);
    expect((await call('PATCH', `/guard/${id}`, { isActive: false })).json()).toMatchObject({ isActive: false });
  });

  function count(id: string, times: number, at: string) {
    return gateway.actor.pool.query('insert into guard_rule_stat values ($1, $2, $3, $4)', [
      mailbox.workspaceId,
      id,
      times,
      at,
    ]);
  }
});

describe('a rule is refused', () => {
  test.each<[string, object, string]>([
    ['without a name', { name: ' ' }, 'Validation failed'],
    ['with a long name', { name: 'x'.repeat(256) }, 'Validation failed'],
    ['with a long description', { description: 'x'.repeat(1_001) }, 'Validation failed'],
    ['of an unknown type', { type: 'regex' }, 'Validation failed'],
    ['with an unknown action', { action: { action: 'drop' } }, 'Validation failed'],
    ['with a priority that is no whole number', { priority: 1.5 }, 'Validation failed'],
    ['with a high priority', { priority: 1_001 }, 'Validation failed'],
    ['without a config', { config: undefined }, 'Validation failed'],
    ['with a config that is no object', { config: 'casino' }, 'config: must be an object'],
    ['with a config of no criterion', { config: {} }, 'config: must have at least one of'],
    [
      'with a sender that is none',
      { config: { from: 'shop' } },
      'config.from.values.0: must be an address or *@domain',
    ],
    ['with a prompt that is empty', { type: 'ai_prompt', config: { prompt: '' } }, 'config.prompt: must not be empty'],
    ['that leads nowhere', { action: { action: 'route' } }, 'The action route needs an endpointId'],
  ])('with %s', async (_, changes, message) => {
    const response = await call('POST', '/guard', { ...blockCasinos, ...changes });
    expect([response.statusCode, response.json().message]).toEqual([400, expect.stringContaining(message)]);
    expect(changed).toEqual([]);
  });

  test("that leads to another user's endpoint, exactly as to an unknown one", async () => {
    const stranger = await gateway.mailbox({ endpointUrl: 'https://hooks.example.test/' });
    const responses = await Promise.all(
      [stranger.endpointId, 'ep_none', '../x', ''].map((endpointId) =>
        call('POST', '/guard', { ...blockCasinos, action: { action: 'route', endpointId } }),
      ),
    );
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 400]);
    expect(responses[0]?.json()).toMatchObject({ error: 'Endpoint not found' });
    expect(responses[1]?.body).toBe(responses[0]?.body);
  });

  test('that leads to a disabled endpoint', async () => {
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [mailbox.endpointId]);
    const action = { action: 'route', endpointId: mailbox.endpointId };
    const response = await call('POST', '/guard', { ...blockCasinos, action });
    expect([response.statusCode, response.json().error]).toEqual([400, 'Endpoint is inactive']);
    const id = await makeRule();
    expect((await call('PATCH', `/guard/${id}`, { action })).statusCode).toBe(400);
  });

  test('beyond the limit of words of an account', async () => {
    const words = (n: number) => ({ hasWords: { values: Array.from({ length: n }, (_, at) => `word ${at}`) } });
    for (let n = 0; n < 5; n++) await makeRule({ config: words(100) });
    const response = await call('POST', '/guard', { ...blockCasinos, config: words(1) });
    expect([response.statusCode, response.json().error]).toEqual([
      400,
      'The guard rules of an account have at most 500 words in all',
    ]);
    await makeRule();
  });

  test('beyond the limit of rules of an account, however many are created at once', async () => {
    await gateway.actor.pool.query(
      `insert into guard_rule (workspace_id, id, name, type, config, action)
       select $1, 'grd_' || n, 'many', 'explicit', '{"subject":{"operator":"OR","values":["x"]}}', 'allow' from generate_series(1, $2::integer) n`,
      [mailbox.workspaceId, MAX_GUARD_RULES - 2],
    );
    const responses = await Promise.all(Array.from({ length: 6 }, () => call('POST', '/guard', blockCasinos)));
    expect(responses.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([
      201, 201, 400, 400, 400, 400,
    ]);
    expect((await call('GET', '/guard')).json().pagination.total).toBe(MAX_GUARD_RULES);
  });
});

describe('the list', () => {
  const names = async (query = '') =>
    (await call('GET', `/guard${query}`)).json().data.map(({ name }: { name: string }) => name);

  test('has the order in which rules are evaluated', async () => {
    for (const [name, priority] of [
      ['old', 0],
      ['high', 9],
      ['new', 0],
      ['low', -1],
    ] as const)
      await makeRule({ name, priority });
    expect(await names()).toEqual(['high', 'new', 'old', 'low']);
    expect((await call('GET', '/guard?limit=2&offset=1')).json()).toMatchObject({
      success: true,
      data: [{ name: 'new' }, { name: 'old' }],
      pagination: { limit: 2, offset: 1, total: 4, hasMore: true },
    });
    expect((await call('GET', '/guard?offset=9')).json()).toMatchObject({ data: [], pagination: { total: 4 } });
  });

  test('is filtered', async () => {
    await makeRule({ name: 'Ads 100%', description: null });
    await makeRule({ name: 'Off', isActive: false, description: 'about ADS' });
    await makeRule({ name: 'Asked', type: 'ai_prompt', config: { prompt: 'Spam?' } });
    expect(await names('?search=ads')).toEqual(['Off', 'Ads 100%']);
    expect(await names('?search=%25')).toEqual(['Ads 100%']);
    expect(await names('?type=ai_prompt')).toEqual(['Asked']);
    expect(await names('?isActive=false')).toEqual(['Off']);
    expect(await names('?isActive=true&type=explicit')).toEqual(['Ads 100%']);
  });

  test.each(['type=regex', 'isActive=maybe', 'limit=0', 'offset=-1', `search=${'x'.repeat(101)}`])(
    'refuses ?%s',
    async (query) => {
      expect((await call('GET', `/guard?${query}`)).statusCode).toBe(400);
    },
  );
});

describe('rules and emails of others', () => {
  test('get the same response as unknown ones, byte for byte', async () => {
    const id = await makeRule();
    const [emailId = ''] = await received({ subject: 'casino' });
    const stranger = await gateway.mailbox();
    const as = (method: string, path: string, body?: unknown) => gateway.call(stranger.apiKey, method, path, body);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'mine' }],
      ['PUT', '', { name: 'mine' }],
      ['DELETE', '', undefined],
      ['POST', '/check', { structuredEmailId: emailId }],
      ['POST', '/backtest', {}],
    ] as const) {
      const foreign = await as(method, `/guard/${id}${path}`, body);
      const unknown = await as(method, `/guard/grd_${'0'.repeat(32)}${path}`, body);
      expect([foreign.statusCode, foreign.json().error], `${method} ${path}`).toEqual([404, 'Guard rule not found']);
      expect(foreign.body).toBe(unknown.body);
    }
    expect((await as('GET', '/guard')).json()).toMatchObject({ data: [], pagination: { total: 0 } });
    const own = (await as('POST', '/guard', blockCasinos)).json().data.id;
    const check = await as('POST', `/guard/${own}/check`, { structuredEmailId: emailId });
    expect([check.statusCode, check.json().error]).toEqual([404, 'Email not found']);
    expect((await as('POST', `/guard/${own}/check`, { structuredEmailId: 'em_none' })).body).toBe(check.body);
    expect((await as('POST', `/guard/${own}/backtest`)).json()).toMatchObject({ scanned: 0, matched: 0 });
    expect((await call('GET', `/guard/${id}`)).json().name).toBe('Casinos');
  });
});

describe('a check', () => {
  test('shows which parts of an email a rule matches, active or not', async () => {
    const [emailId, other] = await received(
      { subject: 'The CASINO', text: 'Free spins', attachments: [makeAttachment('win.exe')] },
      { subject: 'Invoice' },
    );
    const id = await makeRule({
      isActive: false,
      config: { subject: 'casino', hasWords: ['spins'], from: '*@shop.test', attachments: '.exe' },
    });
    for (const body of [{ structuredEmailId: emailId }, { email_id: emailId }, { emailId }]) {
      const response = await call('POST', `/guard/${id}/check`, body);
      expect([response.statusCode, response.json()]).toEqual([
        200,
        {
          matched: true,
          outcome: 'matched',
          matchDetails: [
            { criteria: 'from', value: '*@shop.test' },
            { criteria: 'attachments', value: '.exe' },
            { criteria: 'subject', value: 'casino' },
            { criteria: 'hasWords', value: 'spins' },
          ],
        },
      ]);
    }
    expect((await call('POST', `/guard/${id}/check`, { structuredEmailId: other })).json()).toEqual({
      matched: false,
      outcome: 'none',
    });
  });

  test('is refused without an email, and for a sent one', async () => {
    const id = await makeRule();
    const [sent] = await received({ type: 'sent' });
    expect((await call('POST', `/guard/${id}/check`, {})).statusCode).toBe(400);
    expect((await call('POST', `/guard/${id}/check`, { structuredEmailId: sent })).statusCode).toBe(404);
  });

  test('asks the model, and says so when it does not respond', async () => {
    const [emailId = ''] = await received({ subject: 'casino' });
    const id = await makeRule({ type: 'ai_prompt', config: { prompt: 'Is it a game?' } });
    const check = async () => (await call('POST', `/guard/${id}/check`, { structuredEmailId: emailId })).json();
    expect(await check()).toEqual({ matched: false, outcome: 'review', reason: 'The model did not respond in time' });
    const asked: unknown[] = [];
    let isMatch = true;
    const served = gateway.bus.serve('delivery.guard.ask', async (request) => {
      asked.push(request);
      return isMatch
        ? { verdict: 'answered', isMatch, reason: 'It is one.' }
        : { verdict: 'failed', reason: 'The model answered 500' };
    });
    expect(await check()).toEqual({
      matched: true,
      outcome: 'matched',
      matchDetails: [{ criteria: 'prompt', value: 'Is it a game?' }],
      reason: 'It is one.',
    });
    expect(asked).toEqual([{ workspaceId: mailbox.workspaceId, emailId, prompt: 'Is it a game?' }]);
    isMatch = false;
    expect(await check()).toEqual({ matched: false, outcome: 'review', reason: 'The model answered 500' });
    await served.stop();
  });
});

describe('without a model', () => {
  test('rules that need one are rejected; existing ones are shown and can be disabled', async () => {
    const id = await makeRule({ type: 'ai_prompt', config: { prompt: 'Spam?' } });
    const without = await openTestGateway();
    try {
      const box = await without.mailbox();
      const response = await without.call(box.apiKey, 'POST', '/guard', {
        name: 'Asked',
        type: 'ai_prompt',
        config: { prompt: 'Spam?' },
      });
      expect([response.statusCode, response.json().error]).toEqual([
        400,
        'Rules of type ai_prompt need a model, and none is configured on this service (GUARD_MODEL_URL)',
      ]);
      await without.actor.pool.query(
        `insert into guard_rule (workspace_id, id, name, type, config, action) values ($1, $2, 'Asked', 'ai_prompt', '{"prompt":"Spam?"}', 'block')`,
        [box.workspaceId, id],
      );
      const as = (method: string, body?: unknown) => without.call(box.apiKey, method, `/guard/${id}`, body);
      expect((await as('GET')).json()).toMatchObject({ type: 'ai_prompt', isActive: true });
      expect((await as('PATCH', { isActive: false })).json()).toMatchObject({ isActive: false });
      expect((await as('PATCH', { isActive: true })).statusCode).toBe(400);
    } finally {
      await without.close();
    }
  });
});

describe('a back-test', () => {
  const backtest = (body: object, path = '/guard/backtest') => call('POST', path, body);
  const casinos = { config: { subject: 'casino' }, action: { action: 'block' } };

  test('lists mail of the last days that a rule would have held', async () => {
    const ids = await received({ subject: 'casino 1' }, { subject: 'Invoice' }, { subject: 'CASINO 2' });
    await received({ subject: 'casino 3', createdAt: new Date(Date.now() - 31 * 86_400_000) });
    await received({ subject: 'casino 4', type: 'sent' });
    await route(ids[0] ?? '', mailbox.endpointId);
    const response = await backtest(casinos);
    expect([response.statusCode, response.json()]).toEqual([
      200,
      {
        scanned: 3,
        matched: 2,
        decided: 2,
        since: expect.any(String),
        isComplete: true,
        stoppedAt: null,
        examples: [
          {
            emailId: ids[2],
            subject: 'CASINO 2',
            from: 'ada@shop.test',
            createdAt: expect.any(String),
            matches: [{ criteria: 'subject', value: 'casino' }],
            isDecisive: true,
            now: null,
            wouldBe: { outcome: 'blocked', endpointId: null, ruleId: null },
          },
          expect.objectContaining({
            emailId: ids[0],
            now: { outcome: 'endpoint', endpointId: mailbox.endpointId, ruleId: null },
            wouldBe: { outcome: 'blocked', endpointId: null, ruleId: null },
          }),
        ],
      },
    ]);
  });

  test('covers the requested days, and shows the requested number', async () => {
    const day = 86_400_000;
    await received(...[1, 3, 5].map((days) => ({ subject: 'casino', createdAt: new Date(Date.now() - days * day) })));
    expect((await backtest({ ...casinos, days: 4 })).json()).toMatchObject({ scanned: 2, matched: 2 });
    const { examples, matched } = (await backtest({ ...casinos, limit: 1 })).json();
    expect([examples.length, matched]).toEqual([1, 3]);
  });

  test('leaves mail to earlier rules that decide', async () => {
    await received({ subject: 'casino of ada', from: 'ada@shop.test' }, { subject: 'casino', from: 'bob@games.test' });
    const friends = await makeRule({ config: { from: 'ada@shop.test' }, action: { action: 'allow' }, priority: 5 });
    const places = async (priority: number) =>
      (await backtest({ ...casinos, priority }))
        .json()
        .examples.map((example: { isDecisive: boolean; wouldBe: unknown }) => [example.isDecisive, example.wouldBe]);
    const blocked = [true, { outcome: 'blocked', endpointId: null, ruleId: null }];
    expect(await places(0)).toEqual([blocked, [false, { outcome: 'normal', endpointId: null, ruleId: friends }]]);
    // Of equal priority the newest comes first, and nothing is newer than what is not saved.
    expect(await places(5)).toEqual([blocked, blocked]);
    await call('PATCH', `/guard/${friends}`, { isActive: false });
    expect(await places(0)).toEqual([blocked, blocked]);
  });

  test('does not guess the reply of a model in an earlier rule', async () => {
    await received({ subject: 'casino' });
    const asked = await makeRule({ type: 'ai_prompt', config: { prompt: 'Spam?' }, priority: 5 });
    expect((await backtest(casinos)).json()).toMatchObject({
      matched: 1,
      decided: 0,
      examples: [{ isDecisive: false, wouldBe: { outcome: 'unknown', endpointId: null, ruleId: asked } }],
    });
  });

  test('of a saved rule evaluates it at its position, active or not', async () => {
    await received({ subject: 'casino', text: 'spins' });
    const id = await makeRule({ isActive: false, config: { hasWords: 'spins' } });
    const route = { action: 'route', endpointId: mailbox.endpointId };
    expect((await backtest({ days: 3 }, `/guard/${id}/backtest`)).json()).toMatchObject({
      matched: 1,
      examples: [{ wouldBe: { outcome: 'blocked', ruleId: id } }],
    });
    await call('PATCH', `/guard/${id}`, { action: route });
    expect((await call('POST', `/guard/${id}/backtest`)).json()).toMatchObject({
      examples: [{ wouldBe: { outcome: 'endpoint', endpointId: mailbox.endpointId, ruleId: id } }],
    });
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [mailbox.endpointId]);
    expect((await call('POST', `/guard/${id}/backtest`)).json()).toMatchObject({
      examples: [{ wouldBe: { outcome: 'normal', endpointId: null, ruleId: id } }],
    });
  });

  test('runs once at a time for each account', async () => {
    await received({ subject: 'casino' });
    let first: ReturnType<typeof backtest> | undefined;
    await inTransaction(gateway.owner, async (client) => {
      // The first backtest waits for this lock, so that it is still running when the second one arrives.
      await client.query('lock table email_content in access exclusive mode');
      first = backtest(casinos);
      await expect
        .poll(async () => {
          const { rows } = await gateway.owner.pool.query(
            `select from pg_locks where not granted and relation = 'email_content'::regclass`,
          );
          return rows.length;
        })
        .toBe(1);
      const second = await backtest(casinos);
      expect([second.statusCode, second.headers['retry-after']]).toEqual([429, '6']);
    });
    expect((await first)?.statusCode).toBe(200);
    expect((await backtest(casinos)).statusCode).toBe(200);
  });

  test.each<[object, number]>([
    [{ ...casinos, days: 31 }, 400],
    [{ ...casinos, days: 0 }, 400],
    [{ ...casinos, limit: 501 }, 400],
    [{ config: {} }, 400],
    [{ type: 'ai_prompt', config: { prompt: 'Spam?' } }, 400],
    [{ ...casinos, action: { action: 'route', endpointId: 'ep_none' } }, 404],
  ])('of %j is refused', async (body, statusCode) => {
    expect((await backtest(body)).statusCode).toBe(statusCode);
  });

  test('of a saved prompt is refused', async () => {
    const id = await makeRule({ type: 'ai_prompt', config: { prompt: 'Spam?' } });
    expect((await call('POST', `/guard/${id}/backtest`)).statusCode).toBe(400);
  });

  function route(emailId: string, endpointId: string | null) {
    return gateway.actor.pool.query(
      `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, via, endpoint_id)
       values ($1, $2, now(), now(), now(), 'endpoint', 'address', $3)`,
      [mailbox.workspaceId, emailId, endpointId],
    );
  }
});
