import { afterAll, beforeAll } from 'vitest';

/**
 * Opens something before the tests of a file and closes it after them. What is returned stands in for it, so its members can be read in
 * tests and hooks only; throws before.
 */
export function openForFile<Opened extends { close(): Promise<void> }>(open: () => Promise<Opened>): Opened {
  let opened: Opened | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());
  return new Proxy({} as Opened, {
    get(_, name) {
      if (opened === undefined) throw new Error(`${String(name)} is read before the tests begin`);
      return Reflect.get(opened, name);
    },
  });
}
