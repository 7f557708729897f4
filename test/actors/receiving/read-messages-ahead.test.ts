import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ParseOutcome } from '../../../actors/receiving/parse-messages.ts';
import { createParsePool, type ParsePool } from '../../../actors/receiving/parse-pool.ts';
import { createReadAhead } from '../../../actors/receiving/take-messages.ts';
import type { Offer } from '../../../db/queries/emails/accept-group.ts';

const program = new URL('../../support/mail/poisoned-parse-worker.ts', import.meta.url);

let parser: ParsePool;
beforeEach(() => {
  // a closed port: every lookup fails at once
  parser = createParsePool({
    workers: 1,
    dnsServers: ['127.0.0.1:1'],
    log: pino({ level: 'silent' }),
    program,
    maxStillMs: 3_600_000,
  });
});
afterEach(() => parser.close());

function offer(subject: string): Offer {
  return {
    envelope: {
      reversePath: 'joe@x.test',
      remoteAddress: '192.0.2.1',
      helo: 'x.test',
      isTls: false,
      traceFields: '',
      recipients: [],
    },
    bytes: Buffer.from(`From: joe@x.test\r\nSubject: ${subject}\r\n\r\nHello\r\n`),
    sha256: '',
    rawId: subject,
    repeatSeconds: 600,
    emailIds: [],
    traceParent: null,
  };
}

/** Hangs its thread without using the processor. */
const HANGING = '=?poison?Q?sleep=FF?=';
const readSubject = (outcome: ParseOutcome | null | undefined) => outcome?.message.subject;

test('all messages of a burst are read, in lists', async () => {
  const reading = createReadAhead({ parser, listsAtOnce: 2, limitMs: 60_000 });
  const names = Array.from({ length: 50 }, (_, n) => `Mail ${n}`);
  const outcomes = await Promise.all(names.map((name) => reading.read(offer(name))));
  expect(outcomes.map(readSubject)).toEqual(names);
});

test('messages beside or behind one that hangs do not wait for it', async () => {
  // The thread has started.
  await createReadAhead({ parser, listsAtOnce: 1, limitMs: 60_000 }).read(offer('first'));
  const reading = createReadAhead({ parser, listsAtOnce: 1, limitMs: 0 });
  const read = ['before', HANGING, 'beside', 'beside too', 'later'].map((name, at) => {
    const one = { ...offer(name), rawId: String(at) };
    return { late: reading.read(one), outcome: reading.take(one.rawId) };
  });
  // None is read within the limit: they are committed first, and the parser goes on.
  expect(await Promise.all(read.map(({ late }) => late))).toEqual(read.map(() => null));
  const outcomes = read.flatMap(({ outcome }, at) => (at === 1 || outcome === undefined ? [] : [outcome]));
  expect((await Promise.all(outcomes)).map(readSubject)).toEqual(['before', 'beside', 'beside too', 'later']);
});

test('mail is only accepted while the parser has much other mail, or many bytes are being read', async () => {
  const reading = createReadAhead({ parser, listsAtOnce: 1, limitMs: 60_000 });
  const request = {
    emailId: 'x',
    bytes: offer('other').bytes,
    remoteAddress: '192.0.2.1',
    helo: 'x.test',
    reversePath: '',
  };
  const others = parser.parse(Array.from({ length: 51 }, () => request));
  expect(await reading.read(offer('beside many'))).toBeNull();
  await others;
  expect(readSubject(await reading.read(offer('afterwards')))).toBe('afterwards');
  const all = Array.from({ length: 257 }, (_, n) => reading.read(offer(`crowd ${n}`)));
  expect(await all.at(-1)).toBeNull();
  expect(readSubject(await all[0])).toBe('crowd 0');
  await parser.close();
  await Promise.all(all);
});
