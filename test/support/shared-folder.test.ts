import { expect, test } from 'vitest';
import { sharedFolder } from './shared-folder.ts';

test('a shared folder is made once, also for those that look for it just before it gets its name', async () => {
  let made = 0;
  const make = async () => void made++;
  // So many at once that some find no folder, and then no draft, because the first has finished between.
  for (let at = 1; at <= 20; at++) {
    await Promise.all(Array.from({ length: 200 }, () => sharedFolder(`shared-folder-test-${at}`, make)));
    expect(made).toBe(at);
  }
});
