import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_GUARD_RULES } from '../../../operations/routing/guard-rules.ts';
import { insertMail, type MailRow } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';
import { PAGE, walk } from '../../support/stages/graph-pages.ts';
import { expectSame } from '../../support/stages/graph-results.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;
let stranger: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { hasGuardModel: true } });
  stranger = await gateway.mailbox({ endpointUrl: 'https://hooks.example.test/' });
});
beforeEach(async () => {
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.test/' });
  graph = graphClient(gateway, box.apiKey);
});
afterAll(() => gateway.close());

const rest = async (method: string, path: string, body?: unknown, key = box.apiKey) => {
  const response = await gateway.call(key, method, path, body);
  return { status: response.statusCode, body: response.json() };
};

const CRITERION = '{ operator values }';
const RULE = `id name description type priority isActive action endpoint { id } triggerCount lastTriggeredAt createdAt updatedAt
  config { __typename ... on PromptGuardConfig { prompt } ... on ExplicitGuardConfig {
    subject ${CRITERION} from { operator values isAligned } to ${CRITERION} hasWords ${CRITERION} hasAttachment attachments ${CRITERION}
    spf dkim dmarc injection mode } }`;

const casinos = {
  name: 'Casinos',
  type: 'EXPLICIT',
  config: { subject: { values: ['casino'] } },
  action: { action: 'BLOCK' },
};
/** The same in the form of REST. */
const restCasinos = { name: 'Casinos', type: 'explicit', config: { subject: ['casino'] }, action: 'block' };

async function makeRule(changes: object = {}): Promise<string> {
  const { guardRule } = await graph.mutate('createGuardRule', { ...casinos, ...changes }, 'guardRule { id }');
  return guardRule.id;
}

function received(...mails: Partial<MailRow>[]): Promise<string[]> {
  const now = Date.now();
  return insertMail(
    gateway.actor,
    mails.map((mail, n) => ({
      workspaceId: box.workspaceId,
      ownAddress: box.address,
      createdAt: new Date(now - (mails.length - n) * 60_000),
      ...mail,
    })),
  );
}

