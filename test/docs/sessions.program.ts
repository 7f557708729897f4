import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, startOn } from '../support/runner.ts';
import { until } from '../support/servers/service.ts';
import { openShell, type ShellSession } from '../support/servers/shell-session.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import {
  type Block,
  isOutput,
  outputPattern,
  readBlocks,
  readSessionBlocks,
  type SessionBlock,
  showsRefusal,
} from './page-blocks.ts';

/**
 * Pages whose examples are one session: each sets BASE and KEY once, and captures the IDs that it uses. Every block runs, in order, against
 * a fresh service with one received email and a program on port 4000, and prints what the page shows.
 */
const SESSIONS = [
  'recipes/support-inbox/README.md',
  'recipes/codes-in-ci/README.md',
  'codes-in-ci.md',
  'events.md',
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
  'cli.md',
  'api-conformance.md',
  // These start the service again with settings of their own.
  'agents.md',
  'submission.md',
  'tracing.md',
];

/** Blocks of these pages that cannot run here, by their first words, and why. */
const NOT_HERE: Record<string, Record<string, string>> = {
  'agents.md': {
    'import asyncio, os\nfrom langchain': 'needs langchain-mcp-adapters from PyPI; runs where it is installed',
  },
  'api-conformance.md': {
    'RATE_LIMIT_PER_SECOND=0': 'starts a second service; test/gateway/openapi runs requests of the document',
    'python3 -m venv': 'installs schemathesis from PyPI, and takes minutes',
  },
  'cli.md': {
    'postroom login': 'a person signs in with a browser; test/bin/cli/login.program.ts does',
    'postroom logout': 'ends what `postroom login` stored; test/bin/cli/login.program.ts does',
  },
  'tracing.md': { 'docker run': 'pulls the image of Jaeger; test/flow/traces.program.ts has a collector' },
};

/** Blocks that no session runs, by page and language: the test that runs or reads them, or why none can. */
const ELSEWHERE: Record<string, Record<string, string>> = {
  '../README.md': { sh: 'test/bin/readme.program.ts' },
  'agents.md': {
    json: 'test/flow/mcp.program.ts',
    js: 'needs @langchain/mcp-adapters from npm; the block in Python does the same where its package is installed',
  },
  'backup.md': { console: 'needs another machine, or a PostgreSQL of its own; walked by hand' },
  'cli.md': { text: 'shows the progress of an import on a terminal' },
  'codes-in-ci.md': { js: 'test/flow/codes-in-ci.program.ts' },
  'endpoints.md': { js: 'test/docs/verify-webhook.test.ts' },
  'events.md': { graphql: 'test/gateway/openapi/guides.test.ts', json: 'shows the event of an invitation' },
  'first-steps.md': { sh: 'test/bin/readme.program.ts', js: 'test/bin/readme.program.ts' },
  'graphql.md': {
    sh: 'test/gateway/openapi/guides.test.ts',
    graphql: 'test/gateway/openapi/guides.test.ts',
    json: 'test/gateway/openapi/guides.test.ts',
  },
  'oauth.md': { json: 'shows a document of discovery' },
  'operate.md': {
    sh: 'test/deploy/operate.long.ts',
    console:
      'needs Docker, a superuser of PostgreSQL or a tag of a release; test/deploy/engine/engine.docker.ts and operate.long.ts do the same',
  },
  'reply-addresses.md': { json: 'shows a warning' },
  'screening.md': { json: 'shows findings of scanners' },
  'search.md': { graphql: 'test/gateway/graphql/graphql-search.test.ts', json: 'shows a warning' },
  'testing-mail.md': { graphql: 'test/flow/testing-mail.program.ts' },
  'tracing.md': { yaml: 'configures a collector of another project' },
  'webhooks.md': {
    js: 'test/docs/verify-webhook-languages.program.ts',
    python: 'test/docs/verify-webhook-languages.program.ts',
    go: 'test/docs/verify-webhook-languages.program.ts',
    ruby: 'test/docs/verify-webhook-languages.program.ts',
    php: 'test/docs/verify-webhook-languages.program.ts',
    json: 'shows payloads; test/docs/verify-webhook.test.ts',
  },
  'workspaces.md': { html: 'test/docs/customer-inbox.browser.ts', js: 'test/docs/customer-inbox.browser.ts' },
  'recipes/codes-in-ci/README.md': { js: 'shows a call of the recipe' },
  'recipes/support-inbox/README.md': { json: 'shows payloads' },
};

