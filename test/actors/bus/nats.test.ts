import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { afterEach, expect, test, vi } from 'vitest';
import { connectNatsBus } from '../../../actors/bus/nats.ts';
import { type Bus, BusRemoteError, BusTimeout, BusUnavailable } from '../../../schema/messages.ts';
import { type NatsServer, startNatsServer } from '../../support/servers/nats.ts';
import { waitFor } from '../../support/wait-for.ts';
import { accepted, connected, question, settle, silent } from './transports.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function server(options: Parameters<typeof startNatsServer>[0] = {}): Promise<NatsServer> {
  const started = await startNatsServer(options);
  ends.push(() => started.close());
  return started;
}

function bus(url: string, name: string): Bus {
  const opened = connectNatsBus({ url, log: silent, name });
  ends.push(() => opened.close());
  return opened;
}

test('a message above the max_payload of the server is streamed and arrives unchanged', async () => {
  const { url } = await server({ maxPayload: '1MB' });
  const [asker, serving] = [bus(url, 'asker'), bus(url, 'serving')];
  await connected(asker, serving);
  const seen = new Map<string, Uint8Array>();
  serving.serve('receiving.message.accept', async (request, bytes) => {
    seen.set(request.helo, bytes);
    return accepted(request.helo);
  });
  await settle(serving);
  const messages = [900_000, 1_048_576, 1_048_577, 5_000_000, 15_000_000].map((count) => randomBytes(count));
  const replies = await Promise.all(
    messages.map((bytes, place) =>
      asker.ask('receiving.message.accept', { ...question, helo: String(place) }, { bytes }),
    ),
  );
  expect(replies).toEqual(messages.map((_, place) => accepted(String(place))));
  messages.forEach((bytes, place) => expect(bytes.equals(seen.get(String(place)) ?? Buffer.alloc(0))).toBe(true));
});

test('a malformed or throwing streamed question fails like any other', async () => {
  const { url } = await server({ maxPayload: '1MB' });
  const [asker, serving] = [bus(url, 'asker'), bus(url, 'serving')];
  await connected(asker, serving);
  const respond = vi.fn(async () => {
    throw new Error('disk full');
  });
  serving.serve('receiving.message.accept', respond);
  await settle(serving);
  const bytes = randomBytes(2_000_000);
  await expect(asker.ask('receiving.message.accept', question, { bytes })).rejects.toThrow('disk full');
  const malformed = { ...question, isTls: 'yes' as never };
  await expect(asker.ask('receiving.message.accept', malformed, { bytes })).rejects.toBeInstanceOf(BusRemoteError);
  expect(respond).toHaveBeenCalledTimes(1);
});

test('a bus that starts while NATS is down works as soon as NATS is up', async () => {
  const nats = await server();
  await nats.stop();
  const [asker, serving] = [bus(nats.url, 'asker'), bus(nats.url, 'serving')];
  serving.serve('receiving.message.accept', async () => accepted('em_1'));
  await expect(asker.ask('receiving.message.accept', question)).rejects.toBeInstanceOf(BusUnavailable);
  expect(asker.isConnected()).toBe(false);
  await nats.start();
  await connected(asker, serving);
  await settle(serving);
  expect(await asker.ask('receiving.message.accept', question)).toEqual(accepted('em_1'));
});

test('a bus can be closed while it never had a connection', async () => {
  const nats = await server();
  await nats.stop();
  const opened = connectNatsBus({ url: nats.url, log: silent, name: 'closing' });
  await delay(50);
  await opened.close();
  expect(opened.isConnected()).toBe(false);
});

test('a NATS server that stops and starts three times needs no operator', async () => {
  const nats = await server();
  const seen: boolean[] = [];
  const asker = connectNatsBus({ url: nats.url, log: silent, name: 'asker', onConnection: (is) => void seen.push(is) });
  ends.push(() => asker.close());
  const serving = bus(nats.url, 'serving');
  serving.serve('receiving.message.accept', async () => accepted('em_1'));
  for (let time = 0; time < 3; time++) {
    await connected(asker, serving);
    await settle(serving);
    expect(await asker.ask('receiving.message.accept', question)).toEqual(accepted('em_1'));
    await nats.stop();
    await waitFor(() => expect(asker.isConnected() || serving.isConnected()).toBe(false));
    await nats.start();
  }
  await connected(asker);
  expect(seen).toEqual([true, false, true, false, true, false, true]);
});

test('questions end at their time limits while NATS is paused, and none of them is served afterwards', async () => {
  const nats = await server();
  const [asker, serving] = [bus(nats.url, 'asker'), bus(nats.url, 'serving')];
  await connected(asker, serving);
  const served: string[] = [];
  serving.serve('receiving.message.accept', async (request) => {
    served.push(request.helo);
    return accepted(request.helo);
  });
  await settle(serving);
  // The quickest of these tells how the two clocks differ.
  for (let time = 0; time < 20; time++) await asker.ask('receiving.message.accept', { ...question, helo: 'before' });

  await nats.pause();
  const asked = asker.ask('receiving.message.accept', { ...question, helo: 'during' }, { limitMs: 3_000 });
  await expect(asked).rejects.toBeInstanceOf(BusTimeout);
  nats.resume();

  expect(await asker.ask('receiving.message.accept', { ...question, helo: 'after' })).toEqual(accepted('after'));
  expect(new Set(served)).toEqual(new Set(['before', 'after']));
});

test('invalid bytes on our subjects do not stop the bus', async () => {
  const { url } = await server();
  const [asker, serving] = [bus(url, 'asker'), bus(url, 'serving')];
  await connected(asker, serving);
  const took = vi.fn();
  serving.serve('receiving.message.accept', async () => accepted('em_1'));
  serving.onWake('receiving.parse.wake', took);
  serving.subscribe('routing.changed', took);
  await settle(serving);
  const foreign = await connect({ servers: url.replace('nats://', '') });
  ends.push(() => foreign.close());
  const payloads = ['', 'x', '{', '\u0000\u0000\u0000\u0002{}', '\u00ff\u00ff\u00ff\u00ff{}', randomBytes(1_000)];
  for (const subject of ['receiving.message.accept', 'receiving.parse.wake', 'routing.changed'])
    for (const payload of payloads)
      foreign.publish(`postroom.${subject}`, typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload);
  await foreign.flush();
  expect(await asker.ask('receiving.message.accept', question)).toEqual(accepted('em_1'));
  expect(took).not.toHaveBeenCalled();
});

test('credentials are read from the URL, and wrong ones only make the bus unavailable', async () => {
  const { url } = await server({ user: 'postroom', password: 'p@ss/word' });
  const right = bus(url.replace('//', `//postroom:${encodeURIComponent('p@ss/word')}@`), 'right');
  const wrong = bus(url.replace('//', '//postroom:guess@'), 'wrong');
  await connected(right);
  await delay(600);
  expect(wrong.isConnected()).toBe(false);
  await expect(wrong.ask('receiving.message.accept', question)).rejects.toBeInstanceOf(BusUnavailable);
});
