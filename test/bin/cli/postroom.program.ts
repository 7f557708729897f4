import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProgram } from '../../../bin/cli/program.ts';
import { repository } from '../../support/runner.ts';
import { type Ran, startPostroom } from '../../support/servers/postroom-runs.ts';
import { type DomainAccount, until } from '../../support/servers/service.ts';
import { type SharedService, sharedService } from '../../support/servers/shared-service.ts';
import { sendOne } from '../../support/servers/smtp-load.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

let service: SharedService;
let receiver: WebhookReceiver;
let account: DomainAccount;
let endpointId: string;
let address: string;
let home: string;

beforeAll(async () => {
  service = await sharedService('single');
  account = await service.createAccount();
  address = `hello@${account.domain}`;
  receiver = await startWebhookReceiver();
  const endpoint = { name: 'hook', type: 'webhook', config: { url: receiver.url } };
  endpointId = (await account.call('POST', '/endpoints', endpoint)).body.id;
  await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId });
  home = await mkdtemp(path.join(tmpdir(), 'postroom-cli-'));
}, 300_000);
afterAll(async () => {
  await receiver?.stop();
  await rm(home, { recursive: true, force: true });
});

/** Runs postroom as someone who has run `postroom init`, unless the environment says otherwise. */
function postroom(words: string[], input = '', environment: Record<string, string> = {}): Promise<Ran> {
  return startPostroom(words, { ...signedIn(), ...environment }, input).ended;
}

const signedIn = () => ({ XDG_CONFIG_HOME: home, POSTROOM_URL: service.url, POSTROOM_KEY: account.apiKey });

/** Runs it with --json, and returns the document. */
async function json(...words: string[]) {
  const { code, out, error } = await postroom([...words, '--json']);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  return JSON.parse(out);
}

/** Sends an email to the account's own address, and returns the id that it has there. */
async function receive(subject: string, text: string): Promise<string> {
  await account.call('POST', '/emails', { from: address, to: address, subject, text });
  const since = new Date(Date.now() - 300_000).toISOString();
  const { body } = await account.call('POST', '/emails/wait', { subject, since, timeout: 60 });
  return body.email.id;
}

