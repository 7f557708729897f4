import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const watchdog = new URL('../../../bin/runner/monitoring/watchdog.ts', import.meta.url).href;

/** Runs a program that starts the watchdog with ticks of 20 ms and a limit of `limitMs`, then `work`. */
async function runWatched(work: string, limitMs: number): Promise<{ signal: string | null; stderr: string }> {
  const program = `const { startWatchdog } = await import('${watchdog}');
    startWatchdog('test', { limitMs: ${limitMs}, tickMs: 20 });
    ${work}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const [stderr, [, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { signal, stderr };
}

test('kills a process whose event loop is blocked, after one log line that says why', async () => {
  const { signal, stderr } = await runWatched('while (true) {}', 400);
  expect(signal).toBe('SIGKILL');
  const lines = stderr.trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 60, program: 'test', event: 'process.stalled' });
});

test('leaves a process alone whose event loop runs for longer than the limit, and lets it end', async () => {
  const work = `const end = performance.now() + 3_000;
    while (performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 1));`;
  expect(await runWatched(work, 2_000)).toEqual({ signal: null, stderr: '' });
});
