import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Inbound as Sdk } from '@inboundemail/sdk';
import Inbound, { RateLimitError } from 'inboundemail';
import { Resend } from 'resend';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../db/connection/database.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../support/rows/routing-rows.ts';
import { builtFirst, repository } from '../support/runner.ts';
import { type NatsServer, startNatsServer } from '../support/servers/nats.ts';
import { until } from '../support/servers/service.ts';

/** Low enough for a machine of any speed to ask more often. */
const LIMIT = 10;
const LARGEST_LEASE = LIMIT / 10;

interface GatewayProcess {
  child: ChildProcess;
  url: string;
}

let test_: TestDatabase;
let owner: Database;
let nats: NatsServer;
let environment: Record<string, string>;
const gateways: GatewayProcess[] = [];

beforeAll(async () => {
  test_ = await createTestDatabase();
  owner = test_.open(null);
  nats = await startNatsServer();
  environment = {
    ...test_.environment,
    NATS_URL: nats.url,
    RATE_LIMIT_PER_SECOND: String(LIMIT),
    ALLOW_UNSAFE_WRITES: 'true',
    LOG_LEVEL: 'warn',
  };
  gateways.push(await startGateway(), await startGateway());
});
afterAll(async () => {
  for (const { child } of gateways) await end(child, 'SIGTERM');
  await nats.close();
  await test_.drop();
});

async function startGateway(): Promise<GatewayProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, builtFirst(['bin/gateway.ts']), {
    cwd: repository,
    env: { ...process.env, ...environment, METRICS_PORT: '0', HTTP_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const url = `http://127.0.0.1:${port}`;
  await until(
    `${url}/ready returns 200`,
    () => output,
    async () => (await fetch(`${url}/ready`)).ok,
  );
  return { child, url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function newWorkspace(domain: string): Promise<TestMailbox> {
  return createMailbox(owner, { domain, address: `hello@${domain}` });
}

/** Asks that many times at once; returns how many were let through, and the responses' statuses. */
async function burst(
  urls: readonly string[],
  key: string,
  count: number,
): Promise<{ passed: number; statuses: number[] }> {
  const responses = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${urls[n % urls.length]}/api/e2/endpoints`, { headers });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return {
    passed: responses.filter((status) => status === 200).length,
    statuses: [...new Set(responses)].toSorted((a, b) => a - b),
  };
}

/** How many windows' worth of requests may have passed since. */
const windowsSince = (startedAt: number) => 1 + Math.floor((performance.now() - startedAt) / 1_000);

test('two gateway processes together allow the limit of a user', async () => {
  const { apiKey } = await newWorkspace('one.test');
  const startedAt = performance.now();
  const { passed, statuses } = await burst(
    gateways.map(({ url }) => url),
    apiKey,
    4 * LIMIT,
  );
  expect(passed).toBeLessThanOrEqual(windowsSince(startedAt) * LIMIT);
  expect(passed).toBeGreaterThanOrEqual(LIMIT - 2 * LARGEST_LEASE);
  expect(statuses).toEqual([200, 429]);
});

describe('a client above the limit', () => {
  const COUNT = 4 * LIMIT;
  const url = () => gateways[0]?.url ?? '';

  test('inboundemail retries after a 429 as the response says, and throws the error if retries are off', async () => {
    const { apiKey } = await newWorkspace('inboundemail.test');
    const burst = (length: number, maxRetries: number) => {
      const client = new Inbound({ apiKey, baseURL: url(), maxRetries });
      return Promise.allSettled(Array.from({ length }, () => client.domains.list()));
    };
    const settled = await burst(COUNT, 0);
    const reasons = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as RateLimitError] : []));
    expect(reasons.length).toBeGreaterThan(0);
    expect(reasons.filter((reason) => !(reason instanceof RateLimitError))).toEqual([]);
    expect(reasons[0]?.headers.get('retry-after')).toBe('1');
    const patient = await burst(2 * LIMIT, 100);
    expect(patient.every((each) => each.status === 'fulfilled')).toBe(true);
  });

  test('@inboundemail/sdk returns one string', async () => {
    const { apiKey } = await newWorkspace('sdk.test');
    const client = new Sdk(apiKey, `${url()}/api/e2`);
    const responses = await Promise.all(Array.from({ length: COUNT }, () => client.domain.list()));
    const errors = responses.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(new Set(errors)).toEqual(new Set(['Too Many Requests']));
  });

  test('resend returns how long to wait', async () => {
    const { apiKey } = await newWorkspace('resend.test');
    const client = new Resend(apiKey, { baseUrl: `${url()}/api/e2` });
    const responses = await Promise.all(Array.from({ length: COUNT }, () => client.domains.list()));
    const refused = responses.filter((response) => response.error !== null);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({
      error: { name: 'rate_limit_exceeded', statusCode: 429, error: 'Too Many Requests' },
      headers: { 'retry-after': '1', 'ratelimit-limit': String(LIMIT) },
    });
  });
});

test('allowed requests still count when their gateway is killed', async () => {
  const [first, second] = gateways;
  if (first === undefined || second === undefined) return expect.fail('no gateways');
  const { apiKey } = await newWorkspace('two.test');
  // The second gateway knows the key already.
  await burst([second.url], apiKey, 1);
  await until(
    'the window is empty again',
    () => '',
    async () => {
      const { rows } = await owner.pool.query(
        `select from request_window w cross join lateral unnest(w.leases) l where l.counts_until > clock_timestamp()`,
      );
      return rows.length === 0;
    },
  );
  const startedAt = performance.now();
  const before = await burst([first.url], apiKey, LIMIT - LARGEST_LEASE);
  await end(first.child, 'SIGKILL');
  const after = await burst([second.url], apiKey, LIMIT);
  expect(before.passed).toBe(LIMIT - LARGEST_LEASE);
  expect(before.passed + after.passed).toBeLessThanOrEqual(windowsSince(startedAt) * LIMIT);
});
