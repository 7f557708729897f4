import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillAccount } from '../support/rows/sample-account.ts';
import { runToEnd } from '../support/runner.ts';
import { callers, type DomainAccount, Service, until } from '../support/servers/service.ts';

/** Between mails that come in during an erasure: a program takes seconds to start, and each mail costs. */
const LATE_MAIL_MS = 100;

let service: Service;
let owner: pg.Client;
let leaving: DomainAccount;
let staying: DomainAccount;
let directory: string;
let sharedRawId: string;
const email = () => `owner@${leaving.domain}`;

beforeAll(async () => {
  service = await Service.start('single');
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-export-'));
  owner = new pg.Client({ connectionString: await service.databaseUrl() });
  await owner.connect();
  leaving = await service.createAccount();
  staying = await service.createAccount();
  for (const account of [leaving, staying])
    await account.call('POST', '/email-addresses', { address: `team@${account.domain}`, domainId: account.domainId });
  const { domain, domainId } = leaving;
  await fillAccount({ account: leaving, domain, domainId, smtpPort: service.smtpPort, webhookUrl: null });
  const input = { address: 'news@shop.test' };
  await leaving.graphql('mutation ($input: AddImageSenderInput!) { addImageSender(input: $input) { __typename } }', {
    input,
  });
  // One message for both.
  await send([`team@${leaving.domain}`, `team@${staying.domain}`], 'For both of you');
  await until(
    'both have it',
    () => '',
    async () => (await listRawIds('For both of you')).length === 2,
  );
  sharedRawId = (await listRawIds('For both of you'))[0] ?? '';
}, 300_000);
afterAll(async () => {
  await owner.end();
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

async function send(to: string[], subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: service.smtpPort, secure: false, ignoreTLS: true });
  await transport.sendMail({ from: 'ann@elsewhere.test', to, subject, text: `About ${subject}` });
  transport.close();
}

async function listRawIds(subject: string): Promise<string[]> {
  const { rows } = await owner.query<{ raw_id: string }>(
    'select raw_id from email where subject = $1 and thread_id is not null',
    [subject],
  );
  return rows.map((row) => row.raw_id);
}

function account(...words: string[]) {
  return runToEnd(['bin/account.ts', ...words], service.ownerEnvironment);
}