/** Pages of docs/deploy, whose commands change a whole machine or need more than one, and what tries parts of them. */
const DEPLOYMENTS: Record<string, string> = {
  'compose.md':
    'needs Docker; test/deploy/engine/engine.docker.ts runs its commands on a Docker engine, test/deploy/compose.long.ts starts the processes of the file',
  'kubernetes.md':
    'needs a cluster; test/deploy/kubernetes.test.ts checks its manifests, roll.test.ts rolls the same processes',
  'one-server.md':
    'creates users, services and DNS records; test/bin/open-defaults.program.ts runs steps 5 and 6, test/flow/screening-dashboard.long.ts tries its scanners',
  'postgresql.md': 'needs several database servers; test/deploy/engine and test/db/cluster try its settings',
  'proxy.md': 'needs a proxy with a public certificate',
};

let machine: Machine;
let service: Run;
let key: string;
let receiver: WebhookReceiver;
/** the ports of this machine, by those of the pages */
let ports: Record<number, string>;
let base: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  machine = await makeMachine({ METRICS_PORT: String(await freePort()) });
  ports = {
    3000: String(machine.httpPort),
    2525: String(machine.smtpPort),
    9464: machine.environment['METRICS_PORT'] ?? '',
    4000: String(await freePort()),
    2587: String(await freePort()),
    2465: String(await freePort()),
    4318: String(await freePort()),
  };
  base = `http://localhost:${machine.httpPort}`;
  await copyDataDirectory(machine.dataDirectory);
  service = await startOn(machine);
  key = printedKey(service);
  await receiveMail();
  await until(
    'the email has its thread',
    () => '',
    async () => (await (await call('GET', '/mail/threads')).json()).threads.length > 0,
  );
}, 300_000);
afterAll(async () => {
  await receiver?.stop();
  await machine?.remove();
});

