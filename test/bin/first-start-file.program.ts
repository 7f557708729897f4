import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createFirstStartFile } from '../../bin/runner/first-start-file.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, startOn } from '../support/runner.ts';

const machines: Machine[] = [];

afterEach(async () => {
  for (const machine of machines.splice(0)) await machine.remove();
});

async function newMachine(environment: Record<string, string>): Promise<Machine> {
  const machine = await makeMachine(environment);
  machines.push(machine);
  await copyDataDirectory(machine.dataDirectory);
  return machine;
}

const filesIn = async ({ dataDirectory }: Machine) =>
  (await readdir(dataDirectory)).filter((name) => name.startsWith('first-start'));

// Its output is a pipe, as below systemd and in a container.
test('the first start stores its key and link in a file of its user, and prints neither', async () => {
  const machine = await newMachine({ PRINT_SECRETS: '' });
  const run = await startOn(machine);
  const file = path.join(machine.dataDirectory, 'first-start.txt');
  const stored = await readFile(file, 'utf8');
  const key = /API key {3}(\S{43}) /.exec(stored)?.[1] ?? 'none';
  const link = /sign-in\/link#(\S{43})/.exec(stored)?.[1] ?? 'none';
  expect([(await stat(file)).mode & 0o777, key, link]).toEqual([0o600, expect.not.stringMatching('none'), link]);
  const emails = await fetch(`http://127.0.0.1:${machine.httpPort}/api/e2/emails`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(emails.status).toBe(200);
  expect(run.output()).toContain(`\nAPI key: stored in ${file} (mode 0600)\n`);
  for (const secret of [key, link]) expect(run.output()).not.toContain(secret);

  run.child.kill('SIGTERM');
  await run.ended;
  const again = await startOn(machine);
  expect(again.output()).not.toContain('stored in');
  expect([await filesIn(machine), await readFile(file, 'utf8')]).toEqual([['first-start.txt'], stored]);
});

test('PRINT_SECRETS=on prints the key, and stores no file', async () => {
  const machine = await newMachine({ PRINT_SECRETS: 'on' });
  const run = await startOn(machine);
  expect(run.output()).toMatch(/^ {2}API key {3}\S{43} {3}\(shown only once\)$/m);
  expect(await filesIn(machine)).toEqual([]);
});

test('a file that exists is not overwritten, and one that is not needed is removed', async () => {
  const machine = await newMachine({});
  await writeFile(path.join(machine.dataDirectory, 'first-start.txt'), 'old');
  const file = await createFirstStartFile(machine.dataDirectory);
  // Readable by its user only before anything is written.
  expect([path.basename(file.path), (await stat(file.path)).mode & 0o777]).toEqual(['first-start-2.txt', 0o600]);
  await file.discard();
  expect(await filesIn(machine)).toEqual(['first-start.txt']);
});