describe('a guard rule', () => {
  test('with every criterion shows the fields of REST', async () => {
    const config = {
      subject: { operator: 'AND', values: ['a', 'b'] },
      from: { operator: 'OR', values: ['*@shop.test'], isAligned: true },
      to: { operator: 'OR', values: [box.address] },
      hasWords: { operator: 'OR', values: ['free spins'] },
      hasAttachment: true,
      attachments: { operator: 'OR', values: ['.exe'] },
      spf: ['PASS', 'SOFTFAIL'],
      dkim: ['NONE'],
      dmarc: ['FAIL'],
      injection: 'REVIEW',
      mode: 'ADVANCED',
    };
    const { guardRule } = await graph.mutate(
      'createGuardRule',
      {
        name: ' All ',
        description: 'd',
        type: 'EXPLICIT',
        config,
        action: { action: 'ROUTE', endpointId: box.endpointId },
        priority: -7,
        isActive: false,
      },
      `guardRule { ${RULE} }`,
    );
    expect(guardRule).toMatchObject({
      name: 'All',
      description: 'd',
      type: 'EXPLICIT',
      config: { __typename: 'ExplicitGuardConfig', ...config },
      action: 'ROUTE',
      endpoint: { id: box.endpointId },
      priority: -7,
      isActive: false,
      triggerCount: 0,
      lastTriggeredAt: null,
    });
    const { body } = await rest('GET', `/guard/${guardRule.id}`);
    expect(body).toMatchObject({
      name: 'All',
      description: 'd',
      type: 'explicit',
      configObject: {
        subject: config.subject,
        from: { operator: 'OR', values: ['*@shop.test'], aligned: true },
        to: config.to,
        hasWords: config.hasWords,
        hasAttachment: true,
        attachments: config.attachments,
        spf: ['pass', 'softfail'],
        dkim: ['none'],
        dmarc: ['fail'],
        injection: 'review',
        mode: 'advanced',
      },
      action: { action: 'route', endpointId: box.endpointId },
      priority: -7,
      isActive: false,
      createdAt: guardRule.createdAt,
      updatedAt: guardRule.updatedAt,
    });
  });

  test('allows by default, and may ask a model', async () => {
    const { guardRule } = await graph.mutate(
      'createGuardRule',
      { name: 'Ask', type: 'AI_PROMPT', config: { prompt: 'Spam?' } },
      `guardRule { ${RULE} }`,
    );
    expect(guardRule).toMatchObject({
      type: 'AI_PROMPT',
      config: { __typename: 'PromptGuardConfig', prompt: 'Spam?' },
      action: 'ALLOW',
      endpoint: null,
      priority: 0,
      isActive: true,
      description: null,
    });
  });

  test('is changed in part, and keeps its count', async () => {
    const id = await makeRule({ description: 'd' });
    await gateway.actor.pool.query('insert into guard_rule_stat values ($1, $2, 7, $3)', [
      box.workspaceId,
      id,
      '2026-11-20T10:00:00Z',
    ]);
    const changed = await graph.mutate(
      'updateGuardRule',
      { id, name: 'New', isActive: false, priority: 9, action: { action: 'ROUTE', endpointId: box.endpointId } },
      `guardRule { ${RULE} }`,
    );
    expect(changed.guardRule).toMatchObject({
      name: 'New',
      description: 'd',
      isActive: false,
      priority: 9,
      action: 'ROUTE',
      endpoint: { id: box.endpointId },
      config: { subject: { operator: 'OR', values: ['casino'] }, from: null },
      triggerCount: 7,
      lastTriggeredAt: '2026-11-20T10:00:00.000Z',
    });
    const asked = await graph.mutate(
      'updateGuardRule',
      { id, description: null, type: 'AI_PROMPT', config: { prompt: 'Spam?' } },
      `guardRule { ${RULE} }`,
    );
    expect(asked.guardRule).toMatchObject({ description: null, config: { prompt: 'Spam?' }, name: 'New' });
    expect((await rest('GET', `/guard/${id}`)).body).toMatchObject({ type: 'ai_prompt', triggerCount: 7, name: 'New' });
  });

  test('shows the current state after each of several changes in one request', async () => {
    const id = await makeRule();
    const change = (name: string) =>
      `updateGuardRule(input: {id: "${id}", name: "${name}"}) { ... on UpdateGuardRulePayload { guardRule { name } } }`;
    const { a, b } = await graph.ask(`mutation { a: ${change('A')} b: ${change('B')} }`);
    expect([a.guardRule.name, b.guardRule.name]).toEqual(['A', 'B']);
  });

  test('is deleted', async () => {
    const id = await makeRule();
    expect(await graph.mutate('deleteGuardRule', { id }, 'deletedId')).toMatchObject({ deletedId: id });
    expect((await rest('GET', `/guard/${id}`)).status).toBe(404);
    expectSame(await graph.mutate('deleteGuardRule', { id }), await rest('DELETE', `/guard/${id}`));
  });
});

