import { createRequire } from 'node:module';
import type { DestinationStream } from 'pino';
import type PinoPretty from 'pino-pretty';

const WARN = 40;

/** Events below the level warn that a person who has started Postroom wants to see. */
const SHOWN_EVENTS = new Set([
  'start.stopping',
  'start.stopped',
  'start.leases-voided',
  'part.restarted',
  'part.leases-voided',
  'process.ready',
  'process.stopping',
  'process.stopped',
  'database.back',
  'traces.back',
]);

/**
 * Returns a stream that writes log records as lines for a person to `destination`. `isQuiet` leaves out what is less than a warning, except for
 * SHOWN_EVENTS.
 */
export function openPrettyLog(destination: DestinationStream, { isQuiet }: { isQuiet: boolean }): DestinationStream {
  // Processes that log JSON do not load it.
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  const lines = pretty.prettyFactory({
    colorize: process.stdout.isTTY && process.stdout.hasColors(),
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,program,event',
    messageFormat: (record, messageKey) => String((record[messageKey] ?? record['event'] ?? '') as string),
  });
  return {
    write(json) {
      const { level, event } = JSON.parse(json) as { level: number; event?: string };
      if (isQuiet && level < WARN && !SHOWN_EVENTS.has(event ?? '')) return;
      destination.write(lines(json));
    },
  };
}