test('init stores a key that works, readable only by the user, and the other commands use it for that server only', async () => {
  const own = path.join(home, 'own');
  const environment = { XDG_CONFIG_HOME: own, POSTROOM_URL: '', POSTROOM_KEY: '' };
  const wrong = await postroom(['init', '--url', service.url], 'x'.repeat(40), environment);
  expect(wrong).toMatchObject({ code: 4, out: '', error: expect.stringContaining('does not accept the API key') });
  expect(await readdir(home)).not.toContain('own');

  const right = await postroom(['init', '--url', `${service.url}/`], `${account.apiKey}\n`, environment);
  expect(right, right.error).toMatchObject({ code: 0, out: expect.stringContaining(`owner@${account.domain}`) });
  const file = path.join(own, 'postroom', 'config.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ url: service.url, key: account.apiKey });
  expect(await postroom(['inbox', '--search', 'nothing'], '', environment)).toMatchObject({ code: 0 });

  const elsewhere = await postroom(['inbox', '--url', 'http://localhost:9'], '', environment);
  expect(elsewhere).toMatchObject({
    code: 4,
    error: expect.stringMatching(/^There is no API key for http:\/\/localhost:9\./),
  });
});

test('send, wait, inbox, read, reply: a conversation', async () => {
  const file = path.join(home, 'invoice.txt');
  await writeFile(file, 'Two pears');
  const words = [
    'send',
    '--from',
    address,
    '--to',
    address,
    '--subject',
    'Sign in 7',
    '--idempotency-key',
    `k${Date.now()}`,
  ];
  const sent = await postroom([...words, '--attach', file, '--json'], 'Your code is 482913\n');
  expect(JSON.parse(sent.out), sent.error).toMatchObject({ id: expect.stringMatching(/^em_/), status: 'sent' });
  const again = await postroom([...words, '--attach', file, '--json'], 'Your code is 482913\n');
  expect(JSON.parse(again.out).id).toBe(JSON.parse(sent.out).id);

  expect(await postroom(['wait', '--subject', 'Sign in 7', '--since', '5m', '--code'])).toEqual({
    code: 0,
    out: '482913\n',
    error: '',
  });
  const listed = await json('inbox', '--emails', '--search', 'Sign in 7');
  expect(listed).toMatchObject({ data: [{ subject: 'Sign in 7', is_read: false }], next_cursor: null });
  const [{ id, thread_id: threadId }] = listed.data;
  const inbox = await postroom(['inbox', '--unread']);
  expect(inbox.out).toMatch(new RegExp(String.raw`^\*  ${threadId}  .*Sign in 7`, 'm'));

  const read = await postroom(['read', id]);
  expect(read.out).toMatch(/^Subject: Sign in 7$/m);
  expect(read.out).toMatch(/^Unread$[^]*^Your code is 482913$[^]*^Attached: invoice.txt \(9 B\)$/m);
  const raw = await account.call('GET', `/emails/${id}/raw`);
  expect((await postroom(['read', id, '--raw'])).out).toBe(raw.body.toString());
  const saved = path.join(home, 'files');
  expect((await postroom(['read', id, '--attachments', saved])).out).toBe(`${saved}/invoice.txt\n`);
  expect((await postroom(['read', id, '--attachments', saved])).out).toBe(`${saved}/invoice (2).txt\n`);
  expect(await readFile(path.join(saved, 'invoice.txt'), 'utf8')).toBe('Two pears');

  const metadata = { order: 4711 };
  const noted = JSON.stringify(metadata);
  const reply = await json('reply', id, '--to', address, '--text', 'Thank you.', '--metadata', noted);
  expect((await postroom(['read', reply.id])).out).toMatch(/^Metadata: +{"order":4711}$/m);
  const wrong = await postroom(['send', '--to', address, '--text', 'x', '--metadata', '[1]']);
  expect([wrong.code, wrong.error]).toEqual([2, expect.stringContaining('not a JSON object')]);
  expect(reply).toMatchObject({ status: 'sent', replied_to_thread_id: threadId });
  expect((await account.call('GET', `/emails/${reply.id}`)).body).toMatchObject({
    from: address,
    subject: 'Re: Sign in 7',
  });
  const thread = await postroom(['read', threadId, '--mark-read']);
  expect(thread.out).toContain('Your code is 482913');
  expect(thread.out).toContain('Thank you.');
  expect((await account.call('GET', `/emails/${id}`)).body.is_read).toBe(true);
});

test('a list continues with its cursor', async () => {
  await receive('Page one', 'x');
  await receive('Page two', 'x');
  for (const kind of [[], ['--emails'], ['--sent']]) {
    const all = (await json('inbox', ...kind)).data.map(({ id }: { id: string }) => id);
    const first = await json('inbox', ...kind, '--limit', '1');
    const rest = await json('inbox', ...kind, '--cursor', first.next_cursor);
    expect([...first.data, ...rest.data].map(({ id }: { id: string }) => id)).toEqual(all);
  }
});

test('escape sequences of a sender are not in the shown text', async () => {
  const subject = `Red \u{1b}[31m \u{202e}alert`;
  const message = [
    `From: ann@elsewhere.test`,
    `To: ${address}`,
    `Subject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Text \u{1b}]0;title\u{7} and \u{9b}2J',
    '',
  ].join('\r\n');
  const reversePath = 'ann@elsewhere.test';
  const sent = { port: service.smtpPort, reversePath, recipients: [address], bytes: Buffer.from(message) };
  expect((await sendOne(sent)).code).toBe(250);
  const { id } = (await json('wait', '--subject', 'alert', '--since', '5m')).email;
  const { out } = await postroom(['read', id]);
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(out).toContain('alert');
  expect((await postroom(['inbox'])).out).toContain('Red');
});

test('wait exits with 3 when no email arrives, and says what a mail without a code lacks', async () => {
  const late = await postroom(['wait', '--subject', 'never', '--timeout', '0', '--json']);
  expect(late).toMatchObject({ code: 3, error: expect.stringContaining('"exit_code":3') });
  expect(JSON.parse(late.out)).toMatchObject({ timed_out: true, email: null });
  const id = await receive('No code', 'Hello');
  const without = await postroom(['wait', '--subject', 'No code', '--since', '5m', '--code']);
  expect(without).toEqual({ code: 1, out: '', error: `The email has no code.\nRead it with postroom read ${id}.\n` });
});

test('wait goes on when the server breaks its connections', async () => {
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: service.httpPort });
  proxy.setMode('refuse');
  const run = startPostroom(['wait', '--subject', 'After the break', '--since', '5m', '--timeout', '5m'], {
    ...signedIn(),
    POSTROOM_URL: `http://127.0.0.1:${proxy.port}`,
  });
  await receive('After the break', 'x');
  proxy.setMode('pass');
  expect(await run.ended).toMatchObject({ code: 0, out: expect.stringContaining('After the break') });
  await proxy.close();
});