describe('an invalid change of guard rules is refused with the error of REST', () => {
  const config = (given: object) => [{ config: given }, { config: given }] as const;
  test.each<[string, object, object]>([
    ['without a name', { name: ' ' }, { name: ' ' }],
    ['with a long name', { name: 'x'.repeat(256) }, { name: 'x'.repeat(256) }],
    ['with NUL in its name', { name: 'a\0b' }, { name: 'a\0b' }],
    ['with a long description', { description: 'x'.repeat(1_001) }, { description: 'x'.repeat(1_001) }],
    ['with a high priority', { priority: 1_001 }, { priority: 1_001 }],
    ['of no criterion', ...config({})],
    ['of a criterion without values', ...config({ subject: { values: [] } })],
    ['with an empty value', ...config({ subject: { values: ['casino', ' '] } })],
    ['with a sender that is none', ...config({ from: { values: ['shop'] } })],
    ['with too many asterisks', ...config({ attachments: { values: ['a*b*c*d*'] } })],
    [
      'with a prompt that is empty',
      { type: 'AI_PROMPT', config: { prompt: '' } },
      { type: 'ai_prompt', config: { prompt: '' } },
    ],
    ['that leads nowhere', { action: { action: 'ROUTE' } }, { action: 'route' }],
    [
      'that leads to no endpoint',
      { action: { action: 'ROUTE', endpointId: 'ep_none' } },
      { action: { action: 'route', endpointId: 'ep_none' } },
    ],
  ])('for a rule %s', async (_, input, body) => {
    const shown = await rest('POST', '/guard', { ...restCasinos, ...body });
    expectSame(await graph.mutate('createGuardRule', { ...casinos, ...input }), shown);
    const id = await makeRule();
    const before = (await rest('GET', `/guard/${id}`)).body;
    expectSame(await graph.mutate('updateGuardRule', { id, ...input }), await rest('PATCH', `/guard/${id}`, body));
    expect((await rest('GET', `/guard/${id}`)).body).toEqual(before);
  });

  test('for a rule that leads to a disabled endpoint, or another account’s', async () => {
    const to = (endpointId: string | null) => ({ action: { action: 'ROUTE', endpointId } });
    const restTo = (endpointId: string | null) => ({ ...restCasinos, action: { action: 'route', endpointId } });
    await gateway.actor.pool.query('update endpoint set is_active = false where id = $1', [box.endpointId]);
    for (const id of [box.endpointId, stranger.endpointId])
      expectSame(
        await graph.mutate('createGuardRule', { ...casinos, ...to(id) }),
        await rest('POST', '/guard', restTo(id)),
      );
    expect(await graph.mutate('createGuardRule', { ...casinos, ...to(stranger.endpointId) })).toEqual(
      await graph.mutate('createGuardRule', { ...casinos, ...to('ep_none') }),
    );
  });

  test('for another type without its config', async () => {
    const id = await makeRule();
    expectSame(
      await graph.mutate('updateGuardRule', { id, type: 'AI_PROMPT' }),
      await rest('PATCH', `/guard/${id}`, { type: 'ai_prompt' }),
    );
  });

  test('for one rule more than an account may have', async () => {
    await gateway.actor.pool.query(
      `insert into guard_rule (workspace_id, id, name, type, config, action)
       select $1, 'grd_' || n, 'many', 'explicit', '{"subject":{"operator":"OR","values":["x"]}}', 'allow' from generate_series(1, $2::integer) n`,
      [box.workspaceId, MAX_GUARD_RULES],
    );
    expectSame(await graph.mutate('createGuardRule', casinos), await rest('POST', '/guard', restCasinos));
  });

  test('for a rule of another account, as for an unknown one', async () => {
    const theirs = graphClient(gateway, stranger.apiKey);
    const { guardRule } = await theirs.mutate('createGuardRule', casinos, 'guardRule { id }');
    const [emailId = ''] = await received({ subject: 'casino' });
    const { body } = await rest('GET', '/guard/grd_none');
    for (const [mutation, input] of [
      ['updateGuardRule', { name: 'mine' }],
      ['deleteGuardRule', {}],
      ['checkGuardRule', { emailId }],
      ['backtestSavedGuardRule', {}],
    ] as const)
      for (const id of [guardRule.id, 'grd_none', 'x\0', ''])
        expect(await graph.mutate(mutation, { id, ...input }), `${mutation} ${id}`).toEqual({
          __typename: 'NotFound',
          message: body.message,
          code: null,
        });
    expect(
      await graph.ask('query($id: ID!) { guardRule(id: $id) { id } node(id: $id) { id } }', { id: guardRule.id }),
    ).toEqual({
      guardRule: null,
      node: null,
    });
    expect((await rest('GET', `/guard/${guardRule.id}`, undefined, stranger.apiKey)).body.name).toBe('Casinos');
  });
});

test('a service without a model says so, and refuses rules that ask one', async () => {
  const plain = await openTestGateway();
  try {
    const { apiKey } = await plain.mailbox();
    const client = graphClient(plain, apiKey);
    expect((await client.ask('{ guardLimits { hasModel } }')).guardLimits).toEqual({ hasModel: false });
    expect((await graph.ask('{ guardLimits { hasModel maxRules } }')).guardLimits).toEqual({
      hasModel: true,
      maxRules: MAX_GUARD_RULES,
    });
    const body = { name: 'x', type: 'ai_prompt', config: { prompt: 'Spam?' } };
    const shown = await plain.call(apiKey, 'POST', '/guard', body);
    expectSame(await client.mutate('createGuardRule', { ...body, type: 'AI_PROMPT' }), {
      status: shown.statusCode,
      body: shown.json(),
    });
  } finally {
    await plain.close();
  }
});

