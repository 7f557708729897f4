import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BusRemoteError, BusTimeout, BusUnavailable, MAX_BYTES } from '../../../schema/messages.ts';
import { waitFor } from '../../support/wait-for.ts';
import { accepted, connected, question, type Site, settle, transports } from './transports.ts';

describe.each(transports)('the $transport bus', ({ open, transport }) => {
  let site: Site;
  beforeEach(async () => {
    site = await open();
  });
  afterEach(() => site.close());

  test('resolves a question with the reply of its server', async () => {
    site.servers[0].serve('receiving.recipient.check', async ({ recipient }) => ({
      verdict: 'reject',
      code: 550,
      enhancedCode: '5.1.1',
      text: `no ${recipient}`,
    }));
    await settle(site.servers[0]);
    const reply = await site.asker.ask('receiving.recipient.check', { recipient: 'x@inbox.test', reversePath: '' });
    expect(reply).toEqual({ verdict: 'reject', code: 550, enhancedCode: '5.1.1', text: 'no x@inbox.test' });
  });

  test.each([0, 1, 1_000_000, 15_000_000])('carries %i bytes unchanged', async (count) => {
    const seen: Uint8Array[] = [];
    site.servers[1].serve('receiving.message.accept', async (_request, bytes) => {
      seen.push(bytes);
      return accepted('em_1');
    });
    await settle(site.servers[1]);
    const bytes = randomBytes(count);
    await site.asker.ask('receiving.message.accept', question, { bytes });
    expect(seen).toHaveLength(1);
    expect(bytes.equals(seen[0] ?? Buffer.from('none'))).toBe(true);
  });

  test('keeps text of every script and NUL characters in message headers', async () => {
    site.servers[1].serve('receiving.message.accept', async (request) => accepted(request.traceFields));
    await settle(site.servers[1]);
    const traceFields = 'Grüße 日本語 \u0000 😀 \r\n';
    const reply = await site.asker.ask('receiving.message.accept', { ...question, traceFields });
    expect(reply).toEqual(accepted(traceFields));
  });

  test('keeps the replies to 32 concurrent questions apart', async () => {
    for (const server of site.servers)
      server.serve('receiving.message.accept', async (request, bytes) => accepted(request.helo, String(bytes[0])));
    await settle(...site.servers);
    const numbers = Array.from({ length: 32 }, (_, number) => number);
    const replies = await Promise.all(
      numbers.map((number) =>
        site.asker.ask(
          'receiving.message.accept',
          { ...question, helo: `helo-${number}` },
          { bytes: Buffer.alloc(100_000, number) },
        ),
      ),
    );
    expect(replies).toEqual(numbers.map((number) => accepted(`helo-${number}`, String(number))));
  });

  test('delays questions instead of holding more than 20 MB in flight', async () => {
    let inHand = 0;
    let most = 0;
    site.servers[0].serve('receiving.message.accept', async (_request, bytes) => {
      inHand += bytes.byteLength;
      most = Math.max(most, inHand);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inHand -= bytes.byteLength;
      return accepted('em_1');
    });
    await settle(site.servers[0]);
    const bytes = Buffer.alloc(10_000_000, 7);
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => site.asker.ask('receiving.message.accept', question, { bytes })),
    );
    expect(replies).toHaveLength(6);
    expect(most).toBeLessThanOrEqual(20_000_000);
  });

  test('refuses a message above the size limit', async () => {
    const bytes = new Uint8Array(MAX_BYTES + 1);
    site.servers[0].serve('receiving.message.accept', async () => accepted('em_1'));
    await settle(site.servers[0]);
    await expect(site.asker.ask('receiving.message.accept', question, { bytes })).rejects.toBeInstanceOf(RangeError);
  });

  test('ends a question at its time limit when no reply arrives, and drops a late reply', async () => {
    const late = Promise.withResolvers<void>();
    site.servers[1].serve('receiving.message.accept', async (request) => {
      if (request.helo === 'late') await late.promise;
      return accepted(request.helo);
    });
    await settle(site.servers[1]);
    const before = performance.now();
    const asked = site.asker.ask('receiving.message.accept', { ...question, helo: 'late' }, { limitMs: 200 });
    await expect(asked).rejects.toBeInstanceOf(BusTimeout);
    expect(performance.now() - before).toBeGreaterThan(150);
    late.resolve();
    expect(await site.asker.ask('receiving.message.accept', { ...question, helo: 'next' })).toEqual(accepted('next'));
  });

  test('fails a question without a server before its time limit', async () => {
    await expect(site.asker.ask('receiving.message.accept', question)).rejects.toBeInstanceOf(BusUnavailable);
  });

  test('returns the error message of the server to the caller', async () => {
    site.servers[1].serve('receiving.message.accept', async () => {
      throw new TypeError('no such column');
    });
    await settle(site.servers[1]);
    const asked = site.asker.ask('receiving.message.accept', question);
    await expect(asked).rejects.toBeInstanceOf(BusRemoteError);
    await expect(asked).rejects.toThrow('no such column');
  });

  test('sends each question to exactly one member of the group, and uses all members', async () => {
    const served = [0, 0];
    site.servers.forEach((server, place) =>
      server.serve('receiving.message.accept', async () => {
        served[place] = (served[place] ?? 0) + 1;
        return accepted(String(place));
      }),
    );
    await settle(...site.servers);
    await Promise.all(Array.from({ length: 100 }, () => site.asker.ask('receiving.message.accept', question)));
    expect((served[0] ?? 0) + (served[1] ?? 0)).toBe(100);
    expect(Math.min(...served)).toBeGreaterThan(0);
  });

  test('wakes one member of the group', async () => {
    const woken: string[] = [];
    for (const server of site.servers)
      server.onWake('receiving.parse.wake', ({ emailIds }) => void woken.push(...emailIds));
    await settle(...site.servers);
    const ids = Array.from({ length: 20 }, (_, number) => `em_${number}`);
    for (const id of ids) site.asker.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [id] });
    await waitFor(() => expect(woken).toHaveLength(20));
    await settle(site.asker, ...site.servers);
    expect(woken.toSorted()).toEqual(ids.toSorted());
  });

  test('sends a broadcast to every subscriber, the sender included', async () => {
    const heard: string[] = [];
    [site.asker, ...site.servers].forEach((bus, place) =>
      bus.subscribe('routing.changed', ({ name }) => void heard.push(`${place} ${name}`)),
    );
    await settle(site.asker, ...site.servers);
    site.servers[0].publish('routing.changed', { name: 'inbox.test' });
    await waitFor(() => expect(heard).toHaveLength(3));
    expect(heard.toSorted()).toEqual(['0 inbox.test', '1 inbox.test', '2 inbox.test']);
  });

  test('refuses a malformed request before its server sees it, and names the field but not its value', async () => {
    const respond = vi.fn(async () => accepted('em_1'));
    site.servers[1].serve('receiving.message.accept', respond);
    await settle(site.servers[1]);
    const asked = site.asker.ask('receiving.message.accept', { ...question, helo: { secret: 's3cret' } as never });
    await expect(asked).rejects.toBeInstanceOf(BusRemoteError);
    await expect(asked).rejects.toThrow(/helo/);
    await expect(asked).rejects.not.toThrow(/s3cret/);
    expect(respond).not.toHaveBeenCalled();
  });

  test('drops malformed wakes and broadcasts', async () => {
    const took = vi.fn();
    site.servers[1].onWake('receiving.parse.wake', took);
    site.servers[1].subscribe('routing.changed', took);
    await settle(site.servers[1]);
    site.asker.wake('receiving.parse.wake', { workspaceId: 7, emailIds: [] } as never);
    site.asker.publish('routing.changed', { name: null } as never);
    site.asker.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [] });
    site.asker.publish('routing.changed', { name: 'inbox.test' });
    await waitFor(() => expect(took).toHaveBeenCalledTimes(2));
  });

  test("continues when a wake's work or a subscriber throws", async () => {
    let calls = 0;
    site.servers[1].onWake('receiving.parse.wake', async () => {
      calls++;
      throw new Error('work failed');
    });
    site.servers[1].subscribe('routing.changed', () => {
      calls++;
      throw new Error('subscriber failed');
    });
    await settle(site.servers[1]);
    for (let turn = 0; turn < 2; turn++) {
      site.asker.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [] });
      site.asker.publish('routing.changed', { name: 'inbox.test' });
    }
    await waitFor(() => expect(calls).toBe(4));
  });

  test('stops serving without losing a question in progress', async () => {
    const isAsked = Promise.withResolvers<void>();
    const mayRespond = Promise.withResolvers<void>();
    const served = site.servers[1].serve('receiving.message.accept', async () => {
      isAsked.resolve();
      await mayRespond.promise;
      return accepted('in hand');
    });
    await settle(site.servers[1]);
    const asked = site.asker.ask('receiving.message.accept', question);
    await isAsked.promise;
    let isStopped = false;
    const stopped = served.stop().then(() => {
      isStopped = true;
    });
    await waitFor(async () => {
      await expect(site.asker.ask('receiving.message.accept', question, { limitMs: 300 })).rejects.toBeInstanceOf(
        BusUnavailable,
      );
    });
    expect(isStopped).toBe(false);
    mayRespond.resolve();
    expect(await asked).toEqual(accepted('in hand'));
    await stopped;
  });

  test('stops taking wakes when it is stopped', async () => {
    const woken: string[] = [];
    const take = (place: string) => () => void woken.push(place);
    const first = site.servers[0].onWake('receiving.parse.wake', take('first'));
    site.servers[1].onWake('receiving.parse.wake', take('second'));
    await settle(...site.servers);
    await first.stop();
    for (let count = 0; count < 10; count++)
      site.asker.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [] });
    await waitFor(() => expect(woken).toHaveLength(10));
    expect(new Set(woken)).toEqual(new Set(['second']));
  });

  test('fails all questions in flight when it is closed, and every question after that', async () => {
    const isAsked = Promise.withResolvers<void>();
    site.servers[0].serve('receiving.message.accept', () => {
      isAsked.resolve();
      return new Promise(() => undefined);
    });
    await settle(site.servers[0]);
    const asked = site.asker.ask('receiving.message.accept', question).catch((error: unknown) => error);
    await isAsked.promise;
    await site.asker.close();
    expect(await asked).toBeInstanceOf(BusUnavailable);
    expect(site.asker.isConnected()).toBe(false);
    await expect(site.asker.ask('receiving.message.accept', question)).rejects.toBeInstanceOf(BusUnavailable);
    site.asker.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [] });
  });

  const canBreak = transport !== 'in-process';
  if (canBreak)
    test('reconnects by itself when its server was down, with all its subscriptions', async () => {
      const { asker, servers, takeAway, giveBack } = site;
      if (!takeAway || !giveBack) throw new Error('this transport has no connection to lose');
      const isAsked = Promise.withResolvers<void>();
      const heard: string[] = [];
      servers[1].serve('receiving.message.accept', async (request) => {
        if (request.helo === 'held') {
          isAsked.resolve();
          await new Promise(() => undefined);
        }
        return accepted(request.helo);
      });
      asker.subscribe('routing.changed', ({ name }) => void heard.push(name));
      await settle(asker, servers[1]);
      const held = asker
        .ask('receiving.message.accept', { ...question, helo: 'held' })
        .catch((error: unknown) => error);
      await isAsked.promise;

      await takeAway();
      expect(await held).toBeInstanceOf(BusUnavailable);
      await expect(asker.ask('receiving.message.accept', question)).rejects.toBeInstanceOf(BusUnavailable);
      await waitFor(() => expect(asker.isConnected()).toBe(false));

      await giveBack();
      await connected(asker, servers[1]);
      await settle(asker, servers[1]);
      expect(await asker.ask('receiving.message.accept', { ...question, helo: 'again' })).toEqual(accepted('again'));
      servers[1].publish('routing.changed', { name: 'inbox.test' });
      await waitFor(() => expect(heard).toEqual(['inbox.test']));
    });
});