async function jsonLines(file: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(path.join(directory, 'export', file), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Tables that hold what this text names, anywhere in a row; bytes of messages apart. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'raw_message'`,
  );
  const found = [];
  for (const { name } of tables) {
    const { rows } = await owner.query<{ count: string }>(`select count(*) from ${name} t where t::text ilike $1`, [
      `%${text}%`,
    ]);
    if (rows[0]?.count !== '0') found.push(`${name}: ${rows[0]?.count}`);
  }
  return found;
}

test('an export has every document and every message of the account, byte for byte, and secrets only on request', async () => {
  const { status, stdout, stderr } = await account('export', email(), path.join(directory, 'export'));
  expect([status, stderr]).toEqual([0, '']);
  const { rows } = await owner.query<{ emails: string; threads: string; endpoints: string; raws: string }>(
    `select (select count(*) from email where workspace_id = $1) as emails, (select count(*) from thread where workspace_id = $1) as threads,
       (select count(*) from endpoint where workspace_id = $1) as endpoints,
       (select count(*) from email where workspace_id = $1 and raw_id is not null) as raws`,
    [leaving.workspaceId],
  );
  const emails = await jsonLines('emails.jsonl');
  expect({
    emails: emails.length,
    threads: (await jsonLines('threads.jsonl')).length,
    endpoints: (await jsonLines('endpoints.jsonl')).length,
  }).toEqual({
    emails: Number(rows[0]?.emails),
    threads: Number(rows[0]?.threads),
    endpoints: Number(rows[0]?.endpoints),
  });
  expect(JSON.parse(stdout)).toMatchObject({ email: email(), messages: Number(rows[0]?.raws) });
  const invoice = emails.find(({ subject }) => subject === 'Invoice 0087 for October');
  expect(invoice).toMatchObject({
    content: { html_body: expect.stringContaining('<b>invoice</b>') },
    envelope: { helo: expect.any(String) },
  });
  const month = String(invoice?.['created_at']).slice(0, 7);
  const bytes = await readFile(path.join(directory, 'export', 'mail', month, `${String(invoice?.['id'])}.eml`));
  const raw = await leaving.call('GET', `/emails/${String(invoice?.['id'])}/raw`);
  expect(bytes.equals(raw.body)).toBe(true);
  expect(bytes.toString()).toContain('invoice-0087.pdf');
  expect(await jsonLines('addresses.jsonl')).toContainEqual(
    expect.objectContaining({ address: `team@${leaving.domain}` }),
  );
  expect(await jsonLines('image-senders.jsonl')).toMatchObject([{ address: 'news@shop.test' }]);
  const all = (
    await Promise.all(
      (await readdir(path.join(directory, 'export'))).filter((file) => file.endsWith('.jsonl')).map(jsonLines),
    )
  ).flat();
  // The log of requests keeps the names of the secrets that it leaves out.
  const text = JSON.stringify(all).replaceAll(/verificationToken[\\":]+\[redacted\]/g, '');
  expect(text).not.toMatch(/PRIVATE KEY|whsec_|_ciphertext|verificationToken|secret_sha256/);
  expect(text).not.toContain(staying.workspaceId);

  const withSecrets = path.join(directory, 'with-secrets');
  expect((await account('export', email(), withSecrets, '--with-secrets')).status).toBe(0);
  expect(await readFile(path.join(withSecrets, 'dkim-keys.jsonl'), 'utf8')).toContain('PRIVATE KEY');
  expect((await account('export', email(), withSecrets)).stderr).toMatch(/is not empty/);
});

test('an account that is erased while it runs leaves no row, its key is invalid and its mail is refused', async () => {
  const bytes = async () => (await owner.query('select 1 from raw_message where id = $1', [sharedRawId])).rows.length;
  const others = (
    await owner.query(
      'select count(*) from raw_message m where exists (select from email e where e.raw_id = m.id and e.workspace_id <> $1)',
      [leaving.workspaceId],
    )
  ).rows[0];
  // Mail comes in all the time.
  const refusals: unknown[] = [];
  const sending = (async () => {
    for (let n = 0; refusals.length < 3 && n < 1_000; n++) {
      await send([`team@${leaving.domain}`], `Late ${n}`).catch((error: unknown) =>
        refusals.push((error as { responseCode: number }).responseCode),
      );
      await pause(LATE_MAIL_MS);
    }
  })();
  const erased = await account('erase', email(), '--yes');
  await sending;
  expect([erased.status, erased.stderr]).toEqual([0, '']);
  expect(JSON.parse(erased.stdout).erasedRows).toBeGreaterThan(100);
  expect(refusals).toEqual([550, 550, 550]);
  expect((await leaving.call('GET', '/emails')).status).toBe(401);

  expect(await bytes()).toBe(1);
  const kept = await owner.query(
    'select count(*) from raw_message m where exists (select from email e where e.raw_id = m.id)',
  );
  expect(kept.rows[0]).toEqual(others);
  // The erasure itself is remembered, by an id that says nothing. What another has of a message that both got is his.
  expect(await tablesWith(leaving.workspaceId)).toEqual(['erased_account: 1']);
  const told = (await tablesWith(`@${leaving.domain}`)).map((line) => line.split(':')[0]);
  // Mail to the former address that was refused afterwards is in the list of the operator, for 7 days.
  const ofShared = ['door_refusal', 'email', 'email_content', 'email_search', 'thread', 'thread_subject'];
  expect(told.filter((table) => !ofShared.includes(table ?? ''))).toEqual([]);
  const shared = await staying.call('GET', '/emails?type=received');
  expect(shared.body.data.map(({ subject }: { subject: string }) => subject)).toEqual(['For both of you']);

  const again = await account('erase', email(), '--yes');
  expect([again.status, again.stderr]).toEqual([1, expect.stringMatching(/does not exist/)]);
  // Its names are free again.
  const made = await account('create', email(), '--key', 'k'.repeat(40));
  expect(made.status).toBe(0);
  const successor = callers(service.url, 'k'.repeat(40));
  expect((await successor.call('POST', '/domains', { domain: leaving.domain })).status).toBe(201);
  expect((await successor.call('GET', '/emails')).body.data).toEqual([]);
});

test('the last bytes that two accounts shared are removed with the second of them', async () => {
  expect((await account('erase', `owner@${staying.domain}`, '--yes')).status).toBe(0);
  expect((await owner.query('select 1 from raw_message where id = $1', [sharedRawId])).rows).toEqual([]);
});

test('an erasure that is interrupted at any point continues there', async () => {
  const third = await service.createAccount();
  await third.call('POST', '/email-addresses', { address: `team@${third.domain}`, domainId: third.domainId });
  await send([`team@${third.domain}`], 'To be cut');
  // What a first run that died in the middle of the tables leaves: closed, and some rows gone.
  for (const table of [
    'auth_session',
    'verified_domain_name',
    'email_address_name',
    'domain',
    'delivery',
    'email',
    'email_content',
  ])
    await owner.query(`delete from ${table} where workspace_id = $1`, [third.workspaceId]);
  await owner.query('update api_key set revoked_at = now() where workspace_id = $1', [third.workspaceId]);
  const { status } = await account('erase', `owner@${third.domain}`, '--yes');
  expect(status).toBe(0);
  expect(await tablesWith(third.workspaceId)).toEqual(['erased_account: 1']);
});

test('the account command shows and changes how long mail is kept', async () => {
  const { domain } = await service.createAccount();
  const retention = async (...options: string[]) =>
    JSON.parse((await account('retention', `owner@${domain}`, ...options)).stdout);
  const ever = { email: `owner@${domain}`, rawDays: null, bodyDays: null, metadataDays: null };
  expect(await retention()).toEqual({ ...ever, isDefault: true });
  const chosen = { ...ever, rawDays: 30, bodyDays: 90, isDefault: false };
  expect(await retention('--raw-days', '30', '--body-days', '90')).toEqual(chosen);
  expect(await retention()).toEqual(chosen);
  expect(await retention('--default')).toEqual({ ...ever, isDefault: true });
});
