import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, runToEnd, startOn } from '../support/runner.ts';

let machine: Machine;

beforeAll(async () => {
  machine = await makeMachine();
  await copyDataDirectory(machine.dataDirectory);
});
afterAll(() => machine.remove());

const account = (...words: string[]) => runToEnd(['bin/account.ts', ...words], machine.environment);

async function post(path: string, body: unknown): Promise<{ status: number; body: unknown; cookies: string[] }> {
  const response = await fetch(`http://127.0.0.1:${machine.httpPort}/api/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json(), cookies: response.headers.getSetCookie() };
}

const readToken = (text: string) => /\/sign-in\/link#([A-Za-z0-9_-]{43})$/m.exec(text)?.[1] ?? '';

test('links created without a service, beside one and at the first start each sign in once, and a given password signs in', async () => {
  await account('create', 'one@example.com', '--password', 'correct horse');
  const before = await account('sign-in-link', 'One@Example.com');
  expect([before.status, before.stderr]).toEqual([0, '']);
  const service = await startOn(machine);
  const beside = await account('sign-in-link', 'one@example.com');
  expect(beside.stdout).toMatch(new RegExp(`^http://localhost:${machine.httpPort}/sign-in/link#[A-Za-z0-9_-]{43}\n$`));
  const first = /Dashboard (\S+)/.exec(service.output())?.[1] ?? '';
  for (const [link, email] of [
    [before.stdout, 'one@example.com'],
    [beside.stdout, 'one@example.com'],
    [first, 'owner@inbox.test'],
  ] as const) {
    const token = readToken(link);
    expect(await post('/sign-in/link', { token })).toMatchObject({ status: 200, body: { user: { email } } });
    expect(await post('/sign-in/link', { token })).toMatchObject({ status: 400, body: { code: 'INVALID_TOKEN' } });
  }
  expect(await post('/sign-in/email', { email: 'ONE@example.com', password: 'correct horse' })).toMatchObject({
    status: 200,
    body: { user: { email: 'one@example.com' } },
    cookies: expect.arrayContaining([
      expect.stringMatching(/^postroom\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/i),
    ]),
  });
  // The line of the first start is for the terminal; the log has nothing of it.
  const log = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  expect(log.length).toBeGreaterThan(5);
  for (const secret of [readToken(before.stdout), readToken(beside.stdout), readToken(first), 'correct horse'])
    expect(log.join('\n')).not.toContain(secret);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
});

test('refuses a link for an account that does not exist', async () => {
  const { status, stdout, stderr } = await account('sign-in-link', 'nobody@example.com');
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/Account nobody@example\.com does not exist/);
});
