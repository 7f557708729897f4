import { expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { runToEnd } from '../support/runner.ts';

const programs = [
  'start',
  'gateway',
  'actor',
  'smtp',
  'migrate',
  'account',
  'backup',
  'restore',
  'held',
  'doctor',
  'dead',
  'contracts',
];

test.each(programs)('bin/%s.ts prints its usage with --help, and exits', async (name) => {
  const { status, stdout } = await runToEnd([`bin/${name}.ts`, '--help']);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Usage: /);
});

// All read their command lines with one function, as --help shows.
test('an option that a program does not know is refused', async () => {
  const { status, stderr } = await runToEnd(['bin/migrate.ts', '--frobnicate']);
  expect(status).toBe(2);
  expect(stderr).toMatch(/--frobnicate/);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

const refusals: [words: [program: string, ...words: string[]], reason: RegExp][] = [
  [['bin/actor.ts', 'cooking'], /cooking/],
  [['bin/actor.ts'], /missing/],
  [['bin/account.ts', 'destroy', 'a@b.test'], /destroy/],
  [['bin/account.ts', 'create', 'nobody'], /EMAIL/],
  [['bin/account.ts', 'create', 'a@b.test', '--key', 'short'], /--key/],
  [['bin/account.ts', 'create', 'a@b.test', '--password', 'short'], /--password/],
  [['bin/dead.ts', 'bury'], /bury/],
  [['bin/rotate-secret.ts', 'now'], /now/],
  [['bin/dead.ts', 'replay'], /--all/],
  [['bin/dead.ts', 'replay', 'em_x', '--all'], /one of/],
  [['bin/account.ts', 'retention', 'a@b.test', '--raw-days', 'many'], /--raw-days/],
  [['bin/account.ts', 'retention', 'a@b.test', '--raw-days', '9', '--body-days', '8'], /longer than bodies/],
  [['bin/account.ts', 'export', 'a@b.test'], /DIRECTORY/],
  [['bin/account.ts', 'erase', 'a@b.test'], /--yes/],
  [['bin/account.ts', 'create', 'a@b.test', '--yes'], /--yes does not apply to create/],
  [['bin/start.ts', 'now'], /now/],
  [['bin/backup.ts'], /missing/],
  [['bin/restore.ts', 'somewhere', '--outgoing', 'drop'], /--outgoing/],
  [['bin/held.ts', 'keep'], /keep/],
  [['bin/refused.ts', '--limit', '0'], /--limit/],
  [['bin/held.ts', 'list', '--email', 'x'], /--email/],
  [['bin/held.ts', 'hold', '--email', 'x'], /--email/],
];
// In `npm test`, the first of each program.
const tried = refusals.filter(
  (refusal, n) => !isQuick || refusals.findIndex(([[program]]) => program === refusal[0][0]) === n,
);
test.each(tried)('%j is refused with status 2', async (words, reason) => {
  const { status, stderr } = await runToEnd(words);
  expect(status).toBe(2);
  expect(stderr).toMatch(reason);
});

test.each(['start', 'gateway', 'smtp', 'migrate'])('bin/%s.ts names the invalid variable and exits', async (name) => {
  const { status, stderr } = await runToEnd([`bin/${name}.ts`], { SMTP_PORT: 'twenty-five' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^SMTP_PORT /);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test.each([['bin/gateway.ts'], ['bin/actor.ts', 'delivery']])(
  '%s names the settings that split mode requires',
  async (...words) => {
    const { status, stderr } = await runToEnd(words);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL, NATS_URL and SECRET_KEY are required .*: see docs\/operate\.md$/m);
  },
);
