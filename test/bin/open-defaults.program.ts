import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { afterEach, expect, test } from 'vitest';
import { makeCertificate } from '../../haraka-plugins/self-made-certificate.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, startOn } from '../support/runner.ts';
import { type DnsServer, startDnsServer } from '../support/servers/dns.ts';
import { until } from '../support/servers/service.ts';
import { startSinkMta } from '../support/servers/sink-mta.ts';
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
  if (environment['SMTP_TLS_CERT_FILE'] !== undefined) {
    const { key, cert } = makeCertificate('mx.example.com', new Date());
    const files = { SMTP_TLS_KEY_FILE: key, SMTP_TLS_CERT_FILE: cert };
    for (const [variable, pem] of Object.entries(files)) {
      machine.environment[variable] = path.join(machine.directory, variable);
      await writeFile(machine.environment[variable], pem);
    }
  }
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
  'a machine that others reach warns of each open setting, and serves a real domain as docs/deploy/one-server.md says',
  async () => {
    const dns = await startDnsServer();
    const gmail = await startSinkMta({ name: 'mx.gmail.test', startTls: 'offered' });
    const open = { SIGN_UP: 'on', ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8', TRUSTED_DOMAINS: 'inbox.test' };
    try {
      dns.set('gmail.test', 'MX', [{ preference: 5, exchange: 'mx.gmail.test' }]);
      dns.set('gmail.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
      for (const host of ['mx.gmail.test', 'mx.example.com']) dns.set(host, 'A', ['127.0.0.1']);
      const { machine, run, url } = await start({
        ...settingsOfGuide(),
        ...PROXIED,
        ...open,
        DNS_SERVERS: dns.address,
        OUTBOUND_PORT: String(gmail.port),
      });
      expect(warnings(run)).toEqual(['SIGN_UP', 'ALLOWED_PRIVATE_NETWORKS', 'TRUSTED_DOMAINS']);
      expect((await post(`${url}/api/auth/sign-up/email`, stranger)).status).toBe(200);

      const { apiKey } = JSON.parse(await account(machine, 'create', 'you@example.com')) as { apiKey: string };
      const [add = '', check = '', address = ''] = guideCommands().map((command) =>
        command.replace('KEY=...', `KEY=${apiKey}`).replaceAll('https://mail.example.com', url),
      );
      const key = `export KEY=${apiKey}\n`;
      const { records } = JSON.parse(await shell(add)) as { records: DnsRecord[] };
      publish(dns, records);
      expect(JSON.parse((await shell(key + check)).trim())).toMatchObject({
        status: 'verified',
        canReceiveEmails: true,
      });
      expect(await shell(key + check + address)).toContain('"address":"hello@example.com"');

      const transport = createTransport({
        host: '127.0.0.1',
        port: machine.smtpPort,
        requireTLS: true,
        tls: { ca: await readFile(machine.environment['SMTP_TLS_CERT_FILE'] ?? ''), servername: 'mx.example.com' },
      });
      await transport.sendMail({
        from: 'ada@gmail.test',
        to: 'hello@example.com',
        subject: 'Hello',
        text: 'From Gmail',
      });
      transport.close();
      const received = async () => {
        const response = await fetch(`${url}/api/e2/emails?type=received`, {
          headers: { authorization: `Bearer ${apiKey}` },
        });
        return ((await response.json()) as { data: { id: string; subject: string }[] }).data;
      };
      await until('the mail is in the inbox', run.output, async () => (await received()).length === 1);
      const [mail] = await received();
      const reply = await post(
        `${url}/api/e2/emails/${mail?.id}/reply`,
        { from: 'hello@example.com', text: 'Welcome' },
        apiKey,
      );
      expect(reply.status).toBe(200);
      const [sent] = await gmail.received(1);
      expect([sent?.recipients, sent?.isTls]).toEqual([['ada@gmail.test'], true]);
      expect(sent?.bytes.toString()).toMatch(/^DKIM-Signature: .*d=example\.com/ms);
    } finally {
      await gmail.stop();
      await dns.stop();
    }
  },
  LIMIT_MS,
);

const guide = readFileSync(path.join(repository, 'docs/deploy/one-server.md'), 'utf8');

/** The settings of the guide, except for ports and paths, which are this machine's. */
function settingsOfGuide(): Record<string, string> {
  const [, block = ''] = /\/etc\/postroom\.env <<'END'\n(.*?)\n {4}END/s.exec(guide) ?? [];
  const lines = block.split('\n').map((line) => line.trim().split('=') as [string, string]);
  expect(lines.map(([name]) => name)).toContain('MAIL_HOSTNAME');
  return Object.fromEntries(lines.filter(([name]) => !['HOST', 'SMTP_PORT', 'DATA_DIR'].includes(name)));
}

/** The commands of step 6. */
function guideCommands(): string[] {
  return [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands);
}

async function shell(script: string): Promise<string> {
  return (await execute('bash', ['-euc', script])).stdout;
}

/** A record of a domain as REST lists it. */
interface DnsRecord {
  type: string;
  name: string;
  value: string;
}

function publish(dns: DnsServer, records: readonly DnsRecord[]): void {
  for (const { type, name } of records) {
    const values = records.filter((record) => record.type === type && record.name === name).map(({ value }) => value);
    dns.set(
      name,
      type,
      type === 'MX' ? values.map((exchange) => ({ preference: 10, exchange: exchange.replace(/^\d+ /, '') })) : values,
    );
  }
}
