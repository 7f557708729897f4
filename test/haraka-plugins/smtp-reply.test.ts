import constants from 'haraka-constants';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { close, type Decide, decideHook, pass, reply } from '../../haraka-plugins/plugins/receiving/smtp-reply.ts';
import { waitFor } from '../support/wait-for.ts';

const log = () => pino({ level: 'silent' });

/** `decide` gets what resolves once Haraka has a verdict. */
async function ask(
  decide: (told: Promise<void>) => ReturnType<Decide<null>>,
  limitMs = 50,
): Promise<{ verdict: unknown; reply: unknown; times: number }> {
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const next = vi.fn<(verdict?: number, message?: unknown) => void>(() => resolve());
  const destroy = vi.fn<() => void>();
  decideHook('test', limitMs, () => decide(told), log)(next, { uuid: 'x', client: { destroy } } as never, null);
  await told;
  // What came after the verdict has been looked at.
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
  const [verdict, message] = next.mock.calls[0] ?? [];
  return { verdict, reply: message, times: next.mock.calls.length };
}

const trouble = { code: 451, reply: '4.3.0 Temporary trouble, please try again later' };

test.each([
  [
    'throws',
    () => {
      throw new Error('planted');
    },
  ],
  ['rejects', () => Promise.reject(new Error('planted'))],
  ['never answers', () => new Promise<never>(() => {})],
  ['answers too late', (told) => told.then(() => pass)],
  ['rejects too late', (told) => told.then(() => Promise.reject(new Error('late')))],
] satisfies [string, Parameters<typeof ask>[0]][])('a decision that %s becomes 451 4.3.0, once', async (_, decide) => {
  expect(await ask(decide)).toEqual({ verdict: constants.denysoft, reply: trouble, times: 1 });
});

test.each([
  [reply(250, '2.0.0 Ok'), constants.ok],
  [reply(452, '4.3.1 Full'), constants.denysoft],
  [reply(550, '5.1.1 No'), constants.deny],
  [close(421, '4.3.2 Bye'), constants.denysoftdisconnect],
  [close(550, '5.5.2 Bye'), constants.denydisconnect],
])('%j keeps its code and text, at once and later', async (decision, verdict) => {
  const expected = { verdict, reply: { code: decision.kind === 'pass' ? 0 : decision.code }, times: 1 };
  expect(await ask(() => decision)).toMatchObject(expected);
  expect(await ask(() => Promise.resolve(decision))).toMatchObject(expected);
});

test('a session ends alone when Haraka itself throws at the reply', async () => {
  const destroy = vi.fn<() => void>();
  const next = () => {
    throw new Error('within Haraka');
  };
  for (const decide of [() => pass, () => Promise.resolve(pass)])
    decideHook('test', 50, decide, log)(next, { uuid: 'x', client: { destroy } } as never, null);
  await waitFor(() => expect(destroy).toHaveBeenCalledTimes(2));
});
