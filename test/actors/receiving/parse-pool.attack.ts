import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ParseOutcome, ParseRequest } from '../../../actors/receiving/parse-messages.ts';
import { createParsePool, type ParsePool } from '../../../actors/receiving/parse-pool.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { waitFor } from '../../support/wait-for.ts';

const program = new URL('../../support/mail/poisoned-parse-worker.ts', import.meta.url);
let dns: DnsServer;
let pool: ParsePool;

beforeAll(async () => {
  dns = await startDnsServer();
  dns.set('x.test', 'TXT', ['v=spf1 ip4:192.0.2.1 -all']);
});
afterEach(() => pool.close());
afterAll(() => dns.stop());

/** A short `maxStillMs` is for messages that hang: on a busy machine any other message may take a second. */
function startPool(workers = 1, maxStillMs = 60_000, log = pino({ level: 'warn' }, warnings)): ParsePool {
  pool = createParsePool({
    workers,
    dnsServers: [dns.address],
    log,
    program,
    maxStillMs,
  });
  return pool;
}

/** Why threads ended, and the messages that were the cause. */
let ended: { reason: string; emailId?: string }[] = [];
const warnings = { write: (line: string) => void ended.push(JSON.parse(line) as (typeof ended)[number]) };
beforeEach(() => {
  ended = [];
});

