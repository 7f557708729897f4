import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, startOn } from '../support/runner.ts';
import { until } from '../support/servers/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { outputPattern, readBlocks, readShellBlocks, showsRefusal } from './page-blocks.ts';

/**
 * Pages whose examples are one session: each sets BASE and KEY once, and captures the IDs that it uses. Every block runs, in order, against
 * a fresh service with one received email and a program on port 4000, and prints what the page shows.
 */
const SESSIONS = [
  'recipes/support-inbox/README.md',
  'recipes/codes-in-ci/README.md',
  'api-keys.md',
  'send-policy.md',
  'approvals.md',
  'audit.md',
  'drafts.md',
  'claims.md',
  'requests.md',
  'rest.md',
  'retention.md',
  'routing.md',
  'search.md',
  'reply-addresses.md',
  'domains.md',
  'endpoints.md',
  'webhooks.md',
  'monitoring.md',
  'accounts.md',
  'doctor.md',
  'backup.md',
  'screening.md',
  'teams.md',
  'workspaces.md',
];

/** Pages with commands that other tests run, or none runs, and why. */
const ELSEWHERE: Record<string, string> = {
  'agents.md': 'signs up with a mail to a person; test/gateway/rest/agent-sign-up.test.ts sends the same requests',
  'cli.md': 'test/bin/cli/postroom.test.ts',
  'codes-in-ci.md': 'test/flow/codes-in-ci.test.ts',
  'events.md': 'test/gateway/openapi/guides.test.ts',
  'first-steps.md': 'test/bin/readme.test.ts',
  'graphql.md': 'test/gateway/openapi/guides.test.ts',
  'operate.md': 'test/deploy/operate.long.ts',
  'submission.md': 'test/flow/submission.test.ts',
  'api-conformance.md': 'installs schemathesis from PyPI, and takes minutes',
  'tracing.md': 'starts Jaeger in Docker; test/flow/traces.test.ts sends traces to a collector',
};

/** Pages of docs/deploy, whose commands change a whole machine or need more than one, and what tries parts of them. */
const DEPLOYMENTS: Record<string, string> = {
  'compose.md':
    'needs Docker and pulls images; test/deploy/compose.long.ts starts the processes of the file, compose-file.test.ts reads it',
  'kubernetes.md':
    'needs a cluster; test/deploy/kubernetes.test.ts checks its manifests, roll.test.ts rolls the same processes',
  'one-server.md': 'creates users, services and DNS records; test/flow/screening-dashboard.long.ts tries its scanners',
  'postgresql.md': 'needs several database servers; test/deploy/engine and test/db/cluster try its settings',
  'proxy.md': 'needs a proxy with a public certificate',
};

let machine: Machine;
let service: Run;
let key: string;
let receiver: WebhookReceiver;
/** of the programs that examples start */
let programPort: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  programPort = String(await freePort());
  machine = await makeMachine({ METRICS_PORT: String(await freePort()) });
  await copyDataDirectory(machine.dataDirectory);
  service = await startOn(machine);
  key = printedKey(service);
  const body = JSON.stringify({ template: 'plain', to: 'hello@inbox.test' });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const base = `http://localhost:${machine.httpPort}/api/e2`;
  expect((await fetch(`${base}/emails/simulate`, { method: 'POST', headers, body })).status).toBe(200);
  await until(
    'the email has its thread',
    () => '',
    async () => (await (await fetch(`${base}/mail/threads`, { headers })).json()).threads.length > 0,
  );
}, 300_000);
afterAll(async () => {
  await receiver?.stop();
  await machine?.remove();
});

const readPage = (page: string) => readFile(path.join(repository, 'docs', page), 'utf8');

/** The text of a page, for this machine. */
const here = (text: string) =>
  text
    .replaceAll('http://localhost:3000', `http://localhost:${machine.httpPort}`)
    .replaceAll('127.0.0.1:9464', `127.0.0.1:${machine.environment['METRICS_PORT']}`)
    .replaceAll('http://127.0.0.1:4000', receiver.url)
    .replaceAll('http://localhost:4000', `http://localhost:${programPort}`)
    .replaceAll('127.0.0.1:2525', `127.0.0.1:${machine.smtpPort}`)
    .replaceAll('npx node', `'${process.execPath}'`)
    .replace('KEY=...', `KEY=${key}`);

/** A curl that fails for an error of HTTP, as a person would see it. */
const STRICT_CURL = 'curl() { command curl --fail-with-body "$@"; }';
/** A program that an example started would hold the output open. */
const END_PROGRAMS = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT";
const MARK = '-- end of a block --';