function call(method: string, route: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(`${base}/api/e2${route}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function receiveMail(): Promise<void> {
  const simulated = await call('POST', '/emails/simulate', { template: 'plain', to: 'hello@inbox.test' });
  expect(simulated.status).toBe(200);
}

const readPage = (page: string) => readFile(path.join(repository, 'docs', page), 'utf8');

/** The text of a page, for this machine. */
const here = (text: string) =>
  text
    .replaceAll('http://127.0.0.1:4000', receiver.url.replace(/\/$/, ''))
    .replaceAll(/(localhost:|127\.0\.0\.1:|_PORT=)(\d{4})\b/g, (whole, before: string, port: string) =>
      ports[Number(port)] === undefined ? whole : `${before}${ports[Number(port)]}`,
    )
    .replaceAll('npx node', `'${process.execPath}'`)
    .replace('KEY=...', `KEY=${key}`);

/** A curl that fails for an error of HTTP, as a person would see it. */
const STRICT_CURL =
  'curl() { case " $* " in *" -f"*) command curl "$@" ;; *) command curl --fail-with-body "$@" ;; esac; }';
/** A program that an example started would hold the output open. */
const END_PROGRAMS = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT";
const INTERPRETERS: Record<string, [string, string]> = { js: [process.execPath, 'mjs'], python: ['python3', 'py'] };
const FOLLOWED_MS = 60_000;

/** What the words of a block that starts the service set, or null if it starts none. */
function settingsOfStart(text: string): Record<string, string> | null {
  const words = /^((?:\w+=\S+ )*)npm start$/.exec(text.trim())?.[1];
  if (words === undefined) return null;
  return Object.fromEntries([...words.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]));
}

/** Ends the service as Ctrl-C does, and starts it with these settings. */
async function startAgain(settings: Record<string, string>): Promise<void> {
  service.signalGroup('SIGINT');
  expect(await service.ended).toBe(0);
  Object.assign(machine.environment, settings);
  service = await startOn(machine);
}

/** Returns what a block prints that goes on until it is stopped, when that is what the page shows; mail arrives meanwhile. */
async function follow(shell: ShellSession, { text, outputs }: SessionBlock, file: string): Promise<string> {
  const job = `set -m; { ${text}\n} < /dev/null > '${file}' 2>&1 & set +m; echo $!`;
  const group = Number((await shell.run(job)).trim());
  const isShown = (printed: string) =>
    outputs.every((shown) => outputPattern(shown).test(printed.replaceAll(/\s/g, '')));
  try {
    for (const deadline = Date.now() + FOLLOWED_MS; Date.now() < deadline; await pause(500)) {
      const printed = await readFile(file, 'utf8').catch(() => '');
      if (printed !== '' && isShown(printed)) return printed;
      await receiveMail();
    }
    return await readFile(file, 'utf8');
  } finally {
    process.kill(-group, 'SIGKILL');
  }
}

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

/** Runs the block, and returns what it printed. */
async function runBlock(shell: ShellSession, block: SessionBlock, folder: string): Promise<string> {
  const { text, language, info } = block;
  const settings = settingsOfStart(text);
  if (settings !== null) {
    await startAgain(settings);
    return '';
  }
  if (info === 'follow') return follow(shell, block, path.join(folder, 'followed.txt'));
  const [program, ending] = INTERPRETERS[language] ?? [];
  if (program === undefined) {
    const curl = showsRefusal(block) ? 'unset -f curl' : STRICT_CURL;
    return shell.run(`${curl}\n{ ${text}\n} < /dev/null`);
  }
  const file = path.join(folder, `example.${ending}`);
  await writeFile(file, text);
  return shell.run(`'${program}' '${file}' < /dev/null`);
}

const hasLangChain = () => {
  try {
    execFileSync('python3', ['-c', 'import langchain_mcp_adapters'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** The first words of the page's block that cannot run here, if it is one. */
const notHere = (page: string, { text }: Block) =>
  Object.keys(NOT_HERE[page] ?? {}).find((words) => text.startsWith(words));

describe.each(SESSIONS)('docs/%s', (page) => {
  test('its blocks run, in order, in one session, and print what it shows', { timeout: 300_000 }, async () => {
    const blocks = readSessionBlocks(await readPage(page)).filter(
      (block) => notHere(page, block) === undefined || (block.language === 'python' && hasLangChain()),
    );
    if (page === 'monitoring.md') await untilCounted();
    expect(blocks.length).toBeGreaterThan(0);
    // Files that an example writes go to a folder of their own.
    const folder = await mkdtemp(path.join(tmpdir(), 'postroom-page-'));
    for (const name of await readdir(repository))
      if (!['.git', 'data', 'test'].includes(name)) await symlink(path.join(repository, name), path.join(folder, name));
    await symlink(machine.dataDirectory, path.join(folder, 'data'));
    const environment = { ...machine.environment, HOME: folder, PORT: ports[4000] ?? '' };
    // For the program of a client; `postroom` uses what its page stores.
    if (page === 'agents.md') Object.assign(environment, { POSTROOM_KEY: key });
    const shell = openShell(folder, environment);
    try {
      await shell.run(`set -euo pipefail\n${END_PROGRAMS}`);
      for (const written of blocks) {
        const block = { ...written, text: here(written.text), outputs: written.outputs.map(here) };
        const printed = (await runBlock(shell, block, folder)).replaceAll(key, 'KEY');
        for (const shown of block.outputs)
          expect(printed.replaceAll(/\s/g, ''), written.text).toMatch(outputPattern(shown));
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      error.message = error.message.replaceAll(key, 'KEY');
      throw error;
    } finally {
      await shell.end();
      await rm(folder, { recursive: true });
    }
  });
});

const pages = (await readdir(path.join(repository, 'docs'), { recursive: true })).filter(
  (name) => name.endsWith('.md') && !/^(?:decisions|deploy)\//.test(name),
);

test.each(['../README.md', ...pages])(
  'every block of docs/%s runs in its session, or says what runs it',
  async (page) => {
    const blocks = readBlocks(await readPage(page));
    const unnamed = blocks.filter(
      (block, at) =>
        !(SESSIONS.includes(page) && (block.language === 'sh' || block.info === 'run')) &&
        !isOutput(block, blocks[at - 1]) &&
        block.language !== '' &&
        ELSEWHERE[page]?.[block.language] === undefined,
    );
    expect(unnamed.map(({ language, text }) => `${language}: ${text}`)).toEqual([]);
  },
);

test('what is said to run blocks elsewhere exists, and reads their page', async () => {
  for (const [page, languages] of Object.entries(ELSEWHERE)) {
    const found = new Set(readBlocks(await readPage(page)).map(({ language }) => language));
    for (const [language, reason] of Object.entries(languages)) {
      expect(found, page).toContain(language);
      if (!/^test\/\S+$/.test(reason)) continue;
      expect(existsSync(path.join(repository, reason)), reason).toBe(true);
      expect(await readFile(path.join(repository, reason), 'utf8'), reason).toContain(path.basename(page, '.md'));
    }
  }
  for (const [page, blocks] of Object.entries(NOT_HERE))
    for (const words of Object.keys(blocks))
      expect(
        readBlocks(await readPage(page)).filter(({ text }) => text.startsWith(words)),
        words,
      ).toHaveLength(1);
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
      text.match(/^ {4,}(?:\$ |postroom|curl|npx|npm|node|export|docker|git|sudo|[A-Z_]+=\S+ (?:npx|npm|node)).*$/gm) ??
        [],
    ).toEqual([]);
  },
);

test('the examples of docs/retention.md leave the first account as it is', async () => {
  expect((await call('GET', '/account')).status).toBe(200);
});
