import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../core/shared/durations.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';
import { countStatements } from '../../support/statements.ts';

/** In the middle of an hour. */
const NOW = new Date('2026-11-22T10:30:00.000Z');
const before = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS);

let gateway: TestGateway;
let box: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway({ now: () => NOW, config: { sendLimitPerHour: 10 } });
});
beforeEach(async () => {
  box = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
  graph = graphClient(gateway, box.apiKey);
});
afterAll(() => gateway.close());

const run = (text: string, values: unknown[] = []) => gateway.actor.pool.query(text, values);

async function hold(emailId: string, outcome: 'blocked' | 'review', createdAt: Date, releasedAt: Date | null = null) {
  await run(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, released_at) values ($1, $2, $3, $3, $3, $4, $5)`,
    [box.workspaceId, emailId, createdAt, outcome, releasedAt],
  );
}

async function deliver(count: number, { status, durationMs, at }: { status: string; durationMs: number; at: Date }) {
  await run(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, attempts, status, created_at, last_attempt)
     select $1, 'dlv_' || md5(random()::text), 'em_any', $2, 'webhook', 4, 1, $3, $4,
       jsonb_build_object('number', 1, 'duration_ms', $5::integer, 'outcome', 'success', 'request_headers', '{}'::jsonb)
     from generate_series(1, $6)`,
    [box.workspaceId, box.endpointId, status, at, durationMs, count],
  );
}

const HOURS = 'hours { beginsAt received sent delivered bounced failed held }';