/** Resolves when a webhook was posted and counted: docs/monitoring.md follows docs/webhooks.md. */
const untilCounted = () =>
  until(
    'the first attempt is counted',
    () => service.output().slice(-2_000),
    async () =>
      (await (await fetch(`http://127.0.0.1:${machine.environment['METRICS_PORT']}/metrics`)).text()).includes(
        'postroom_delivery_attempt_seconds_count',
      ),
  );

describe.each(SESSIONS)('docs/%s', (page) => {
  test('its blocks run, in order, in one session, and print what it shows', async () => {
    const blocks = readShellBlocks(here(await readPage(page)));
    if (page === 'monitoring.md') await untilCounted();
    expect(blocks.length).toBeGreaterThan(0);
    const commands = blocks.flatMap((block) => [
      showsRefusal(block) ? 'unset -f curl' : STRICT_CURL,
      block.text,
      `printf '\\n%s\\n' '${MARK}'`,
    ]);
    const script = [END_PROGRAMS, ...commands].join('\n');
    // Files that an example writes go to a folder of their own.
    const folder = await mkdtemp(path.join(tmpdir(), 'postroom-page-'));
    for (const name of await readdir(repository))
      if (!['.git', 'data', 'test'].includes(name)) await symlink(path.join(repository, name), path.join(folder, name));
    try {
      const env = { ...process.env, ...machine.environment, HOME: folder, PORT: programPort };
      const options = { cwd: folder, env, timeout: 200_000, maxBuffer: 20_000_000 };
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options);
      const printed = stdout.replaceAll(key, 'KEY').split(`${MARK}\n`);
      for (const [at, { text, outputs }] of blocks.entries())
        for (const shown of outputs)
          expect(printed[at]?.replaceAll(/\s/g, ''), text.replaceAll(key, 'KEY')).toMatch(outputPattern(shown));
    } catch (error) {
      const { stdout, stderr = '' } = error as { stdout?: string; stderr?: string };
      if (stdout === undefined) throw error;
      expect.fail(`${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}`.replaceAll(key, 'KEY'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

const pages = (await readdir(path.join(repository, 'docs'), { recursive: true })).filter(
  (name) => name.endsWith('.md') && !/^(?:decisions|deploy)\//.test(name),
);

test('every page with commands is a session, or names what runs them', async () => {
  const withCommands: string[] = [];
  for (const page of pages)
    if (readBlocks(await readPage(page)).some(({ language }) => ['sh', 'bash', 'console'].includes(language)))
      withCommands.push(page);
  expect(withCommands.toSorted()).toEqual([...SESSIONS, ...Object.keys(ELSEWHERE)].toSorted());
});

test('every page of docs/deploy says what tries it, or why nothing does', async () => {
  const found = (await readdir(path.join(repository, 'docs/deploy'))).filter((name) => name.endsWith('.md'));
  expect(found.toSorted()).toEqual(Object.keys(DEPLOYMENTS).toSorted());
});

test.each(pages)('no block of docs/%s has a placeholder that would be pasted', async (page) => {
  const text = await readPage(page);
  const commands = readBlocks(text)
    .filter(({ language }) => ['sh', 'bash', 'js', 'python'].includes(language))
    .map((block) => block.text)
    .join('\n')
    .replaceAll(/^\s*(?:#|\/\/).*$/gm, '')
    .replaceAll(/\.\.\.(?= on |[\w[({])/g, '')
    .replace('KEY=...', '');
  expect(commands.match(/…|\.\.\.|<[A-Z][A-Z_]+>|YOUR_\w+|\/path\/to\/|\/ID\b/g) ?? []).toEqual([]);
  expect(text.match(/export BASE=|(?<!\w)KEY=\.\.\./g)?.length ?? 0, 'BASE and KEY are set once').toBeLessThanOrEqual(
    2,
  );
});

/** Commands for measurements and experiments that take hours, and for the development of Postroom itself. */
const MEASURED = ['benchmarks.md', 'capacity.md', 'chaos.md', 'cluster-faults.md', 'testing.md', 'architecture.md'];

test.each(pages.filter((page) => !MEASURED.includes(page)))(
  'docs/%s has its commands in blocks that run',
  async (page) => {
    const text = (await readPage(page)).replaceAll(/^```.*?^```$/gms, '');
    expect(
      text.match(/^ {4,}(?:curl|npx|npm|node|export|docker|git|sudo|[A-Z_]+=\S+ (?:npx|npm|node)) .*$/gm) ?? [],
    ).toEqual([]);
  },
);

test('the examples of docs/retention.md leave the first account as it is', async () => {
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`http://localhost:${machine.httpPort}/api/e2/account`, { headers })).status).toBe(200);
});