describe('the list of guard rules', () => {
  beforeEach(async () => {
    await gateway.actor.pool.query(
      `insert into guard_rule (workspace_id, id, name, description, type, config, action, endpoint_id, priority, is_active, created_at)
       select $1, 'grd_' || n, case when n % 2 = 0 then 'Even' else 'Odd' end, 'rule ' || n,
         case when n % 4 = 0 then 'ai_prompt' else 'explicit' end,
         case when n % 4 = 0 then '{"prompt": "Spam?"}'::jsonb else '{"subject":{"operator":"OR","values":["x"]}}' end,
         'route', $2, n % 5 - 2, n % 3 > 0, now() - (n / 6) * interval '1 second'
       from generate_series(1, 52) n`,
      [box.workspaceId, box.endpointId],
    );
  });

  test.each([
    ['', ''],
    ['type: AI_PROMPT', '&type=ai_prompt'],
    ['isActive: false', '&isActive=false'],
    ['search: " EVEN "', '&search=even'],
  ])('of {%s} is that of REST, forwards and backwards', async (filter, query) => {
    const { body } = await rest('GET', `/guard?limit=100${query}`);
    const list = (args: string, fields: string) =>
      graph.ask(`{ guardRules(${args}, filter: {${filter}}) ${fields} }`).then(({ guardRules }) => guardRules);
    expect(await walk((args) => list(args, PAGE), 7)).toEqual(body.data.map(({ id }: { id: string }) => id));
    expect(await list('first: 1', '{ totalCount }')).toEqual({ totalCount: body.pagination.total });
  });

  test('refuses invalid cursors, and searches as REST does', async () => {
    const { guardRules } = await graph.ask('{ guardRules(first: 1) { pageInfo { endCursor } } }');
    const { endCursor } = guardRules.pageInfo;
    for (const after of ['', 'x', endCursor.slice(2), `9999999.${endCursor}`, `${endCursor}!`]) {
      const response = await gateway.graphql(
        box.apiKey,
        'query($after: String) { guardRules(after: $after) { totalCount } }',
        {
          after,
        },
      );
      expect(response.json().errors?.[0].message, after).toBe('Invalid cursor');
    }
    const search = 'x'.repeat(101);
    const response = await gateway.graphql(box.apiKey, `{ guardRules(filter: {search: "${search}"}) { totalCount } }`);
    expect(response.json().errors[0].message).toBe((await rest('GET', `/guard?search=${search}`)).body.message);
  });

  test('takes as many statements for 50 rules as for one', async () => {
    const query = `query($n: Int) { guardRules(first: $n) { edges { node { ${RULE} endpoint { name } } } } }`;
    await graph.ask('{ viewer { id } }');
    const one = await countStatements(() => graph.ask(query, { n: 1 }));
    const fifty = await countStatements(() => graph.ask(query, { n: 50 }));
    expect(fifty.response.guardRules.edges).toHaveLength(50);
    expect(fifty.statements).toBe(one.statements);
  });
});