describe('the mail of the last hours', () => {
  test('is counted by hours of UTC, empty ones too, and mail before them is not', async () => {
    const { workspaceId } = box;
    const [blocked = '', review = '', released = ''] = await insertMail(gateway.actor, [
      { workspaceId, createdAt: before(0) },
      { workspaceId, createdAt: before(0), isRead: true },
      { workspaceId, createdAt: before(2) },
      { workspaceId, createdAt: before(2), type: 'sent' },
      { workspaceId, createdAt: before(2), type: 'sent', status: 'bounced', ownAddress: 'other@second.test' },
      { workspaceId, createdAt: before(2), type: 'sent', status: 'pending' },
      { workspaceId, createdAt: before(2), type: 'scheduled' },
      { workspaceId, createdAt: before(3), type: 'sent', status: 'failed' },
      { workspaceId, createdAt: before(4) },
    ]);
    await hold(blocked, 'blocked', before(0));
    await hold(review, 'review', before(0));
    await hold(released, 'blocked', before(2), NOW);
    const { overview } = await graph.ask(
      `{ overview(hours: 4) { from until ${HOURS} days { beginsAt sent } domains { domain sent delivered pending deferred bounced failed complained } totals { received sent delivered bounced failed held successRate } } }`,
    );
    const none = { received: 0, sent: 0, delivered: 0, bounced: 0, failed: 0, held: 0 };
    expect(overview).toEqual({
      from: '2026-11-22T07:00:00.000Z',
      until: NOW.toISOString(),
      hours: [
        { ...none, beginsAt: '2026-11-22T07:00:00.000Z', sent: 1, failed: 1 },
        { ...none, beginsAt: '2026-11-22T08:00:00.000Z', received: 1, sent: 3, delivered: 1, bounced: 1 },
        { ...none, beginsAt: '2026-11-22T09:00:00.000Z' },
        { ...none, beginsAt: '2026-11-22T10:00:00.000Z', received: 2, held: 2 },
      ],
      days: [{ beginsAt: '2026-11-22T00:00:00.000Z', sent: 4 }],
      domains: [
        { domain: 'box.test', sent: 3, delivered: 1, pending: 1, deferred: 0, bounced: 0, failed: 1, complained: 0 },
        { domain: 'second.test', sent: 1, delivered: 0, pending: 0, deferred: 0, bounced: 1, failed: 0, complained: 0 },
      ],
      totals: { received: 3, sent: 4, delivered: 1, bounced: 1, failed: 1, held: 2, successRate: 1 / 3 },
    });
    const stranger = await gateway.mailbox();
    const theirs = await graphClient(gateway, stranger.apiKey).ask(
      '{ overview { hours { received } domains { domain } totals { received sent held successRate } } }',
    );
    expect(theirs.overview.hours).toHaveLength(24);
    expect(theirs.overview.domains).toEqual([]);
    expect(theirs.overview.totals).toEqual({ received: 0, sent: 0, held: 0, successRate: null });
  });

  test('is counted as queued, deferred and reported as spam by domain, and the lists of these states have as many', async () => {
    const { workspaceId } = box;
    const stranger = await gateway.mailbox();
    const state = { at: before(1), status: 'pending', attempts: 0, complainedAt: null as Date | null };
    const send = async (owner: string, recipients: Partial<typeof state>[], status = 'pending', at = before(1)) => {
      const [id = ''] = await insertMail(gateway.actor, [
        { workspaceId: owner, createdAt: at, type: 'sent', status: status as 'pending' },
      ]);
      for (const [n, recipient] of recipients.entries()) {
        const { status: of, attempts, complainedAt } = { ...state, ...recipient };
        await run(
          `insert into recipient (workspace_id, id, email_id, address, domain, status, attempts, complained_at, created_at)
           values ($1, 'rcp_' || $2 || $3, $2, 'a@b.test', 'b.test', $4, $5, $6, $7)`,
          [owner, id, n, of, attempts, complainedAt, at],
        );
      }
      return id;
    };
    const waiting = await send(workspaceId, [{}]);
    const deferred = await send(workspaceId, [{ status: 'delivered' }, { attempts: 2 }]);
    const spam = await send(
      workspaceId,
      [
        { status: 'delivered', complainedAt: before(0) },
        { status: 'delivered', complainedAt: NOW },
      ],
      'delivered',
    );
    // Before the period, and of another user.
    await send(workspaceId, [{ attempts: 1, complainedAt: before(0) }], 'pending', before(9));
    await send(stranger.workspaceId, [{ attempts: 1, complainedAt: before(0) }]);
    const { overview } = await graph.ask(
      '{ overview(hours: 4) { domains { domain sent delivered pending deferred complained } waiting { pending deferred } } }',
    );
    expect(overview).toEqual({
      domains: [{ domain: 'box.test', sent: 3, delivered: 1, pending: 2, deferred: 1, complained: 1 }],
      waiting: { pending: 3, deferred: 2 },
    });
    const readIds = async (status: string, domain = '') =>
      (
        await graph.ask(
          `{ emails(filter: {status: ${status}, timeRange: DAY${domain}}) { totalCount edges { node { id } } } }`,
        )
      ).emails;
    const page = (...ids: string[]) => ({ totalCount: ids.length, edges: ids.map((id) => ({ node: { id } })) });
    for (const [status, id] of [
      ['QUEUED', waiting],
      ['DEFERRED', deferred],
      ['COMPLAINED', spam],
    ] as const) {
      const all = await readIds(status);
      expect(all.edges[0], status).toEqual({ node: { id } });
      expect(all.totalCount, status).toBe(status === 'QUEUED' ? 1 : 2);
      const wire = await gateway.call(box.apiKey, 'GET', `/emails?status=${status.toLowerCase()}&time_range=24h`);
      expect(wire.json().pagination.total, status).toBe(all.totalCount);
      expect(wire.json().data[0].id, status).toBe(id);
    }
    expect(await readIds('QUEUED', ', domain: "box.test"')).toEqual(page(waiting));
    expect(await readIds('DEFERRED', ', domain: "elsewhere.test"')).toEqual(page());
  });

  test.each([0, 2161, -1])('is refused for %i hours', async (hours) => {
    const { data, errors } = (
      await gateway.graphql(box.apiKey, 'query($hours: Int) { overview(hours: $hours) { from } }', { hours })
    ).json();
    expect(data).toBeNull();
    expect(errors[0].message).toContain('hours must be 1 to 2160');
  });
});

