import { afterEach, expect, onTestFinished, test } from 'vitest';
import {
  createWorkerThreads,
  ThreadEnded,
  TimeLimitExceeded,
  type WorkerThreads,
  type WorkerThreadsOptions,
} from '../../../actors/work/worker-threads.ts';

const program = new URL('../../support/mail/scripted-thread.ts', import.meta.url);

let threads: WorkerThreads<string, string> | undefined;
afterEach(() => threads?.end());

function start(options: Partial<WorkerThreadsOptions<string>> = {}): WorkerThreads<string, string> {
  threads = createWorkerThreads<string, string>({ program, threads: 1, ...options });
  return threads;
}

test('returns what the program returns, rejects with what it throws, and goes on', async () => {
  const pool = start();
  expect(await pool.run('echo hello')).toBe('hello');
  await expect(pool.run('throw no')).rejects.toThrow('no');
  expect(await pool.run('echo again')).toBe('again');
});

test('the program sees nothing of the environment but the folder of compiled code', async () => {
  process.env['THREAD_TEST'] = 'secret';
  onTestFinished(() => void delete process.env['THREAD_TEST']);
  const seen = JSON.parse(await start().run('environment')) as object;
  expect(Object.keys(seen).filter((name) => name !== 'NODE_COMPILE_CACHE')).toEqual([]);
});

test('ends a thread whose task takes too long, and the next task gets a new one', async () => {
  const begun: (() => void)[] = [];
  const pool = start({
    startTimeLimit(input, onExpired) {
      if (input === 'hang') begun.push(onExpired);
      return () => undefined;
    },
  });
  const hanging = pool.run('hang');
  const waiting = pool.run('echo next');
  // Once while the thread starts, and once when it has the task.
  await expect.poll(() => begun.length, { timeout: 60_000 }).toBe(2);
  begun[1]?.();
  await expect(hanging).rejects.toThrow(TimeLimitExceeded);
  expect(await waiting).toBe('next');
});

test('a thread that takes longer to start than a task may take is not ended by tasks that expire', async () => {
  const pool = start({ program: new URL('../../support/mail/slow-thread.ts', import.meta.url), timeLimitMs: 500 });
  await expect(pool.run('hang')).rejects.toThrow(TimeLimitExceeded);
  await expect.poll(() => pool.run('echo there').catch(() => null), { timeout: 60_000, interval: 10 }).toBe('there');
});

test('a time limit of one task replaces that of all', async () => {
  const pool = start({ timeLimitMs: 600_000 });
  await expect(pool.run('hang', { timeLimitMs: 1 })).rejects.toThrow(TimeLimitExceeded);
});

test('a task that ends its thread is rejected, and the next one gets a new thread', async () => {
  const pool = start();
  const ended = pool.run('exit');
  const next = pool.run('echo next');
  await expect(ended).rejects.toThrow(ThreadEnded);
  expect(await next).toBe('next');
});

test('a task that needs too much memory is rejected', async () => {
  await expect(start({ heapLimitMb: 32 }).run('fill')).rejects.toThrow(ThreadEnded);
});

test('a task whose turn comes too late is not begun', async () => {
  await expect(start().run('hang', { startBy: performance.now() - 1 })).rejects.toThrow(TimeLimitExceeded);
});

test('runs as many tasks at once as there are threads', async () => {
  const pool = start({ threads: 2 });
  const hanging = pool.run('hang');
  hanging.catch(() => undefined);
  expect(await pool.run('echo beside')).toBe('beside');
});

test('an end rejects what is in hand and what comes later', async () => {
  const pool = start();
  const hanging = pool.run('hang');
  await Promise.all([expect(hanging).rejects.toThrow(ThreadEnded), pool.end()]);
  await expect(pool.run('echo late')).rejects.toThrow(ThreadEnded);
});
