import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, makeMachine, runToEnd, startOn } from '../support/runner.ts';

let machine: Machine;

beforeAll(async () => {
  machine = await makeMachine();
});
afterAll(() => machine.remove());

function create(...words: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return runToEnd(['bin/account.ts', 'create', ...words], machine.environment);
}

interface Created {
  userId: string;
  email: string;
  apiKey: string;
}

test('two commands at once on a new data folder both create their account and leave no process running', async () => {
  const both = await Promise.all([create('One@Example.com'), create('two@example.com')]);
  expect(both.map(({ status, stderr }) => [status, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const [one, two] = both.map(({ stdout }) => JSON.parse(stdout) as Created);
  expect(one).toEqual({
    userId: expect.stringMatching(/^usr_[0-9a-f]{32}$/),
    email: 'one@example.com',
    apiKey: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
  });
  expect(two?.email).toBe('two@example.com');
  expect(two?.userId).not.toBe(one?.userId);
});

test('two commands at once beside a running service create accounts whose keys work', async () => {
  await startOn(machine);
  const made = await Promise.all([create('six@example.com'), create('seven@example.com'), create('eight@example.com')]);
  for (const { status, stdout, stderr } of made) {
    expect([status, stderr]).toEqual([0, '']);
    const { apiKey } = JSON.parse(stdout) as Created;
    const response = await fetch(`http://127.0.0.1:${machine.httpPort}/api/e2/emails`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(response.status).toBe(200);
  }
});

// The service of the test above serves these too: without one, each command starts PostgreSQL for itself.
test('an existing account is not created again without a key', async () => {
  await create('three@example.com', '--key', 'k'.repeat(40));
  const { status, stdout, stderr } = await create('THREE@example.com');
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/three@example.com already has an account/);
});

test('with a key the command can be repeated, and a key belongs to one account', async () => {
  const key = 'n'.repeat(64);
  const first = JSON.parse((await create('four@example.com', '--key', key, '--password', 'correct horse')).stdout);
  const second = JSON.parse((await create('four@example.com', '--key', key)).stdout);
  expect(second).toEqual(first);
  const other = await create('five@example.com', '--key', key);
  expect([other.status, other.stdout]).toEqual([1, '']);
  expect(other.stderr).toMatch(/belongs to another account/);
  // Nothing of the refused account is left.
  expect((await create('five@example.com')).status).toBe(0);
});
