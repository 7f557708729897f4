import { expect, test } from 'vitest';
import { createPasswordQueue } from '../../../gateway/accounts/password-queue.ts';

test('hashes a few passwords at a time, in turns between clients, and refuses a request when too many wait', async () => {
  const queue = createPasswordQueue({ running: 2, waiting: 3 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (client: string, name: string) =>
    queue.run(client, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('a', 'a4'), run('b', 'b1')];
  await expect.poll(() => begun).toEqual(['a1', 'a2']);
  await expect(run('c', 'c1')).rejects.toMatchObject({ code: 'unavailable', reason: 'SIGN_INS_IN_PROGRESS' });
  ends[0]?.();
  ends[1]?.();
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'a3', 'b1']);
  const late = run('c', 'c1');
  for (const end of ends) end();
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'c1']);
  for (const end of ends) end();
  await Promise.all([...all, late]);
});

test('a failure frees its place', async () => {
  const queue = createPasswordQueue({ running: 1, waiting: 0 });
  for (let at = 0; at < 3; at++)
    await expect(queue.run('a', () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
  expect(await queue.run('a', async () => 'right')).toBe('right');
});
