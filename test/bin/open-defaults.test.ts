import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, startOn } from '../support/runner.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';

const LIMIT_MS = 180_000;
const execute = promisify(execFile);
const PROXIED = { PUBLIC_URL: 'https://mail.example.com', TRUSTED_PROXIES: '127.0.0.1' };
const machines: Machine[] = [];

afterEach(async () => {
  for (const machine of machines.splice(0)) await machine.remove();
}, LIMIT_MS);

async function start(environment: Record<string, string>): Promise<{ machine: Machine; run: Run; url: string }> {
  const machine = await makeMachine(environment);
  machines.push(machine);
  await copyDataDirectory(machine.dataDirectory);
  const run = await startOn(machine);
  return { machine, run, url: `http://127.0.0.1:${machine.httpPort}` };
}

async function account(machine: Machine, ...words: string[]): Promise<string> {
  const env = { ...process.env, ...machine.environment };
  const { stdout } = await execute(process.execPath, ['bin/account.ts', ...words], { cwd: repository, env });
  return stdout.trim();
}

async function post(url: string, body: unknown, key: string | null = null): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const stranger = { email: 'stranger@example.com', password: 'correct horse', name: 'Stranger' };
const webhookTo = (url: string) => ({
  name: 'inside',
  type: 'webhook',
  config: { url, timeout: 30, retryAttempts: 3 },
});

/** The variables that the service warned of. */
function warnings(run: Run): string[] {
  return [...run.output().matchAll(/^\{.*"event":"start\.exposed".*$/gm)].map(
    ([line]) => (JSON.parse(line) as { variable: string }).variable,
  );
}

test(
  'a machine behind a local reverse proxy refuses sign-up, webhooks to loopback addresses and inbox.test',
  async () => {
    const receiver = await startWebhookReceiver({ host: '127.0.0.1' });
    try {
      const { machine, run, url } = await start(PROXIED);
      expect(await post(`${url}/api/auth/sign-up/email`, stranger)).toMatchObject({
        status: 400,
        body: { code: 'EMAIL_PASSWORD_SIGN_UP_DISABLED' },
      });

      // The first start says how to get in.
      expect(printedKey(run)).toBe('');
      expect(run.output()).toContain('none yet. Sign-up is closed.');
      expect(run.output()).toContain('npx node bin/account.ts create you@example.com');
      const { apiKey } = JSON.parse(await account(machine, 'create', 'you@example.com')) as { apiKey: string };
      expect(await account(machine, 'sign-in-link', 'you@example.com')).toMatch(/^https:\/\/mail\.example\.com\//);

      for (const scheme of ['http', 'https'])
        expect(
          await post(`${url}/api/e2/endpoints`, webhookTo(`${scheme}://127.0.0.1:${receiver.port}/`), apiKey),
        ).toMatchObject({ status: 400, body: { error: 'Invalid configuration' } });
      expect(receiver.requests).toEqual([]);
      const domain = await post(`${url}/api/e2/domains`, { domain: 'inbox.test' }, apiKey);
      expect(domain.body).toMatchObject({ status: 'pending' });
      expect(warnings(run)).toEqual([]);
    } finally {
      await receiver.stop();
    }
  },
  LIMIT_MS,
);

test(
  'a machine that other machines reach warns of each setting that is open',
  async () => {
    const open = { SIGN_UP: 'on', ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8', TRUSTED_DOMAINS: 'inbox.test' };
    const { run, url } = await start({ ...PROXIED, ...open });
    expect(warnings(run)).toEqual(['SIGN_UP', 'ALLOWED_PRIVATE_NETWORKS', 'TRUSTED_DOMAINS']);
    expect((await post(`${url}/api/auth/sign-up/email`, stranger)).status).toBe(200);
  },
  LIMIT_MS,
);
