import { execFile, execFileSync, execSync, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const WORDS = ['-e', ''];

test.each<[string, () => unknown]>([
  ['spawn', () => spawn(process.execPath, WORDS)],
  ['spawn of a shell', () => spawn('sh', ['-c', 'cd / && exec node -e ""'])],
  ['fork', () => fork(new URL('./growth.ts', import.meta.url))],
  ['execFile', () => execFile(process.execPath, WORDS)],
  ['spawnSync', () => spawnSync('node', WORDS)],
  ['execFileSync', () => execFileSync(process.execPath, WORDS)],
  ['execSync', () => execSync('node --version')],
])('npm test refuses to start Node by %s', (_, start) => {
  expect(start).toThrow(/is \*\.program\.ts, which npm run test:program runs/);
});

test('npm test starts a tool of the system', async () => {
  expect(await once(spawn('sh', ['-c', 'exit 3']), 'exit')).toEqual([3, null]);
  expect(spawnSync('sh', ['-c', 'exit 4']).status).toBe(4);
});
