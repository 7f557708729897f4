import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { isFullLength, noteFigure } from '../support/chaos-figures.ts';
import { queryOnce } from '../support/cluster/cluster.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../support/rows/stored-message.ts';
import { HeldConnection } from '../support/servers/held-connection.ts';
import { processTree } from '../support/servers/process-tree.ts';
import { until } from '../support/servers/service.ts';
import { FaultBench } from '../support/stages/fault-bench.ts';

/** Of the SMTP process with all connections open. */
const MEMORY_LIMIT_MIB = 400;

let bench: FaultBench;
const open: HeldConnection[] = [];

afterEach(async () => {
  for (const connection of open.splice(0)) connection.destroy();
  await bench?.stop();
}, 120_000);

/** Opens connections to that port, at most 200 of them at a time. */
async function openMany(port: number, count: number): Promise<HeldConnection[]> {
  const made: HeldConnection[] = [];
  while (made.length < count) {
    const size = Math.min(200, count - made.length);
    const group = await Promise.all(Array.from({ length: size }, (_, n) => HeldConnection.open(port, open.length + n)));
    open.push(...group);
    made.push(...group);
  }
  return made;
}

function smtpMemory(): number {
  const smtp = processTree(bench.service.processes.get('runner')?.pid ?? 0).find(({ command }) =>
    /parts\/mail\.[jt]s/.test(command),
  );
  expect(smtp).toBeDefined();
  return smtp?.residentMiB ?? 0;
}

describe('many clients at once', () => {
  const LIMIT = isFullLength ? 10_000 : 400;
  const IDLE_SECONDS = isFullLength ? 120 : 30;

  test(`${LIMIT} idle SMTP connections are accepted, one more is 421 4.3.2, mail is accepted beside them, and all are closed in the end`, async () => {
    bench = await FaultBench.start('single', {
      environment: { SMTP_MAX_CONNECTIONS: String(LIMIT), SMTP_COMMAND_SECONDS: String(IDLE_SECONDS) },
    });
    const { smtpPort } = bench.service;
    const before = smtpMemory();
    const startedAt = performance.now();
    // The last place is for the mail.
    const idle = await openMany(smtpPort, LIMIT - 1);
    await Promise.all(idle.map((each) => each.until(/\r\n/)));
    const acceptedAt = performance.now();
    expect(idle.filter(({ received }) => !received.startsWith('220 '))).toHaveLength(0);

    const [mail] = await bench.offer(1, { sessions: 1 });
    expect(mail?.code, mail?.reply).toBe(250);
    await bench.settle();

    // The session of that mail may still be closing.
    const last = await firstAccepted(smtpPort);
    const [refused] = await openMany(smtpPort, 1);
    expect(await refused?.until(/\r\n/)).toMatch(/^421 4\.3\.2 /);
    await refused?.closed;
    expect(idle.filter(({ isClosed }) => isClosed)).toHaveLength(0);
    const memory = smtpMemory();
    expect(memory).toBeLessThan(MEMORY_LIMIT_MIB);
    await noteFigure(
      'H1',
      `${LIMIT} connections accepted in ${((acceptedAt - startedAt) / 1_000).toFixed(1)} s; SMTP process ${before} MiB before, ${memory} MiB with them; a message beside them answered in ${((mail?.endedAt ?? 0) - (mail?.startedAt ?? 0)).toFixed(0)} ms`,
    );

    await Promise.all([...idle, last].map(({ closed }) => closed));
    expect(idle.filter(({ received }) => !/^421 4\.4\.2 /m.test(received))).toHaveLength(0);
    await bench.offer(1, { sessions: 1 });
    await bench.settle();
  }, 600_000);

  /** Connects until a banner with 220 comes; the connection stays open. */
  async function firstAccepted(port: number): Promise<HeldConnection> {
    for (;;) {
      const [connection] = await openMany(port, 1);
      if (connection === undefined) throw new Error('unreachable');
      if ((await connection.until(/\r\n/)).startsWith('220 ')) return connection;
    }
  }
});

/** Sends what comes before the message, pipelined behind the reply to EHLO; returns all that was received. */
async function beginData(client: HeldConnection, reversePath: string): Promise<string> {
  await client.write('EHLO gone.test\r\n');
  await client.until(/^250 .*\r\n/m);
  await client.write(`MAIL FROM:<${reversePath}>\r\nRCPT TO:<${bench.address}>\r\nDATA\r\n`);
  return client.until(/^(?:354|[45]\d\d) .*\r\n/m);
}

