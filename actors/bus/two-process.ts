import type { Logger } from 'pino';
import type { Bus, Subscription } from '../../schema/messages.ts';
import { createInProcessBus } from './in-process.ts';
import { connectSocketBus } from './socket.ts';

/**
 * The bus of a process beside the one that serves the Unix socket at `path`. What both ends of a message need stays inside this process;
 * the rest goes over the socket: questions and wakes that no member here takes, and a copy of each broadcast. While the other process is
 * gone, its questions fail with BusUnavailable, and everything inside this process goes on.
 */
export function createTwoProcessBus({ path, log }: { path: string; log: Logger }): Bus {
  const here = createInProcessBus({ log });
  const there = connectSocketBus({ path, log, isPublishingToOthers: true });
  return {
    ask: (subject, request, options) => (here.isServed(subject) ? here : there).ask(subject, request, options),
    serve: (subject, handle) => both(here.serve(subject, handle), there.serve(subject, handle)),
    wake: (subject, message) => (here.isAwaited(subject) ? here : there).wake(subject, message),
    onWake: (subject, work) => both(here.onWake(subject, work), there.onWake(subject, work)),
    publish(subject, message) {
      here.publish(subject, message);
      there.publish(subject, message);
    },
    subscribe: (subject, take) => both(here.subscribe(subject, take), there.subscribe(subject, take)),
    isConnected: () => there.isConnected(),
    async close() {
      await Promise.all([here.close(), there.close()]);
    },
  };
}

function both(...subscriptions: Subscription[]): Subscription {
  return {
    async stop() {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
    },
  };
}