test('tail prints every event once, although the server goes away in the middle', async () => {
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: service.httpPort });
  const before = (await account.call('GET', '/events?after=latest')).body.next_cursor;
  const words = ['tail', '--since', before, '--events', 'email.received', '--count', '2', '--json'];
  const run = startPostroom(words, { ...signedIn(), POSTROOM_URL: `http://127.0.0.1:${proxy.port}` });
  const first = await receive('Tail one', 'x');
  await until('the first is printed', run.printed, () => Promise.resolve(run.printed().includes(first)));
  proxy.setMode('refuse');
  const second = await receive('Tail two', 'x');
  proxy.setMode('pass');
  const { code, out } = await run.ended;
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect({ code, ids: events.map(({ email_id: id }) => id) }).toEqual({ code: 0, ids: [first, second] });
  await proxy.close();

  const rest = await postroom(['tail', '--since', events[0].cursor, '--events', 'email.received', '--no-follow']);
  expect(rest.out).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d  email\\.received  ${second}`));
});

test('tail takes prefixes of kinds, and names a kind that does not exist', async () => {
  const before = (await account.call('GET', '/events?after=latest')).body.next_cursor;
  await receive('Tail three', 'x');
  const words = ['tail', '--since', before, '--events', 'thread.*, email.received', '--count', '1', '--json'];
  const { out } = await postroom(words);
  expect(JSON.parse(out)).toMatchObject({ kind: 'email.received' });
  for (const kinds of ['email.recieved', 'mail.*', 'email*', ''])
    expect(await postroom(['tail', '--events', kinds])).toMatchObject({
      code: 2,
      error: expect.stringContaining(`${kinds} is not a kind of event. The kinds are: postroom tail --help.`),
    });
});

test('tail ends quietly when its reader has closed the pipe', async () => {
  await receive('For the pipe', 'x');
  const command = `node bin/postroom.js tail --since start --json | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], {
    cwd: repository,
    env: { ...process.env, ...signedIn() },
  });
  expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
});

test('replay lists the endpoints, and delivers a period or one email again', async () => {
  const id = await receive('Replayed', 'x');
  const copies = () => receiver.requests.filter(({ body }) => body.toString().includes('Replayed')).length;
  await receiver.until(() => copies() === 1);
  expect(await json('replay')).toMatchObject({ data: [{ id: endpointId, type: 'webhook' }], has_more: false });
  const { replayed } = await json('replay', endpointId, '--since', '1h', '--all');
  expect(replayed).toBeGreaterThan(0);
  await receiver.until(() => copies() === 2);
  await json('replay', id);
  await receiver.until(() => copies() === 3);
  expect(await postroom(['replay', endpointId])).toMatchObject({ code: 2, error: expect.stringContaining('--since') });
});

