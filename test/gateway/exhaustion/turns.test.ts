import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { standsStill } from '../../support/servers/process-tree.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Requests of the attacker that have arrived when the request of the other account arrives. */
const BURST = 100;
/** Responses of the attacker that may come first. */
const MAX_BEFORE = 50;

let stage: ExhaustionStage;
beforeAll(async () => {
  stage = await openExhaustionStage('x'.repeat(14_000_000), { messages: 1, logLevel: 'info' });
});
afterAll(() => stage?.close());

async function openConnection(): Promise<Socket> {
  const socket = connect(stage.gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  await once(socket, 'connect');
  return socket;
}

function write(socket: Socket, { apiKey }: TestMailbox, path: string): Promise<void> {
  return new Promise((resolve) => {
    socket.write(`GET /api/e2${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`, () =>
      resolve(),
    );
  });
}

/** Returns the routes of the requests that have ended, in order, as the gateway logged them. */
function endedRoutes(from: number): string[] {
  return stage.gateway
    .output()
    .slice(from)
    .split('\n')
    .filter((line) => line.endsWith('"msg":"request"}'))
    .map((line) => (JSON.parse(line) as { route: string }).route);
}

test.each(['/emails?limit=1', '/emails/none'])(
  'a request waits for few of the 100 that another account made before it: %s',
  async (attack) => {
    const path = attack === '/emails/none' ? `/emails/${stage.largeId}` : attack;
    const { child } = stage.gateway;
    await stage.get(stage.other, '/domains');
    const attacking = await Promise.all(Array.from({ length: BURST }, openConnection));
    const other = await openConnection();
    const from = stage.gateway.output().length;
    child.kill('SIGSTOP');
    await standsStill(child.pid ?? 0);
    for (const socket of attacking) await write(socket, stage.attacker, path);
    await write(other, stage.other, '/domains');
    child.kill('SIGCONT');
    await waitFor(() => expect(endedRoutes(from)).toContain('/api/e2/domains'));
    const before = endedRoutes(from).indexOf('/api/e2/domains');
    for (const socket of [...attacking, other]) socket.destroy();
    expect(before).toBeLessThanOrEqual(MAX_BEFORE);
  },
);
