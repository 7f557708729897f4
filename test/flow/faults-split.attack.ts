import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFullLength, isQuick, killsPerPoint } from '../support/chaos-figures.ts';
import { greets, until } from '../support/servers/service.ts';
import { FaultBench, passLeases } from '../support/stages/fault-bench.ts';
import { awaitDrained } from '../support/stages/ledger.ts';

/** NATS is paused at least so long, and until each question asked meanwhile has its response. */
const PAUSE_MS = isFullLength ? 20_000 : 0;
/** NATS stays stopped for at least this time. */
const STOP_MS = isQuick ? 0 : 30_000;
/** Each kill may cost a start of a process on a machine that is busy, and the limit of a question. */
const LIMIT_MS = 110_000 + killsPerPoint * 120_000;

/** A message of this size is committed before it is parsed. */
const STEPPED_BYTES = 600_000;
/** Whether only mail that is parsed after its commit reaches the point. */
const isStep = (point: string) => /^receiving\.(parse|threads|stored)/.test(point);

describe('as separate processes', () => {
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await FaultBench.start('split', { processes: ['gateway', 'smtp', 'receiving', 'threading', 'delivery'] });
  });
  afterAll(() => bench?.stop());

  const processes: [name: string, points: string[]][] = [
    ['smtp', ['smtp.before-ask', 'smtp.after-reply']],
    [
      'receiving',
      [
        'receiving.before-commit',
        'receiving.after-commit',
        'receiving.replies-counted',
        'receiving.parse-claimed',
        'receiving.parse-done',
        'receiving.threads-joined',
        'receiving.stored',
      ],
    ],
    ['delivery', ['delivery.claimed', 'delivery.posted', 'delivery.recorded']],
  ];

  /** Offers messages until the process has ended: one that has just started may return 451 until it has reached NATS. */
  async function offerUntil(ended: Promise<unknown>): Promise<void> {
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    do await bench.offer(8, { sessions: 4 });
    while (!hasEnded);
  }

  test.each(processes.map(([name, points]) => [name, points.join(', '), points] as const))(
    `%s killed at %s, ${killsPerPoint} times each: no mail is lost, no row doubled`,
    async (name, _, points) => {
      // What was under way at a kill is answered when its time is over; the next kill does not wait for that.
      const loads: Promise<unknown>[] = [];
      // Accepts exactly the messages that are offered to it, however often they are repeated.
      const limited = await bench.replyAddress(8 * killsPerPoint);
      await bench.service.end(name, 'SIGTERM');
      for (const point of points.flatMap((each) => Array.from({ length: killsPerPoint }, () => each))) {
        await passLeases(await bench.service.databaseUrl());
        const child = bench.service.startProcess(name, { FAULT: point });
        const died = new Promise<number | null>((resolve) => void child.once('exit', (code) => resolve(code)));
        // A receiving actor that finds mail to parse may reach its point before it judges anybody.
        if (name === 'receiving') await Promise.race([died, bench.awaitVerdicts().catch(() => undefined)]);
        if (name === 'smtp')
          await until(
            'SMTP greets',
            () => bench.service.output.slice(-2000),
            () => greets(bench.service.smtpPort),
          );
        const recipient = point === 'receiving.replies-counted' ? limited.address : bench.address;
        const sizeBytes = isStep(point) ? STEPPED_BYTES : 0;
        loads.push(name === 'smtp' ? offerUntil(died) : bench.offer(8, { sessions: 4, recipient, sizeBytes }));
        expect(await died, `${point} was reached`).toBe(137);
      }
      bench.service.startProcess(name);
      await Promise.all(loads);
      await bench.service.awaitReady();
      await bench.awaitVerdicts();
      await bench.offerAgain();
      await bench.settle();
      if (points.includes('receiving.replies-counted'))
        expect((await bench.account.call('GET', `/reply-addresses/${limited.id}`)).body).toMatchObject({
          message_count: 8 * killsPerPoint,
          status: 'used_up',
        });
    },
    LIMIT_MS,
  );

  test('NATS stopped: 451 while it is down, stored mail is delivered, 250 again after its return', async () => {
    await bench.offer(20);
    await bench.service.end('nats', 'SIGKILL');
    const stoppedAt = Date.now();
    for (const result of await bench.offer(4, { sessions: 4 })) expect(result.reply).toMatch(/^451 4\.3\.0/);
    await awaitDrained(await bench.service.databaseUrl(), 180_000);
    const ready = await fetch(`${bench.service.url}/ready`);
    expect(ready.status, 'the gateway stays ready without the bus').toBe(200);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, STOP_MS - (Date.now() - stoppedAt))));
    bench.service.startProcess('nats');
    await until(
      'a message is accepted',
      () => bench.service.output.slice(-2000),
      async () => {
        const [result] = await bench.offer(1);
        return result?.code === 250;
      },
    );
    await bench.offerAgain();
    await bench.settle();
  });

  test('NATS paused: questions end at their time limits with 451, nothing else fails, and all recovers by itself', async () => {
    await bench.offer(20);
    const nats = bench.service.processes.get('nats');
    expect(nats?.kill('SIGSTOP')).toBe(true);
    try {
      const pausedUntil = performance.now() + PAUSE_MS;
      do {
        // None of them waits for the end of the pause: that comes after their replies.
        for (const { reply } of await bench.offer(4, { sessions: 4 })) expect(reply).toMatch(/^451 4\.3\.0/);
        expect((await bench.account.call('GET', '/emails')).status).toBe(200);
      } while (performance.now() < pausedUntil);
      await awaitDrained(await bench.service.databaseUrl(), 180_000);
      expect((await fetch(`${bench.service.url}/ready`)).status).toBe(200);
    } finally {
      nats?.kill('SIGCONT');
    }
    await bench.awaitVerdicts();
    await bench.offerAgain();
    await bench.settle();
  });
});