describe('webhooks of the last hours', () => {
  const WEBHOOKS = 'webhooks { successful failed pending retrying successRate medianMs p95Ms isSampled }';

  test('have their success rate, to which deliveries that are being retried count as failed, and durations', async () => {
    await deliver(18, { status: 'success', durationMs: 20, at: before(1) });
    await deliver(1, { status: 'success', durationMs: 700, at: before(1) });
    await deliver(2, { status: 'failed', durationMs: 900, at: before(2) });
    await deliver(1, { status: 'pending', durationMs: 30, at: before(0) });
    await deliver(50, { status: 'failed', durationMs: 9_000, at: before(30) });
    expect((await graph.ask(`{ overview { ${WEBHOOKS} } }`)).overview.webhooks).toEqual({
      successful: 19,
      failed: 2,
      pending: 1,
      retrying: 1,
      successRate: 19 / 22,
      medianMs: 20,
      p95Ms: 900,
      isSampled: false,
    });
    const stranger = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    const theirs = await graphClient(gateway, stranger.apiKey).ask(`{ overview { ${WEBHOOKS} } }`);
    expect(theirs.overview.webhooks).toMatchObject({ successful: 0, successRate: null, p95Ms: null });
  });

  const TIMES = 'webhookTimes { beginsAt medianMs p95Ms sampleSize }';
  const readHour = (at: Date) => new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000).toISOString();

  test('have their times per hour, per day in long periods, and none of a stranger', async () => {
    await deliver(19, { status: 'success', durationMs: 20, at: before(3) });
    await deliver(1, { status: 'failed', durationMs: 700, at: before(3) });
    await deliver(1, { status: 'success', durationMs: 40, at: before(1) });
    await deliver(1, { status: 'success', durationMs: 5_000, at: before(30) });
    const { overview } = await graph.ask(`{ overview { ${TIMES} } }`);
    expect(overview.webhookTimes).toEqual([
      { beginsAt: readHour(before(3)), medianMs: 20, p95Ms: 20, sampleSize: 20 },
      { beginsAt: readHour(before(1)), medianMs: 40, p95Ms: 40, sampleSize: 1 },
    ]);
    const month = (await graph.ask(`{ overview(hours: 720) { ${TIMES} } }`)).overview.webhookTimes;
    expect(
      month.map(({ sampleSize }: { sampleSize: number }) => sampleSize).reduce((a: number, b: number) => a + b),
    ).toBe(22);
    for (const { beginsAt } of month) expect(beginsAt).toMatch(/T00:00:00.000Z$/);
    const rest = (await gateway.call(box.apiKey, 'GET', '/overview')).json();
    expect(rest.webhook_times.map((times: Record<string, unknown>) => times['p95_ms'])).toEqual([20, 40]);
    const stranger = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    const theirs = await graphClient(gateway, stranger.apiKey).ask(`{ overview { ${TIMES} } }`);
    expect(theirs.overview.webhookTimes).toEqual([]);
  });

  test('have times from a share of each hour, also where one hour has many', async () => {
    await deliver(10_000, { status: 'success', durationMs: 20, at: before(2) });
    await deliver(1, { status: 'success', durationMs: 30, at: before(6) });
    const { webhookTimes } = (await graph.ask(`{ overview { ${TIMES} } }`)).overview;
    expect(webhookTimes.map(({ sampleSize }: { sampleSize: number }) => sampleSize)).toEqual([1, 833]);
  });

  test('are sampled from the newest when there are too many', async () => {
    await deliver(500, { status: 'failed', durationMs: 900, at: before(2) });
    await deliver(10_000, { status: 'success', durationMs: 20, at: before(1) });
    await run(
      `insert into endpoint (workspace_id, id, name, type, config) values ($1, 'ep_idle', 'idle', 'webhook', '{"url": "https://x.test"}')`,
      [box.workspaceId],
    );
    expect((await graph.ask(`{ overview { ${WEBHOOKS} } }`)).overview.webhooks).toMatchObject({
      successful: 10_000,
      failed: 0,
      isSampled: true,
    });
  });
});

