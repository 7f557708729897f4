import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const services =
  'postgres nats-1 nats-2 nats-3 rspamd rspamd-redis extra clamd migrate gateway-1 gateway-2 smtp-1 smtp-2 receiving-1 receiving-2 threading-1 sending-1 scheduling-1 delivery-1 delivery-2 proxy';

/** A clone with docs/deploy alone, .env, and a `docker` that writes down what it is asked. */
let clone: string;

beforeEach(() => {
  clone = mkdtempSync(path.join(tmpdir(), 'postroom-roll-'));
  mkdirSync(path.join(clone, 'docs'));
  execFileSync('cp', ['-R', path.join(root, 'docs/deploy'), path.join(clone, 'docs/deploy')]);
  execFileSync('chmod', ['-R', 'a+rX', path.join(clone, 'docs')]);
  writeFileSync(path.join(clone, '.env'), '');
  const docker = path.join(clone, 'docker');
  writeFileSync(
    docker,
    `#!/bin/sh
echo "$*" >>"${clone}/calls"
case "$*" in
  version*) echo "\${ENGINE:-28.5.1}" ;;
  'compose version'*) echo "\${COMPOSE_VERSION:-2.40.3}" ;;
  'compose config --quiet') exit "\${CONFIG_STATUS:-0}" ;;
  'compose config --services') printf '%s\\n' ${services} ;;
  'compose ps'*proxy) echo 0123456789ab ;;
  "compose \${FAILS:-nothing}") exit 1 ;;
esac
`,
  );
  chmodSync(docker, 0o755);
});

afterEach(() => rmSync(clone, { recursive: true, force: true }));

function roll(words: string[], environment: Record<string, string> = {}) {
  const docker = path.join(clone, 'docker');
  const { status, stderr } = spawnSync('sh', [path.join(clone, 'docs/deploy/roll.sh'), ...words], {
    env: { PATH: process.env['PATH'], DOCKER: docker, COMPOSE: `${docker} compose`, ...environment },
    encoding: 'utf8',
  });
  const calls = readFileSync(path.join(clone, 'calls'), 'utf8').trim().split('\n');
  return {
    status,
    stderr,
    changes: calls.filter((call) => /^compose (?:--profile \S+ )?(?:up|run|kill|build)/.test(call)),
  };
}

const up = (name: string) => `compose up --detach --no-deps --wait ${name}`;
/** Compose does not notice a change of the mounted nats.conf. */
const recreate = (name: string) => `compose up --detach --no-deps --wait --force-recreate ${name}`;

test('recreates changed containers in order, NATS in any case, and reloads the proxy', () => {
  const { status, changes } = roll([]);
  expect(status).toBe(0);
  expect(changes).toEqual([
    up('postgres'),
    ...['nats-1', 'nats-2', 'nats-3'].map(recreate),
    // rspamd finds its Redis when it starts, or never.
    ...['clamd', 'rspamd-redis', 'rspamd', 'extra'].map(up),
    'compose run --rm --no-deps migrate',
    ...['receiving-1', 'receiving-2', 'threading-1', 'sending-1', 'scheduling-1', 'delivery-1', 'delivery-2'].map(up),
    ...['gateway-1', 'gateway-2', 'smtp-1', 'smtp-2'].map(up),
    'compose kill --signal USR2 proxy',
    up('proxy'),
  ]);
});

test('builds the images first with --build, that of backups too, and recreates unchanged containers with --all', () => {
  const { changes } = roll(['--build', '--all', 'smtp-1']);
  expect(changes).toEqual(['compose --profile tools build', recreate('smtp-1')]);
});

test('stops at the first container that does not become ready, and leaves the others as they are', () => {
  const { status, stderr, changes } = roll([], { FAILS: 'up --detach --no-deps --wait receiving-2' });
  expect(status).toBe(1);
  expect(stderr).toContain('receiving-2 did not become ready');
  expect(changes.at(-1)).toBe(up('receiving-2'));
});

test('changes nothing when the migration fails', () => {
  const { status, stderr, changes } = roll([], { FAILS: 'run --rm --no-deps migrate' });
  expect(status).toBe(1);
  expect(stderr).toContain('the migration failed');
  expect(changes.filter((call) => call.includes('gateway'))).toEqual([]);
});

test.each([
  [{ ENGINE: '19.03.8' }, 'Docker engine 19.03.8 is too old: 20.10 or newer is needed'],
  [{ COMPOSE_VERSION: '2.17.3' }, 'Docker Compose 2.17.3 is too old: 2.24 or newer is needed'],
  [{ CONFIG_STATUS: '1' }, 'docker-compose.yml and .env do not fit together'],
])('refuses before it changes anything: %o', (environment, reason) => {
  const { status, stderr, changes } = roll(['--check'], environment);
  expect(status).toBe(1);
  expect(stderr).toContain(reason);
  expect(changes).toEqual([]);
});

test('refuses mounted files that the container users cannot read, as in a clone under umask 077', () => {
  chmodSync(path.join(clone, 'docs/deploy/haproxy/haproxy.cfg'), 0o600);
  const { status, stderr } = roll(['--check']);
  expect(status).toBe(1);
  expect(stderr).toContain('chmod -R a+rX docs/deploy');
});

test('refuses an unknown service name', () => {
  const { status, stderr, changes } = roll(['gateway-9']);
  expect(status).toBe(1);
  expect(stderr).toContain('gateway-9 is not a service');
  expect(changes).toEqual([]);
});