describe('a rule is tested', () => {
  const CHECK = 'outcome matches { criterion value } reason';

  test('on one email, as REST does', async () => {
    const id = await makeRule({ isActive: false });
    const [emailId = '', other = ''] = await received({ subject: 'A casino' }, { subject: 'Lunch' });
    const shown = await rest('POST', `/guard/${id}/check`, { emailId });
    expect(await graph.mutate('checkGuardRule', { id, emailId }, CHECK)).toMatchObject({
      outcome: 'MATCHED',
      matches: shown.body.matchDetails.map(({ criteria, value }: Record<string, string>) => ({
        criterion: criteria,
        value,
      })),
      reason: null,
    });
    expect(await graph.mutate('checkGuardRule', { id, emailId: other }, CHECK)).toMatchObject({
      outcome: 'NONE',
      matches: [],
    });
    expectSame(
      await graph.mutate('checkGuardRule', { id, emailId: 'em_none' }),
      await rest('POST', `/guard/${id}/check`, { emailId: 'em_none' }),
    );
    const [foreign = ''] = await insertMail(gateway.actor, [{ workspaceId: stranger.workspaceId }]);
    expect(await graph.mutate('checkGuardRule', { id, emailId: foreign })).toEqual(
      await graph.mutate('checkGuardRule', { id, emailId: 'em_none' }),
    );
  });

  test('with an error when its model does not respond', async () => {
    const id = await makeRule({ type: 'AI_PROMPT', config: { prompt: 'Spam?' } });
    const [emailId = ''] = await received({ subject: 'A casino' });
    const shown = await rest('POST', `/guard/${id}/check`, { emailId });
    expect(await graph.mutate('checkGuardRule', { id, emailId }, CHECK)).toMatchObject({
      outcome: 'REVIEW',
      matches: [],
      reason: shown.body.reason,
    });
  });

  test('within a time limit, when rules take long', async () => {
    const id = await makeRule({ config: { hasWords: { values: ['casino'] } } });
    const [emailId = ''] = await received({ html: '<br>'.repeat(50_000) });
    let response = await graph.mutate('checkGuardRule', { id, emailId }, CHECK);
    expect(response.__typename).toBe('CheckGuardRulePayload');
    for (let n = 0; n < 100 && response.__typename !== 'RateLimited'; n++)
      response = await graph.mutate('checkGuardRule', { id, emailId }, CHECK);
    const shown = await rest('POST', `/guard/${id}/check`, { emailId });
    expect([response.message, shown.status]).toEqual([shown.body.message, 429]);
  });

  const BACKTEST = `backtest { scannedCount matchedCount decidedCount since isComplete stoppedAt examples {
    email { id subject } matches { criterion value } isDecisive now { outcome } wouldBe { outcome endpoint { id } guardRule { id } } } }`;
  /** As REST has them. */
  const restExamples = (body: { examples: Record<string, unknown>[] }) =>
    body.examples.map(({ emailId, subject, isDecisive }) => ({ email: { id: emailId, subject }, isDecisive }));

  test('on the mail of the last days, before it is saved and after', async () => {
    await received({ subject: 'A casino' }, { subject: 'Lunch' }, { subject: 'The casino again' });
    const tried = { config: casinos.config, action: { action: 'ROUTE', endpointId: box.endpointId } };
    const { backtest } = await graph.mutate('backtestGuardRule', { ...tried, days: 7 }, BACKTEST);
    const { body } = await rest('POST', '/guard/backtest', {
      config: restCasinos.config,
      action: { action: 'route', endpointId: box.endpointId },
      days: 7,
    });
    expect(backtest).toMatchObject({
      scannedCount: body.scanned,
      matchedCount: body.matched,
      decidedCount: body.decided,
      isComplete: true,
      stoppedAt: null,
      examples: restExamples(body),
    });
    expect(backtest.matchedCount).toBe(2);
    expect(backtest.examples[0]).toMatchObject({
      matches: [{ criterion: 'subject', value: 'casino' }],
      now: null,
      wouldBe: { outcome: 'ENDPOINT', endpoint: { id: box.endpointId }, guardRule: null },
    });
    const id = await makeRule();
    const saved = await graph.mutate('backtestSavedGuardRule', { id, limit: 1 }, BACKTEST);
    expect(saved.backtest).toMatchObject({
      matchedCount: 2,
      decidedCount: 2,
      examples: [{ wouldBe: { outcome: 'BLOCKED', endpoint: null, guardRule: { id } } }],
    });
    expect(saved.backtest.examples).toHaveLength(1);
  });

  test.each<[string, object, object]>([
    ['of too many days', { days: 31 }, { days: 31 }],
    ['with too many examples', { limit: 501 }, { limit: 501 }],
    ['with a low priority', { priority: -1_001 }, { priority: -1_001 }],
    ['of nothing', { config: {} }, { config: {} }],
    ['of a prompt', { type: 'AI_PROMPT', config: { prompt: 'x' } }, { type: 'ai_prompt', config: { prompt: 'x' } }],
    ['that leads nowhere', { action: { action: 'ROUTE' } }, { action: 'route' }],
    [
      'that leads to no endpoint',
      { action: { action: 'ROUTE', endpointId: 'ep_none' } },
      { action: { action: 'route', endpointId: 'ep_none' } },
    ],
  ])('but not by a back-test %s', async (_, input, body) => {
    expectSame(
      await graph.mutate('backtestGuardRule', { config: casinos.config, ...input }),
      await rest('POST', '/guard/backtest', { config: restCasinos.config, ...body }),
    );
  });

  test('but not by a back-test of a saved prompt, or by two at once', async () => {
    const id = await makeRule({ type: 'AI_PROMPT', config: { prompt: 'Spam?' } });
    expectSame(await graph.mutate('backtestSavedGuardRule', { id }), await rest('POST', `/guard/${id}/backtest`));
    await received(...Array.from({ length: 400 }, () => ({ subject: 'A casino' })));
    const both = await Promise.all(
      Array.from({ length: 10 }, () =>
        graph.mutate('backtestGuardRule', { config: casinos.config }, 'backtest { scannedCount }'),
      ),
    );
    expect(new Set(both.map(({ __typename }) => __typename))).toEqual(
      new Set(['BacktestGuardRulePayload', 'RateLimited']),
    );
    expect(both.find(({ __typename }) => __typename === 'RateLimited')?.message).toBe(
      'Another back-test is running. Try again when it has finished.',
    );
  });
});