test('waiting work is counted, however old it is', async () => {
  const { workspaceId } = box;
  const [deferred = '', , , , , , review = ''] = await insertMail(gateway.actor, [
    { workspaceId, type: 'sent', status: 'pending', createdAt: before(90) },
    { workspaceId, type: 'sent', status: 'pending', createdAt: before(0) },
    { workspaceId, type: 'scheduled' },
    { workspaceId, type: 'scheduled' },
    { workspaceId, type: 'scheduled', status: 'paused' },
    { workspaceId, type: 'scheduled', status: 'cancelled' },
    { workspaceId, createdAt: before(500) },
  ]);
  await hold(review, 'review', before(500));
  await run(
    `insert into recipient (workspace_id, id, email_id, address, domain, attempts, created_at) values ($1, 'rcp_' || $2, $2, 'a@b.test', 'b.test', 2, now())`,
    [workspaceId, deferred],
  );
  await deliver(3, { status: 'pending', durationMs: 1, at: before(400) });
  await run(`update delivery set attempts = 0 where id = (select min(id) from delivery where workspace_id = $1)`, [
    workspaceId,
  ]);
  await run(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, created_at) values ($1, 'dlv_w' || $2, 'em_x', 'ep_x', 'email', 1, now())`,
    [workspaceId, workspaceId],
  );
  const query = '{ overview { waiting { pending deferred scheduled paused blocked review deliveries retries } } }';
  expect((await graph.ask(query)).overview.waiting).toEqual({
    pending: 2,
    deferred: 1,
    scheduled: 2,
    paused: 1,
    blocked: 0,
    review: 1,
    deliveries: 4,
    retries: 2,
  });
  const { overview } = await graphClient(gateway, (await gateway.mailbox()).apiKey).ask(query);
  expect(Object.values(overview.waiting)).toEqual(Array(8).fill(0));
});

describe('findings of the overview', () => {
  const THINGS = `{ overview { findings { kind severity title detail at node { __typename id } } } }`;
  const things = async (client = graph): Promise<Record<string, unknown>[]> =>
    (await client.ask(THINGS)).overview.findings;

  test('are empty when all is well', async () => {
    expect(await things()).toEqual([]);
  });

  test('have domains without proof, with the missing records', async () => {
    const pending = await gateway.mailbox({
      domain: 'pending.test',
      domainStatus: 'pending',
      workspaceId: box.workspaceId,
    });
    await run(`update domain set is_trusted = false where id = $1`, [pending.domainId]);
    const lost = await gateway.mailbox({ domain: 'lost.test', workspaceId: box.workspaceId });
    await run(`update domain set proof_lost_at = $2 where id = $1`, [lost.domainId, before(5)]);
    const bare = await gateway.mailbox({ domain: 'bare.test', workspaceId: box.workspaceId });
    await run(`update domain set is_trusted = false where id = $1`, [bare.domainId]);
    const found = await things();
    expect(found).toMatchObject([
      { kind: 'DOMAIN_UNVERIFIED', severity: 'ERROR', node: { __typename: 'Domain', id: pending.domainId } },
      { kind: 'DOMAIN_VERIFICATION_LOST', severity: 'ERROR', node: { id: lost.domainId }, at: before(5).toISOString() },
      { kind: 'DOMAIN_RECORDS_MISSING', severity: 'ERROR', node: { id: bare.domainId } },
    ]);
    expect(found[0]?.title).toBe('pending.test is not verified yet');
    expect(found[0]?.detail).toContain('Missing: ');
    expect(found[2]?.detail).toContain('MX at bare.test');
    expect(found[2]?.detail).toContain('It has 1 active address.');
  });

  test('have endpoints whose payload query no longer fits the schema', async () => {
    await run(`update endpoint set payload_query = '{ kind gone }' where id = $1`, [box.endpointId]);
    expect(await things()).toMatchObject([
      {
        kind: 'ENDPOINT_QUERY_OUTDATED',
        severity: 'WARNING',
        title: expect.stringContaining('no longer fits'),
        detail:
          'Line 1, column 8: Cannot query field "gone" on type "Event". Until you change the query, the endpoint gets the default payload.',
        node: { __typename: 'WebhookEndpoint', id: box.endpointId },
      },
    ]);
    await run(`update endpoint set payload_query = '{ kind }' where id = $1`, [box.endpointId]);
    expect(await things()).toEqual([]);
    await run(`update endpoint set payload_query = null where id = $1`, [box.endpointId]);
  });

  test('have endpoints that fail or were disabled, and addresses that lead to one that its user disabled', async () => {
    const { workspaceId, endpointId, addressId } = box;
    await run(`insert into endpoint_stat (workspace_id, endpoint_id, failing_since) values ($1, $2, $3)`, [
      workspaceId,
      endpointId,
      before(3),
    ]);
    await deliver(2, { status: 'pending', durationMs: 1, at: before(1) });
    expect(await things()).toMatchObject([
      {
        kind: 'ENDPOINT_FAILING',
        severity: 'WARNING',
        detail: expect.stringContaining('2 deliveries are waiting'),
        at: before(3).toISOString(),
        node: { __typename: 'WebhookEndpoint', id: endpointId },
      },
    ]);
    await run(`update endpoint set is_active = false, inactive_reason = 'It answered 410.' where id = $1`, [
      endpointId,
    ]);
    expect(await things()).toMatchObject([
      { kind: 'ENDPOINT_DISABLED', severity: 'ERROR', detail: expect.stringContaining('It answered 410.') },
    ]);
    await run(`update endpoint set inactive_reason = null where id = $1`, [endpointId]);
    expect(await things()).toMatchObject([
      { kind: 'ADDRESS_WITHOUT_ENDPOINT', severity: 'NOTICE', node: { __typename: 'EmailAddress', id: addressId } },
    ]);
  });

  test('have the sending limit, expiring keys, and mail to review', async () => {
    const { workspaceId } = box;
    const insertKey = (id: string, expiresAt: Date, isRevoked = false) =>
      gateway.owner.pool.query(
        `insert into api_key (id, workspace_id, name, secret_sha256, expires_at, revoked_at)
         values ($1, $2, $1, sha256($1::text::bytea), $3, case when $4 then now() end)`,
        [id, workspaceId, expiresAt, isRevoked],
      );
    const key = (name: string) => `key_${name}${workspaceId}`;
    await insertKey(key('soon'), before(-6 * 24));
    await insertKey(key('over'), before(24));
    await insertKey(key('later'), before(-8 * 24));
    await insertKey(key('long_over'), before(31 * 24));
    await insertKey(key('revoked'), before(24), true);
    await insertMail(
      gateway.actor,
      Array.from({ length: 9 }, () => ({ workspaceId, type: 'sent' as const })),
    );
    const [first = '', second = ''] = await insertMail(gateway.actor, [{ workspaceId }, { workspaceId }]);
    await hold(second, 'review', before(1));
    await hold(first, 'review', before(2));
    expect(await things()).toMatchObject([
      {
        kind: 'SENDING_LIMIT',
        severity: 'WARNING',
        detail: '9 of 10 emails were sent within the last hour.',
        node: null,
      },
      { kind: 'API_KEY_EXPIRING', severity: 'WARNING', node: { __typename: 'ApiKey', id: key('soon') } },
      { kind: 'API_KEY_EXPIRED', severity: 'NOTICE', node: { id: key('over') } },
      {
        kind: 'MAIL_TO_REVIEW',
        title: '2 emails wait for your review',
        at: before(2).toISOString(),
        node: { id: first },
      },
    ]);
    expect(await things(graphClient(gateway, (await gateway.mailbox()).apiKey))).toEqual([]);
  });
});

test('the whole overview takes as many statements with much data as with none', async () => {
  const query = `{ overview { ${HOURS} totals { sent } webhooks { p95Ms } waiting { pending } findings { kind node { id } } } }`;
  await graph.ask('{ viewer { id } }');
  // The fewest of some: on a busy machine a request may take a transaction more.
  const fewest = async () => {
    const counts = [];
    for (let n = 0; n < 5; n++) counts.push(await countStatements(() => graph.ask(query)));
    return counts.toSorted((a, b) => a.statements - b.statements)[0];
  };
  const empty = await fewest();
  await insertMail(
    gateway.actor,
    Array.from({ length: 60 }, (_, n) => ({ workspaceId: box.workspaceId, createdAt: before(n / 3) })),
  );
  for (const n of [1, 2, 3])
    await gateway.mailbox({ domain: `n${n}.test`, domainStatus: 'pending', workspaceId: box.workspaceId });
  const full = await fewest();
  expect(full?.response.overview.findings).toHaveLength(3);
  // One more loads the domains that are told of.
  expect(full?.statements).toBe((empty?.statements ?? 0) + 1);
  expect(full?.statements).toBeLessThan(16);
});
