import type { Logger } from 'pino';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import { serveSocketBus } from '../../../actors/bus/socket.ts';
import { measured } from '../../../actors/bus/transport.ts';
import { createTwoProcessBus } from '../../../actors/bus/two-process.ts';
import type { Bus } from '../../../schema/messages.ts';
import { measureConnection } from '../monitoring/measure-connections.ts';

/** Opens NATS, whose client is loaded only here. `name` appears in the NATS server's monitoring. */
export async function openNatsBus(natsUrl: string, name: string, log: Logger): Promise<Bus> {
  const { connectNatsBus } = await import('../../../actors/bus/nats.ts');
  const bus = measured(connectNatsBus({ url: natsUrl, name, log }));
  measureConnection(bus, 'nats');
  return bus;
}

/** Opens the bus of the mail process on one machine, which the other processes of the machine reach over a Unix socket (0600). */
export async function openMailBus(socketPath: string, log: Logger): Promise<Bus> {
  const bus = createInProcessBus({ log });
  const server = await serveSocketBus({ path: socketPath, bus, log });
  const counted = measured(bus);
  measureConnection(counted, 'in-process');
  return {
    ...counted,
    async close() {
      await server.close(LEAVE_MS);
      await counted.close();
    },
  };
}

/** Opens the bus of a process beside the mail process. */
export function openBesideMail(socketPath: string, log: Logger): Bus {
  const bus = measured(createTwoProcessBus({ path: socketPath, log }));
  measureConnection(bus, 'socket');
  return bus;
}

/** How long the mail process waits, at its end, for the processes beside it, which end at the same time. Milliseconds. */
const LEAVE_MS = 2_000;
