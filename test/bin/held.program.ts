import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';
import { createSender, queueMail } from '../support/rows/queued-mail.ts';
import { runToEnd } from '../support/runner.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase?.drop());

test('due mail of a database that was restored by other means is held, listed and sent', async () => {
  const database = testDatabase.open(null);
  const email = await queueMail(database, await createSender(database, 'held.test', null), {
    to: ['a@else.test', 'b@else.test'],
  });
  const held = (...words: string[]) =>
    runToEnd(['bin/held.ts', ...words], { ...testDatabase.environment, DATABASE_URL: testDatabase.url });
  const count = { status: 0, stdout: '{"recipients":2,"emails":1}\n', stderr: '' };
  expect(await held('list')).toMatchObject({ status: 0, stdout: '' });
  expect(await held('hold')).toEqual(count);
  const { stdout } = await held('list');
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { emailId: string }).emailId),
  ).toEqual([email, email]);
  expect(await held('send')).toEqual(count);
  expect(await held('list')).toMatchObject({ status: 0, stdout: '' });
});
