import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const page = (name: string): string => readFileSync(path.join(root, 'docs', name), 'utf8');
const guide = page('deploy/one-server.md');
const backups = page('backup.md');

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'postroom-unit-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What a `cat > FILE <<'END'` of the guide writes. */
function writtenFile(file: string): string {
  const [, text = ''] =
    new RegExp(`cat > ${file.replaceAll('.', '\\.')} <<'END'\n(.*?)\n {4}END\n`, 's').exec(guide) ?? [];
  return text.replaceAll(/^ {4}/gm, '');
}

const setting = (name: string): string =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(writtenFile('/etc/postroom.env'))?.[1] ?? '';

test('the unit of docs/deploy/one-server.md is one that systemd takes, and needs no npm of the system', () => {
  const unit = writtenFile('/etc/systemd/system/postroom.service');
  const application = /^WorkingDirectory=(.*)$/m.exec(unit)?.[1] ?? '';
  const [, program = '', words = ''] = /^ExecStart=(\S+) (.*)$/m.exec(unit) ?? [];
  expect(program).toBe(path.join(application, 'node_modules/node/bin/node'));
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [cache] = /^Environment=(NODE_COMPILE_CACHE=.*)$/m.exec(unit)?.slice(1) ?? [];
  expect(`${cache} exec node ${words}`).toBe(scripts['start']);

  // systemd looks for the program, so it is that of this folder.
  const file = path.join(directory, 'postroom.service');
  writeFileSync(file, unit.replaceAll(application, root).replace('User=postroom', 'User=daemon'));
  const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
  if (error === undefined) expect([status, stderr]).toEqual([0, '']);
});

test('backups, restores and upgrades on one server name the folders that its settings name', () => {
  const data = setting('DATA_DIR');
  expect(data).toBe('/opt/postroom/data');
  const line = /^ *15 3 \* \* \* .*$/m;
  const [nightly = ''] = line.exec(guide) ?? [];
  expect(nightly).toContain(`postroom cd /opt/postroom/app && { DATA_DIR=${data} npx node bin/backup.ts `);
  expect(line.exec(backups)?.[0].trim()).toBe(nightly.trim());
  // cron drops what is printed on a server without another mail server: a failed backup would be silent.
  expect(nightly).toMatch(/; \} 2>&1 \| logger -t postroom-backup$/);
  expect(guide).toContain(`mv ${data} ${data}.before`);
  expect(guide).toContain(`DATA_DIR=${data} npx node bin/restore.ts`);
  const install = 'npx --yes --package node@24 --package npm@11 -- npm ci';
  expect(guide.split(install)).toHaveLength(3);
});