describe('clients that send one byte at a time', () => {
  const COUNT = isFullLength ? 500 : 40;
  const COMMAND_SECONDS = isFullLength ? 60 : 5;
  const PAUSE_MS = isFullLength ? 5_000 : 500;

  test(`${COUNT} of each kind, one byte at a time, are closed with 421 4.4.2 or 408, and others are served meanwhile`, async () => {
    bench = await FaultBench.start('single', { environment: { SMTP_COMMAND_SECONDS: String(COMMAND_SECONDS) } });
    const { smtpPort, httpPort } = bench.service;
    const commands = await openMany(smtpPort, COUNT);
    const bodies = await openMany(smtpPort, COUNT);
    const requests = await openMany(httpPort, COUNT);
    await Promise.all([...commands, ...bodies].map((each) => each.until(/^220 /)));
    await Promise.all(
      bodies.map(async (each) => {
        expect(await beginData(each, '')).toMatch(/^354 /m);
      }),
    );
    await Promise.all(requests.map((each) => each.write('GET /health HTTP/1.1\r\nx-slow: ')));
    const dripping = setInterval(() => {
      for (const each of open) if (!each.isClosed) void each.write('x');
    }, PAUSE_MS);
    try {
      const results = await bench.offer(5);
      expect(results.map(({ code }) => code)).toEqual([250, 250, 250, 250, 250]);
      expect((await bench.account.call('GET', '/emails')).status).toBe(200);
      await Promise.all(open.map(({ closed }) => closed));
    } finally {
      clearInterval(dripping);
    }
    const others = (all: HeldConnection[], last: RegExp) =>
      all.map(({ received }) => received).filter((received) => !last.test(received));
    expect(others(commands, /^421 4\.4\.2 /m)).toEqual([]);
    expect(others(bodies, /^421 4\.4\.2 /m)).toEqual([]);
    expect(others(requests, /^HTTP\/1\.1 408 /)).toEqual([]);
    // Nothing but the ordinary mail is stored.
    await bench.settle();
    expect(await storedCount('')).toBe(5);
  }, 600_000);
});

describe('clients that disappear', () => {
  const COUNT = isFullLength ? 200 : 20;

  test(`${COUNT} disappear in DATA and leave no row, ${COUNT} after the final dot and leave one each`, async () => {
    bench = await FaultBench.start('single', { environment: { SMTP_MAX_CONNECTIONS: String(2 * COUNT) } });
    const { smtpPort } = bench.service;
    const [early, late] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
    const message = (mark: string, n: number) =>
      `Message-ID: <${n}.${mark}@gone.test>\r\nFrom: a@gone.test\r\nSubject: Gone\r\n\r\nBody ${n}\r\n`;
    const connections = await openMany(smtpPort, 2 * COUNT);
    await Promise.all(
      connections.map(async (each, n) => {
        await each.until(/^220 /);
        expect(await beginData(each, 'a@gone.test')).toMatch(/^354 /m);
        const isEarly = n < COUNT;
        await each.write(isEarly ? message(early, n) : `${message(late, n)}.\r\n`);
        if (n % 2 === 0) each.destroy();
        else each.reset();
      }),
    );
    // Their places are free once the server has seen that they are gone.
    await until(
      'as many other clients are greeted',
      () => bench.service.output.slice(-2000),
      async () => {
        const others = await openMany(smtpPort, 2 * COUNT);
        const banners = await Promise.all(others.map((each) => each.until(/\r\n/)));
        for (const each of others) each.destroy();
        return banners.every((banner) => banner.startsWith('220 '));
      },
    );
    await until(
      'the messages whose final dot was sent are stored',
      () => bench.service.output.slice(-2000),
      async () => (await storedCount(late)) >= COUNT,
    );
    expect([await storedCount(early), await storedCount(late)]).toEqual([0, COUNT]);

    // A client that got no reply sends again: the same message, no second row.
    await Promise.all(
      Array.from({ length: COUNT }, async (_, at) => {
        // From the address that sent it first: from another one it is another message.
        const again = await HeldConnection.open(smtpPort, COUNT + at);
        open.push(again);
        await again.until(/^220 /);
        expect(await beginData(again, 'a@gone.test')).toMatch(/^354 /m);
        await again.write(`${message(late, COUNT + at)}.\r\n`);
        expect(await again.until(/^(?:250 2\.0\.0|[45]\d\d) .*\r\n/m)).toMatch(
          /^250 2\.0\.0 Ok: accepted before as em_/m,
        );
        again.destroy();
      }),
    );
    expect([await storedCount(early), await storedCount(late)]).toEqual([0, COUNT]);
  }, 300_000);
});

/** Stored receptions of messages that contain the text. */
async function storedCount(text: string): Promise<number> {
  const rows = await queryOnce<MessageColumns>(
    await bench.service.databaseUrl(),
    `select ${MESSAGE_COLUMNS} from reception p join raw_message m on m.id = p.raw_id`,
    [],
  );
  return rows.filter((row) => readStoredMessage(row).includes(text)).length;
}
