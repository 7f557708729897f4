import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkSharedMemory } from '../../bin/doctor/check-machine.ts';

// Settings of systemd below a folder of the test's own; that of the machine that runs the test may have no systemd.
let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'postroom-logind-'));
  mkdirSync(path.join(root, 'run/systemd/seats'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(file: string, text: string): void {
  const target = path.join(root, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

const readState = async (uid: number): Promise<string | undefined> => (await checkSharedMemory(uid, root))[0]?.state;

test('warns of an ordinary user, whose shared memory systemd removes at a logout', async () => {
  // As Debian installs them: all settings are comments.
  write('etc/systemd/logind.conf', '[Login]\n#RemoveIPC=no\n');
  write('etc/login.defs', 'UID_MIN 1000\n#SYS_UID_MAX 500\n');
  const [finding] = await checkSharedMemory(1000, root);
  expect(finding).toMatchObject({
    area: 'machine',
    name: 'shared memory',
    state: 'warn',
    detail: expect.stringContaining('user 1000'),
    fix: expect.stringMatching(/useradd --system.*RemoveIPC=no/),
  });
  expect(await readState(999)).toBe('ok');
  expect(await readState(0)).toBe('ok');
});

test('takes the limit of system users from login.defs', async () => {
  write('etc/login.defs', 'SYS_UID_MAX\t499 \n');
  expect([await readState(499), await readState(500)]).toEqual(['ok', 'warn']);
});

test.each(['no', 'False', '0', 'off'])('is content with RemoveIPC=%s', async (value) => {
  write('etc/systemd/logind.conf', `[Login]\nRemoveIPC = ${value}\n`);
  expect(await readState(1000)).toBe('ok');
});

test('reads logind.conf and its drop-ins in the order of systemd', async () => {
  write('usr/lib/systemd/logind.conf', '[Login]\nRemoveIPC=no\n');
  expect(await readState(1000)).toBe('ok');
  // The main file of the administrator replaces that of the distribution.
  write('etc/systemd/logind.conf', '[Login]\n');
  expect(await readState(1000)).toBe('warn');
  write('usr/lib/systemd/logind.conf.d/50-keep.conf', '[Login]\nRemoveIPC=no\n');
  expect(await readState(1000)).toBe('ok');
  // A later name wins wherever it is, and a value that is none changes nothing.
  write('run/systemd/logind.conf.d/60-remove.conf', '[Login]\nRemoveIPC=yes\n');
  write('etc/systemd/logind.conf.d/70-odd.conf', '[Login]\nRemoveIPC=perhaps\n');
  write('etc/systemd/logind.conf.d/80-note.txt', '[Login]\nRemoveIPC=no\n');
  expect(await readState(1000)).toBe('warn');
  // The administrator's file of the same name takes the place of the other; an empty one is how to mask it.
  symlinkSync('/dev/null', path.join(root, 'etc/systemd/logind.conf.d/60-remove.conf'));
  expect(await readState(1000)).toBe('ok');
});

test('says nothing where no logind runs', async () => {
  rmSync(path.join(root, 'run/systemd/seats'), { recursive: true });
  expect(await checkSharedMemory(1000, root)).toEqual([]);
});
