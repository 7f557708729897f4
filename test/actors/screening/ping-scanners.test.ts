import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { findScannerFaults, pingClamd, pingRspamd } from '../../../actors/screening/ping-scanners.ts';
import { freePort } from '../../support/cluster/cluster.ts';

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listen(server: Server): Promise<number> {
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a scanner that responds has no fault', async () => {
  const rspamd = await listen(createServer((_request, response) => response.end('pong\n')));
  const clamd = await listen(createTcpServer((socket) => socket.once('data', () => socket.end('PONG\0'))));
  expect(await pingRspamd(`http://127.0.0.1:${rspamd}`)).toBeNull();
  expect(await pingClamd({ host: '127.0.0.1', port: clamd })).toBeNull();
});

test('a port at which nothing listens is said to be one', async () => {
  const port = await freePort();
  const detail = `nothing listens at 127.0.0.1:${port}: it is not running yet`;
  expect(await pingClamd({ host: '127.0.0.1', port })).toMatchObject({ detail });
  expect(await pingRspamd(`http://127.0.0.1:${port}`)).toMatchObject({
    detail: detail.replace('127', 'http://127'),
    fix: expect.stringContaining('docs/screening.md says how to switch its network off'),
  });
  expect(await pingClamd({ path: '/nonexistent/clamd.ctl' })).toMatchObject({
    detail: 'nothing listens at /nonexistent/clamd.ctl: it is not running yet',
  });
});

test('a scanner that takes connections and does not respond is said to be starting', async () => {
  const port = await listen(createTcpServer(() => undefined));
  const detail = expect.stringContaining('takes connections, but did not respond in 0.2 s');
  expect(await pingRspamd(`http://127.0.0.1:${port}`, 'RSPAMD_URL', 200)).toMatchObject({ detail });
  expect(await pingClamd({ host: '127.0.0.1', port }, 200)).toMatchObject({ detail });
});

test('a program that is no scanner is named as one', async () => {
  const port = await listen(createServer((_request, response) => response.end('hello')));
  const spam = { url: `http://127.0.0.1:${port}`, controllerUrl: '', password: null, limitMs: 1_000 };
  const faults = await findScannerFaults({ spam: { ...spam, whenAway: 'accept', rejectScore: null }, virus: null });
  expect(faults).toEqual([
    { scanner: 'rspamd', detail: `${spam.url} responds, but not as rspamd`, fix: 'Check RSPAMD_URL' },
  ]);
});