/** Calls back with a folder in which a test and a message meet, and its path in the form that poisoned-parse-worker.ts reads. */
async function inGate(work: (folder: string, gate: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-gate-'));
  try {
    await work(folder, Buffer.from(folder).toString('hex'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function message(subject: string, body = 'Hello\r\n'): ParseRequest {
  const head = `From: Joe <joe@x.test>\r\nTo: ann@y.test\r\nMessage-ID: <${subject.length}@x.test>\r\nSubject: ${subject}\r\n`;
  return {
    emailId: subject,
    bytes: Buffer.from(`${head}\r\n${body}`),
    remoteAddress: '192.0.2.1',
    helo: 'mx.x.test',
    reversePath: 'joe@x.test',
  };
}

/** What is known of a message that brought down its thread three times is what its header section says. */
function expectGivenUp(outcome: ParseOutcome | undefined, subject: string, reason: RegExp): void {
  expect(outcome?.message).toMatchObject({
    parseError: expect.stringMatching(reason),
    subject: `${subject}ÿ`,
    isTruncated: true,
    addresses: { from: { addresses: [{ name: 'Joe', address: 'joe@x.test' }] } },
  });
  expect(outcome?.authentication).toBeNull();
}

const poison = (fault: string) => message(`=?poison?Q?${fault}=FF?=`);
const crowd = (count: number, name: string) => Array.from({ length: count }, (_, n) => message(`${name} ${n}`));

test('idle threads end, and the next message starts one again', async () => {
  const idle = Promise.withResolvers<void>();
  const lines = { write: (line: string) => void (line.includes('parser.idle') && idle.resolve()) };
  pool = createParsePool({
    workers: 2,
    dnsServers: [dns.address],
    program,
    idleMs: 1,
    log: pino({ level: 'debug' }, lines),
  });
  await idle.promise;
  const [before, after] = [await pool.parse([message('one')]), await pool.parse([message('two')])];
  expect([...before, ...after].map((outcome) => outcome.message.subject)).toEqual(['one', 'two']);
});

test('messages are returned in their order, parsed and checked, and their bytes stay with the caller', async () => {
  startPool(2);
  const lists = Array.from({ length: 12 }, (_, n) => crowd(25, `list ${n} message`));
  const outcomes = await Promise.all(lists.map((list) => pool.parse(list)));
  for (const [at, list] of lists.entries()) {
    expect(outcomes[at]?.map((outcome) => outcome.message.subject)).toEqual(list.map((request) => request.emailId));
    expect(outcomes[at]?.map((outcome) => outcome.authentication?.spf.result)).toEqual(list.map(() => 'pass'));
    expect(outcomes[at]?.[0]?.message.textBody).toBe('Hello\n');
  }
  expect(await pool.parse([])).toEqual([]);

  // The same pool, because each thread takes half a second to start.
  const request = message('mine');
  await pool.parse([request]);
  expect(request.bytes.byteLength, 'bytes of the caller after parsing').toBeGreaterThan(0);
});

describe('a message that', () => {
  const faults: [name: string, fault: string, reason: RegExp, maxStillMs?: number][] = [
    ['hangs', 'hang', /took more than 1 s/, 1_000],
    ['fills the heap', 'heap', /memory|512 MB/i],
    ['takes memory outside the heap', 'buffers', /512 MB/],
  ];
  test.each(isQuick ? faults.slice(0, 1) : faults)(
    '%s is given up after three tries, and all others are parsed',
    async (_, fault, reason, maxStillMs) => {
      startPool(1, maxStillMs);
      const before = crowd(5, 'before');
      const after = crowd(5, 'after');
      const outcomes = await pool.parse([...before, poison(fault), ...after]);
      const bad = outcomes[5];
      expectGivenUp(bad, fault, reason);
      const others = outcomes.filter((outcome) => outcome !== bad);
      expect(others.map((outcome) => outcome.message.parseError)).toEqual(others.map(() => null));
      expect(others.map((outcome) => outcome.message.subject)).toEqual(
        [...before, ...after].map((request) => request.emailId),
      );
    },
  );
});

test('other lists continue while a suspect message is retried', async () => {
  const gate = await mkdtemp(path.join(tmpdir(), 'postroom-gate-'));
  const fault = `gate${Buffer.from(gate).toString('hex')}`;
  try {
    startPool();
    const stuck = pool.parse([poison(fault)]);
    const others = [...(await pool.parse(crowd(20, 'first'))), ...(await pool.parse(crowd(20, 'second')))];
    expect(others.map((outcome) => outcome.message.parseError)).toEqual(Array.from({ length: 40 }, () => null));
    expect(await readdir(gate)).toEqual(['tried']);
    await writeFile(path.join(gate, 'open'), '');
    expectGivenUp((await stuck)[0], fault, /ended/);
  } finally {
    await rm(gate, { recursive: true });
  }
});

test('messages behind those that hang, and other lists, are parsed', async () => {
  startPool();
  const stuck = Array.from({ length: 2 }, () => pool.parse([poison('hang')]));
  const rejections = stuck.map((each) => expect(each).rejects.toThrow(/closed/));
  const outcomes = [...(await pool.parse(crowd(3, 'behind'))), ...(await pool.parse(crowd(20, 'other')))];
  expect(outcomes.map((outcome) => outcome.message.parseError)).toEqual(Array.from({ length: 23 }, () => null));
  await pool.close();
  await Promise.all(rejections);
});

test('a slow message is parsed by the thread that began it', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-gate-'));
  try {
    startPool();
    const slow = pool.parse([poison(`wait${Buffer.from(folder).toString('hex')}`), message('behind')]);
    expect((await pool.parse([message('other')]))[0]?.message.subject).toBe('other');
    await writeFile(path.join(folder, 'open'), '');
    expect((await slow).map((outcome) => outcome.message.parseError)).toEqual([null, null]);
    expect(await readdir(folder)).toEqual(['begun', 'open']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a message whose thread gets no processor time beside one that hangs is not put aside', async () => {
  const lines: string[] = [];
  startPool(1, 3_600_000, pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }));
  const hanging = expect(pool.parse([poison('hang')])).rejects.toThrow(/closed/);
  const isAside = () => lines.filter((line) => line.includes('slow message'));
  // The thread that hangs is put aside, and the next one starts.
  await pool.parse([message('first')]);
  const before = isAside().length;
  expect(before).toBeGreaterThan(0);
  await pool.parse([poison('rest'), message('behind')]);
  expect(isAside()).toHaveLength(before);
  await pool.close();
  await hanging;
});

test('a slow message has its result when the one behind it hangs', () =>
  inGate(async (folder, gate) => {
    startPool(1, 3_600_000);
    const [slow, hanging] = pool.parseEach([poison(`wait${gate}`), poison('sleep')]);
    const rejection = expect(hanging).rejects.toThrow('the parser was closed');
    await pool.parse([message('other')]);
    await writeFile(path.join(folder, 'open'), '');
    expect((await slow)?.message.parseError).toBeNull();
    await pool.close();
    await rejection;
  }));

const LARGE_BODY = 'A line of text\r\n'.repeat(150_000);
test('a large message that is slow does not delay the next large one', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-gate-'));
  try {
    startPool();
    const first = pool.parse([message(`=?poison?Q?wait${Buffer.from(folder).toString('hex')}=FF?=`, LARGE_BODY)]);
    expect((await pool.parse([message('next', LARGE_BODY)]))[0]?.message.subject).toBe('next');
    await writeFile(path.join(folder, 'open'), '');
    expect((await first)[0]?.message.parseError).toBeNull();
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a slow large message keeps its thread while small ones that hang are put aside and those behind them are parsed', () =>
  inGate(async (folder, gate) => {
    startPool();
    const slow = pool.parse([message(`=?poison?Q?wait${gate}=FF?=`, LARGE_BODY)]);
    await waitFor(async () => expect(await readdir(folder)).toEqual(['begun']));
    // The large one is in the way of the next, and is put aside.
    expect((await pool.parse([message('next', LARGE_BODY)]))[0]?.message.subject).toBe('next');
    const hanging = Array.from({ length: 2 }, () => expect(pool.parse([poison('hang')])).rejects.toThrow(/closed/));
    expect((await pool.parse([message('behind')]))[0]?.message.subject).toBe('behind');
    // On a busy machine the one behind is slow as well, and one that hangs makes room for it.
    expect(ended.filter(({ emailId }) => emailId !== poison('hang').emailId)).toEqual([]);
    await writeFile(path.join(folder, 'open'), '');
    expect((await slow)[0]?.message.parseError).toBeNull();
    await pool.close();
    await Promise.all(hanging);
  }));

test('small mail is parsed behind three that are slow, two of them within a long step of C++, which give their places up', () =>
  inGate(async (folder, gate) => {
    startPool();
    const slow = [poison(`deaf${gate}`), poison(`deaf${gate}`), poison('hang')].map((each) =>
      expect(pool.parse([each])).rejects.toThrow(/closed/),
    );
    expect((await pool.parse([message('behind')]))[0]?.message.subject).toBe('behind');
    expect(await readdir(folder), 'a step has ended').toEqual([]);
    await pool.close();
    await Promise.all(slow);
  }));

test('a thread that is silent at two measurements keeps no place: its message is tried again, and small mail goes on', () =>
  inGate(async (folder, gate) => {
    startPool();
    const mute = poison(`mute${gate}`);
    const parsed = pool.parse([mute]);
    await waitFor(async () => expect(await readdir(folder)).toEqual(['begun']));
    const grown = Buffer.alloc(600_000_000, 1);
    const small = await pool.parse(crowd(5, 'small'));
    expect(small.map((outcome) => outcome.message.parseError)).toEqual(small.map(() => null));
    expect((await parsed)[0]?.message.parseError).toBeNull();
    const reason = 'took more than 512 MB';
    expect(ended).toContainEqual(expect.objectContaining({ emailId: mute.emailId, reason }));
    expect(grown).toHaveLength(600_000_000);
  }));

test.each([['a large message', LARGE_BODY]])(
  '%s keeps its thread while another message takes too much memory',
  async (_, body) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'postroom-gate-'));
    try {
      startPool();
      // Only one thread may begin it.
      const innocent = pool.parse([message(`=?poison?Q?wait${Buffer.from(folder).toString('hex')}=FF?=`, body)]);
      await waitFor(async () => expect(await readdir(folder)).toEqual(['begun']));
      const outcomes = await pool.parse([message('before'), poison('buffers')]);
      expect(outcomes[0]?.message.parseError).toBeNull();
      expectGivenUp(outcomes[1], 'buffers', /512 MB/);
      await writeFile(path.join(folder, 'open'), '');
      expect((await innocent)[0]?.message.parseError).toBeNull();
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test('a message that holds memory is ended once for what the process grew by, and then is parsed', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-gate-'));
  const gate = Buffer.from(folder).toString('hex');
  const tries = () => readFile(path.join(folder, 'held'), 'utf8').catch(() => '');
  try {
    startPool(2);
    const slow = pool.parse([poison(`wait${gate}`)]);
    await waitFor(async () => expect(await readdir(folder)).toContain('begun'));
    const held = pool.parse([poison(`hold${gate}`)]);
    await waitFor(async () => expect(await tries()).toBe('.'));
    const grown = Buffer.alloc(350_000_000, 1);
    await waitFor(async () => expect(await tries()).toBe('..'));
    await sleep(1_500);
    expect(await tries()).toBe('..');
    await writeFile(path.join(folder, 'open'), '');
    expect((await held)[0]?.message.parseError).toBeNull();
    expect((await slow)[0]?.message.parseError).toBeNull();
    expect(grown).toHaveLength(350_000_000);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('two messages that end their thread are given up, and the others of the list are not', async () => {
  startPool();
  const outcomes = await pool.parse([poison('exit'), ...crowd(10, 'sound'), poison('exit')]);
  for (const at of [0, 11]) expectGivenUp(outcomes[at], 'exit', /ended/);
  expect(outcomes.map((outcome) => outcome.message.parseError === null)).toEqual([
    false,
    ...Array.from({ length: 10 }, () => true),
    false,
  ]);
});

test('a closed pool rejects running messages and accepts no more', async () => {
  startPool();
  const stuck = pool.parse([poison('hang'), message('behind')]);
  const rejection = expect(stuck).rejects.toThrow(/closed/);
  await pool.close();
  await rejection;
  await expect(pool.parse([message('late')])).rejects.toThrow(/closed/);
});

test('messages of a list do not wait for slow DNS one after the other', async () => {
  const list = Array.from({ length: 25 }, (_, n) => ({ ...message(`slow ${n}`), reversePath: `joe@silent${n}.test` }));
  for (let n = 0; n < 25; n++) dns.set(`silent${n}.test`, 'TXT', 'silent');
  startPool();
  await pool.parse([message('warm')]);
  dns.queries.length = 0;
  const outcomes = await pool.parse(list);
  // One after the other, the look-ups of the first would have ended before the last was asked for.
  const names = dns.queries.map((query) => query.replace(/^TXT /, '')).filter((name) => name.startsWith('silent'));
  const lastFirst = Math.max(...Array.from({ length: 25 }, (_, n) => names.indexOf(`silent${n}.test`)));
  expect(new Set(names.slice(0, lastFirst + 1)).size).toBe(25);
  expect(names.slice(0, lastFirst + 1)).toHaveLength(25);
  expect(outcomes.map((outcome) => outcome.authentication?.spf.result)).toEqual(list.map(() => 'temperror'));
  expect(outcomes.every((outcome) => outcome.message.parseError === null)).toBe(true);
});

test('a message has its result before those of its list that wait for DNS', async () => {
  startPool();
  dns.set('silent.test', 'TXT', 'silent');
  const order: string[] = [];
  const list = [{ ...message('waits'), reversePath: 'joe@silent.test' }, message('quick')];
  await Promise.all(pool.parseEach(list).map((each) => each.then(({ emailId }) => order.push(emailId))));
  expect(order).toEqual(['quick', 'waits']);
});
