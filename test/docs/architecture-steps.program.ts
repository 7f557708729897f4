import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, repository, runOn } from '../support/runner.ts';
import { callers, until } from '../support/servers/service.ts';
import { type SinkMta, startSinkMta } from '../support/servers/sink-mta.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { readClaims, readSection } from './architecture-claims.ts';

/**
 * What this scenario does not reach, and which test does: mail to an MX, send policies, and what runs in a thread that is ended, which
 * leaves no coverage.
 */
const ELSEWHERE: Record<string, string> = {
  authenticateMessage: 'test/actors/receiving/authenticate-message.test.ts',
  openPolicyJudge: 'test/gateway/rest/send-policy.test.ts',
  resolveDestination: 'test/actors/sending/destinations.test.ts',
  findDane: 'test/actors/sending/dane.test.ts',
  secureHosts: 'test/actors/sending/mta-sts.test.ts',
};

/** More than is read before its commit: it is only committed, then parsed and routed. */
const LARGE = 'A line of a long letter that someone wrote.\r\n'.repeat(14_000);

let machine: Machine;
let receiver: WebhookReceiver;
const MAILS = 60;
let sink: SinkMta;
let folder: string;
/** `name in file` of each function that ran in one of the processes */
let reached: ReadonlySet<string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'postroom-coverage-'));
  receiver = await startWebhookReceiver();
  sink = await startSinkMta({
    script: { rcpt: (address) => (address.startsWith('later') ? '450 4.2.0 Come back later' : undefined) },
  });
  machine = await makeMachine({
    NODE_V8_COVERAGE: folder,
    OUTBOUND_RELAY_URL: `smtp://127.0.0.1:${sink.port}`,
    ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
  });
  await copyDataDirectory(machine.dataDirectory);
  // From the sources, whose functions have their names.
  const run = runOn(machine, ['bin/start.ts'], { root: repository });
  await run.written('"event":"start.ready"');
  await exchangeMail(printedKey(run));
  run.child.kill('SIGTERM');
  expect(await run.ended).toBe(0);
  reached = await readReached(folder);
}, 300_000);

afterAll(async () => {
  await machine?.remove();
  await receiver?.stop();
  await sink?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each(['The way in: SMTP to webhook', 'Mail that is only committed', 'The way out: POST to MX'])(
  'each function that a step of "%s" names',
  (heading) => {
    test('runs when mail takes this way', async () => {
      const claims = readClaims(readSection(heading));
      const named = claims.flatMap(({ names, file }) => names.map((name) => ({ name, file })));
      expect(named.length).toBeGreaterThan(10);
      const missed = [];
      for (const { name, file } of named)
        if (!reached.has(`${name} in ${file}`) && ELSEWHERE[name] === undefined && (await isFunction(name, file)))
          missed.push(`${name} in ${file}`);
      expect(missed).toEqual([]);
    });
  },
);

test('what is reached elsewhere is not reached here, and its test exists', async () => {
  const names = [...reached].map((each) => each.split(' ')[0] ?? '');
  expect(Object.keys(ELSEWHERE).filter((name) => names.includes(name))).toEqual([]);
  for (const file of Object.values(ELSEWHERE)) await access(path.join(repository, file));
});

/** Sends mail by each way: with and without guard rules, small and large, new and as a reply, accepted and deferred, and a bounce. */
async function exchangeMail(key: string): Promise<void> {
  const { call } = callers(`http://127.0.0.1:${machine.httpPort}`, key);
  const [{ id: domainId }] = (await call('GET', '/domains')).body.data;
  const endpoint = await call('POST', '/endpoints', { name: 'way', type: 'webhook', config: { url: receiver.url } });
  const address = 'way@inbox.test';
  const made = { address, domainId, endpointId: endpoint.body.id };
  expect((await call('POST', '/email-addresses', made)).status).toBe(201);

  // On a busy machine, most of them are not read within the time in which mail is taken at once.
  for (let each = 0; each < MAILS; each++) await receive(`Direct ${each}`, 'Body');
  await untilPosted(`Direct ${MAILS - 1}`);
  const rule = { name: 'None', type: 'explicit', config: { subject: { operator: 'OR', values: ['casino'] } } };
  expect((await call('POST', '/guard', { ...rule, action: { action: 'block' } })).status).toBe(201);
  await receive('Ruled', 'Body');
  await receive('Large', LARGE);
  await untilPosted('Ruled');
  const id = await untilPosted('Large');

  const email = { from: address, to: 'ann@elsewhere.test', subject: 'Out', text: 'Hello' };
  expect((await call('POST', '/emails', email, { 'Idempotency-Key': 'way-out' })).status).toBe(200);
  expect((await call('POST', '/emails', { ...email, to: 'later@elsewhere.test' })).status).toBe(200);
  expect((await call('POST', '/emails', { ...email, scheduled_at: 'in 2 hours' })).status).toBe(201);
  expect((await call('POST', `/emails/${id}/reply`, { from: address, text: 'Thanks' })).status).toBe(200);
  await sink.until(({ messages }) => messages.length === 2);
  const [message] = sink.messages;
  const bounce = `From: <>\r\nSubject: Undelivered\r\n\r\n<ann@elsewhere.test>: 550 5.1.1 No such user\r\n`;
  await deliver(message?.from ?? '', bounce, '');
  await until(
    'a deferral is recorded',
    () => '',
    async () => (await call('GET', '/events?events=email.delayed')).body.data.length > 0,
  );

  async function receive(subject: string, text: string) {
    const head = `Message-ID: <${subject.replace(' ', '-')}@elsewhere.test>\r\nFrom: ada@elsewhere.test\r\nTo: ${address}\r\nSubject: ${subject}`;
    await deliver(address, `${head}\r\n\r\n${text}\r\n`, 'ada@elsewhere.test');
  }
}

async function deliver(recipient: string, text: string, reversePath: string): Promise<void> {
  const bytes = Buffer.from(text);
  const { code } = await sendOne({ port: machine.smtpPort, reversePath, recipients: [recipient], bytes });
  expect(code).toBe(250);
}

/** Returns the id of the email once its webhook came. */
async function untilPosted(subject: string): Promise<string> {
  const isIt = ({ body }: { body: string }) => JSON.parse(body).email.subject === subject;
  const requests = await receiver.until((all) => all.some(isIt));
  return JSON.parse(requests.find(isIt)?.body ?? '').email.id;
}

interface Coverage {
  result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[];
}

async function readReached(directory: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const file of await readdir(directory)) {
    const { result } = JSON.parse(await readFile(path.join(directory, file), 'utf8')) as Coverage;
    for (const { url, functions } of result) {
      const source = url.startsWith('file://') ? path.relative(repository, new URL(url).pathname) : '';
      for (const { functionName, ranges } of functions)
        if ((ranges[0]?.count ?? 0) > 0) found.add(`${functionName} in ${source}`);
    }
  }
  return found;
}

/** Whether the file exports a function of that name: others are statements and declarations. */
async function isFunction(name: string, file: string): Promise<boolean> {
  const text = await readFile(path.join(repository, file), 'utf8');
  return new RegExp(
    `^export (?:async )?(?:function\\*? ${name}\\b|class ${name}\\b|const ${name}\\b[^;{]*=>)`,
    'm',
  ).test(text);
}
