import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signStandardWebhook } from '../../core/endpoints/webhook-signature.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { repository } from '../support/runner.ts';
import { type DomainAccount, Service, until } from '../support/servers/service.ts';

/** Python with Django, if it is not that of the system. */
const PYTHON = process.env['DJANGO_PYTHON'] ?? 'python3';
const folder = path.join(repository, 'docs/recipes/web-frameworks');

interface Framework {
  /** what starts the application on this port */
  command: (port: string) => [string, string[]];
  /** a command that fails where the application cannot run */
  needs: [string, string[]];
}

const FRAMEWORKS: Record<string, Framework> = {
  django: { command: () => [PYTHON, ['app.py']], needs: [PYTHON, ['-c', 'import django']] },
  rails: {
    command: (port) => ['puma', ['--bind', `tcp://127.0.0.1:${port}`, '--quiet', 'config.ru']],
    needs: ['ruby', ['-e', 'require "puma"; require "rails"; require "action_mailer"; require "action_controller"']],
  },
  php: {
    command: (port) => ['php', ['-S', `127.0.0.1:${port}`, 'index.php']],
    needs: ['php', ['-r', 'exit(extension_loaded("curl") && extension_loaded("mbstring") ? 0 : 1);']],
  },
  go: { command: () => ['go', ['run', '.']], needs: ['go', ['version']] },
};

function runs([program, words]: [string, string[]]): boolean {
  try {
    execFileSync(program, words, { stdio: 'ignore', timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}

let service: Service;
let certificate: string;
let customer: DomainAccount;
let scratch: string;

beforeAll(async () => {
  service = await Service.start('single', { environment: { SUBMISSION_PORT: String(await freePort()) } });
  const data = service.environment['DATA_DIR'] ?? '';
  const name = (await readdir(data)).find((file) => /^smtp-tls-.*\.crt$/.test(file));
  if (name === undefined) throw new Error('the service made no certificate');
  certificate = path.join(data, name);
  customer = await service.createAccount();
  await customer.call('POST', '/email-addresses', { address: `ann@${customer.domain}`, domainId: customer.domainId });
  scratch = await mkdtemp(path.join(tmpdir(), 'postroom-frameworks-'));
}, 300_000);
afterAll(async () => {
  await service?.stop();
  await rm(scratch, { recursive: true, force: true });
});

const listSubjects = async (of: DomainAccount) => {
  const { body } = await of.call('GET', '/emails?type=received&time_range=all');
  return body.data.map(({ subject }: { subject: string }) => subject) as string[];
};

describe.each(Object.entries(FRAMEWORKS))('the application for %s', (name, { command, needs }) => {
  test.skipIf(!runs(needs))(
    'answers mail that is posted to it once, refuses a forged webhook, and sends over submission',
    async () => {
      const account = await service.createAccount();
      const port = String(await freePort());
      const made = await account.call('POST', '/endpoints', {
        name,
        type: 'webhook',
        config: { url: `http://127.0.0.1:${port}/webhook` },
      });
      const address = `support@${account.domain}`;
      const endpointId = made.body.id;
      await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId });
      const secret: string = made.body.signingSecret;
      let output = '';
      const start = (more: Record<string, string> = {}): ChildProcess => {
        const [program, words] = command(port);
        const child = spawn(program, words, {
          cwd: path.join(folder, name),
          detached: true,
          env: {
            ...process.env,
            BASE: service.url,
            KEY: account.apiKey,
            SECRET: secret,
            FROM: address,
            SERVER: 'localhost',
            SUBMISSION_PORT: service.environment['SUBMISSION_PORT'] ?? '',
            CERT: certificate,
            SSL_CERT_FILE: certificate,
            PORT: port,
            STORE: path.join(scratch, `${name}.json`),
            GOFLAGS: '-mod=mod',
            ...more,
          },
        });
        for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
        return child;
      };
      const end = async (child: ChildProcess) => {
        if (child.pid === undefined || child.exitCode !== null) return;
        // `go run` has a child of its own.
        process.kill(-child.pid, 'SIGKILL');
        await once(child, 'exit');
      };
      const url = `http://127.0.0.1:${port}`;
      const index = async () => (await fetch(url)).json().catch(() => null);
      const ready = () =>
        until(
          `${name} listens`,
          () => output,
          async () => Array.isArray(await index().catch(() => null)),
          180_000,
        );
      let app = start();
      try {
        await ready();
        const subject = `Où est ma commande, ${name}?`;
        await customer.call('POST', '/emails', {
          from: `ann@${customer.domain}`,
          to: address,
          subject,
          text: 'Hello',
        });
        await until(
          'the mail is answered',
          () => output,
          async () => (await listSubjects(customer)).includes(`Re: ${subject}`),
        );
        expect(await index()).toEqual([subject]);

        const body = Buffer.from(
          JSON.stringify({ type: 'email.received', id: 'evt_1', email: { id: 'x', subject: 'Forged' } }),
        );
        const seconds = Math.floor(Date.now() / 1_000);
        const signature = signStandardWebhook(secret, 'dlv_1', seconds, body);
        const post = (headers: Record<string, string>) =>
          fetch(`${url}/webhook`, {
            method: 'POST',
            body,
            headers: { 'content-type': 'application/json', ...headers },
          });
        expect((await post({})).status).toBe(401);
        const signed = { 'webhook-id': 'dlv_1', 'webhook-timestamp': String(seconds), 'webhook-signature': signature };
        expect((await post({ ...signed, 'webhook-id': 'dlv_2' })).status).toBe(401);
        expect((await post({ ...signed, 'webhook-timestamp': String(seconds - 3_600) })).status).toBe(401);
        expect(await index()).toEqual([subject]);

        // A webhook that is posted again is answered once.
        const { body: deliveries } = await account.call('GET', `/endpoints/${endpointId}/deliveries`);
        const [{ emailId }] = deliveries.data;
        expect((await account.call('POST', `/emails/${emailId}/retry`, {})).status).toBe(200);
        await until(
          'the webhook is posted again',
          () => output,
          async () => (await account.call('GET', `/endpoints/${endpointId}/deliveries`)).body.data.length === 2,
        );
        expect(await index()).toEqual([subject]);

        const notify = (about: string) =>
          fetch(`${url}/notify`, {
            method: 'POST',
            body: new URLSearchParams({
              to: `ann@${customer.domain}`,
              subject: about,
              text: 'Votre commande part: 東京',
            }),
          });
        expect((await notify(`Parti ${name}`)).status, output).toBe(204);
        await until(
          'the notice arrives',
          () => output,
          async () => (await listSubjects(customer)).includes(`Parti ${name}`),
        );
        expect((await listSubjects(customer)).filter((one) => one === `Re: ${subject}`)).toHaveLength(1);

        // The application sends nothing to a server whose certificate it does not know.
        await end(app);
        const other = path.join(folder, '../../../package.json');
        app = start({ CERT: other, SSL_CERT_FILE: other });
        await ready();
        expect((await notify(`Unsafe ${name}`)).status).toBeGreaterThanOrEqual(500);
        expect(await listSubjects(customer)).not.toContain(`Unsafe ${name}`);
      } finally {
        await end(app);
      }
    },
    300_000,
  );
});
