import type { Logger } from 'pino';
import { isDatabaseAway } from '../../db/connection/database.ts';

/** What a process logs of PostgreSQL being away: one line when it begins and one when it is over, however many requests it fails. */
export interface DatabaseOutage {
  /**
   * Whether a log record with this error only repeats that PostgreSQL is away. The first error of level warn or above that says so begins
   * an outage and is logged as that.
   */
  absorbs(error: unknown, level: number): boolean;
  /** Begins an outage that was noticed by other means; does nothing during one. */
  begin(error: Error): void;
  /** Counts a restart of PostgreSQL for the line at the end. */
  countRestart(): void;
  /** From now on outages are recognized; `isReachable` says whether PostgreSQL responds, and never rejects. */
  watch(log: Logger, isReachable: () => Promise<boolean>): void;
  /** Recognizes no further outage. */
  close(): void;
}

/** An outage is over when PostgreSQL responds and no error came for this long: one that fails every second request is not. Milliseconds. */
const QUIET_MS = 1_000;

/** Of the record that tells of an outage's begin. */
export const OUTAGE_EVENT = 'database.away';

/** pino's. */
const WARN = 40;
const ERROR = 50;

export function createDatabaseOutage(): DatabaseOutage {
  let watched: { log: Logger; isReachable: () => Promise<boolean> } | null = null;
  let current: { sinceTick: number; errors: number; restarts: number } | null = null;
  let errorsSinceLook = 0;
  let nextLook: NodeJS.Timeout | undefined;

  const begin = (error: unknown) => {
    if (watched === null) return;
    errorsSinceLook++;
    if (current !== null) {
      current.errors++;
      return;
    }
    current = { sinceTick: performance.now(), errors: 1, restarts: 0 };
    watched.log.error(
      { err: error, event: OUTAGE_EVENT },
      'PostgreSQL is unreachable: until it is back, HTTP responds 503 and SMTP 451',
    );
    nextLook = setTimeout(() => void look(), QUIET_MS);
  };

  const look = async (): Promise<void> => {
    const wasQuiet = errorsSinceLook === 0;
    errorsSinceLook = 0;
    const isBack = wasQuiet && (await watched?.isReachable()) === true && errorsSinceLook === 0;
    if (watched === null || current === null) return;
    if (!isBack) {
      nextLook = setTimeout(() => void look(), QUIET_MS);
      return;
    }
    const { sinceTick, errors, restarts } = current;
    current = null;
    const seconds = Math.round((performance.now() - sinceTick) / 100) / 10;
    watched.log.warn({ event: 'database.back', seconds, errors, restarts }, 'PostgreSQL is back');
  };

  return {
    absorbs(error, level) {
      if (watched === null || !isDatabaseAway(error)) return false;
      // A line that something works again names the error it waited for, and ends nothing.
      if (level < WARN) return true;
      if (level > ERROR) return false;
      begin(error);
      return true;
    },
    begin,
    countRestart() {
      if (current !== null) current.restarts++;
    },
    watch(log, isReachable) {
      watched = { log, isReachable };
    },
    close() {
      watched = null;
      clearTimeout(nextLook);
    },
  };
}