test('doctor names what is wrong with the server, the key and its rights', async () => {
  const well = await json('doctor');
  expect(well).toMatchObject({ isWell: true });
  expect(well.findings.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`)).toEqual([
    'API key ok',
    'server ok',
    'clock ok',
    'account ok',
    'rights ok',
    'version ok',
  ]);
  const { body: key } = await account.call('POST', '/api-keys', { name: 'sender', scopes: ['send'] });
  const narrow = await postroom(['doctor'], '', { POSTROOM_KEY: key.token });
  expect(narrow).toMatchObject({ code: 0, out: expect.stringMatching(/! rights +send/) });
  const wrong = await postroom(['doctor'], '', { POSTROOM_KEY: 'x'.repeat(40) });
  expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining('does not accept the API key') });
  const down = await postroom(['doctor', '--json'], '', { POSTROOM_URL: 'http://127.0.0.1:9' });
  expect([down.code, JSON.parse(down.out).isWell]).toEqual([1, false]);
});

test('errors say what is wrong and what to do next, with an exit code for each kind', async () => {
  const invalid = await postroom(['send', '--from', address, '--to', 'nonsense', '--subject', 's', '--text', 't']);
  expect(invalid).toMatchObject({ code: 1, out: '', error: expect.stringContaining('nonsense') });
  expect(invalid.error).not.toContain('    at ');
  const nowhere = await postroom(['read', 'em_01a217a648967726a94a1e2187eed8d9', '--json']);
  expect(nowhere.code).toBe(5);
  expect(JSON.parse(nowhere.error)).toMatchObject({ error: { exit_code: 5, response: { statusCode: 404 } } });
  const down = await postroom(['inbox'], '', { POSTROOM_URL: 'http://127.0.0.1:9' });
  expect(down).toMatchObject({
    code: 6,
    error: expect.stringMatching(/cannot be reached.*\nCheck that the server runs/),
  });
  const { body: key } = await account.call('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
  const forbidden = await postroom(['reply', 'em_1', '--from', address, '--text', 't'], '', {
    POSTROOM_KEY: key.token,
  });
  expect(forbidden.code).toBe(4);
  expect(await postroom(['inbox', '--limit', '0'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('from 1 to 100'),
  });
  expect(await postroom(['send', '--from', address, '--to', address, '--subject', 's'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('The email has no text.'),
  });
});

const PTY = `
import os, pty, sys
def read(fd):
    return os.read(fd, 65536)
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))`;

test('on a terminal a table has colors and fits the width, unless NO_COLOR is set', async () => {
  await receive(`Long ${'subject '.repeat(40)}end`, 'x');
  // Node takes a CI for a terminal without colors.
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...withoutColors } = process.env;
  const onTerminal = async (environment: Record<string, string>) => {
    const words = ['-c', PTY, 'sh', '-c', 'stty cols 90; exec "$0" bin/postroom.js inbox', process.execPath];
    const { stdout } = await promisify(execFile)('python3', words, {
      cwd: repository,
      env: { ...withoutColors, TERM: 'xterm-256color', ...signedIn(), ...environment },
    });
    return stdout;
  };
  const plain = await onTerminal({ NO_COLOR: '1' });
  expect(plain).not.toContain('\u{1b}[');
  const lines = plain.trim().split(/\r?\n/);
  // The last column is padded by its title.
  const width = Math.max(...lines.map((line) => line.length));
  expect([width <= 90, width > 80]).toEqual([true, true]);
  expect(lines.some((line) => line.includes('…'))).toBe(true);
  expect(await onTerminal({})).toContain('\u{1b}[33m*');
});

test('a Node that cannot run TypeScript starts the Node that came with Postroom', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-strip-types', 'bin/postroom.js', '--version'], {
    cwd: repository,
  });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

const commands = createProgram().commands.map((command) => command.name());

test('domains lists, creates with the DNS records to publish, and deletes', async () => {
  expect((await json('domains')).data).toMatchObject([{ id: account.domainId, domain: account.domain }]);
  const name = `${account.domain.split('.')[0]}-cli.example`;
  const made = await postroom(['domains', '--create', name]);
  expect(made, made.error).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^dom_\w+\nPublish these DNS records:\nMX {2}/),
  });
  expect(made.out).toContain(`_postroom.${name}`);
  const [id = ''] = made.out.split('\n');
  expect(await json('domains', '--delete', id)).toMatchObject({ success: true });
});

test('suppressions and reply-addresses create, list and delete what a capability declares', async () => {
  const suppressed = await json('suppressions', '--create', 'ada@example.org', '--detail', 'asked by phone');
  expect(suppressed).toMatchObject({ address: 'ada@example.org', reason: 'manual', detail: 'asked by phone' });
  expect((await postroom(['suppressions'])).out).toContain('ada@example.org');
  expect((await json('suppressions', '--delete', 'ada@example.org')).deleted).toBe(true);
  const made = await json('reply-addresses', '--create', account.domain, '--expires', '2099-01-31T12:00:00Z');
  expect(made).toMatchObject({ domain: account.domain, status: 'active', expires_at: '2099-01-31T12:00:00.000Z' });
  expect((await json('reply-addresses')).data).toMatchObject([{ id: made.id }]);
  expect((await json('reply-addresses', '--delete', made.id)).status).toBe('revoked');
});

test('the help of every command has an example, and its page describes it', async () => {
  const page = await readFile(path.join(repository, 'docs/cli.md'), 'utf8');
  for (const command of createProgram().commands) {
    let help = '';
    command.configureOutput({ writeOut: (text) => void (help += text) });
    command.outputHelp();
    expect(help).toMatch(new RegExp(String.raw`\$ .*postroom ${command.name()}`));
    expect(page).toContain(`postroom ${command.name()}`);
  }
});

test('completion offers commands, options and their values in bash', async () => {
  const { out } = await postroom(['completion', 'bash']);
  const complete = async (...words: string[]) => {
    const script = `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _postroom; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', ...words]);
    return stdout.trim().split('\n');
  };
  expect(await complete('postroom', '')).toEqual(expect.arrayContaining(commands));
  expect(await complete('postroom', 'inbox', '--un')).toEqual(['--unread']);
  expect(await complete('postroom', 'import', 'm')).toEqual(['mbox', 'maildir']);
  expect(await complete('postroom', 'send', '--attach', '')).toEqual(['']);
  for (const shell of ['zsh', 'fish']) {
    const script = (await postroom(['completion', shell])).out;
    for (const command of commands) expect(script).toContain(command);
  }
});
