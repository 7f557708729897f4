import type { Logger } from 'pino';
import { isUnreachable } from '../../db/errors.ts';
import { OUTAGE_EVENT } from './monitoring/log.ts';

/** Logs an outage of PostgreSQL as two lines, its start and its end, however many requests fail. */
export interface DatabaseOutage {
  /**
   * Returns whether a log record with this error only repeats that PostgreSQL is unreachable. The first such error of level warn or above
   * starts an outage and is logged.
   */
  absorbs(error: unknown, level: number): boolean;
  /** Starts an outage that was noticed by other means. Does nothing during one. */
  begin(error: Error): void;
  /** Counts a restart of PostgreSQL, which the last line of the outage reports. */
  countRestart(): void;
  /** Starts recognizing outages. `isReachable` returns whether PostgreSQL responds, and never rejects. */
  watch(log: Logger, isReachable: () => Promise<boolean>): void;
  /** Stops recognizing outages. */
  close(): void;
}

/**
 * An outage ends when PostgreSQL responds and no error came for this long, so that one that fails every second request counts as one.
 * Milliseconds.
 */
const QUIET_MS = 1_000;

/** Levels of pino. */
const WARN = 40;
const ERROR = 50;

/** `isReporting: false`: another process of the machine logs the two lines, and this one logs them at debug level. */
export function createDatabaseOutage({ isReporting = true } = {}): DatabaseOutage {
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
    watched.log[isReporting ? 'error' : 'debug'](
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
    watched.log[isReporting ? 'warn' : 'debug'](
      { event: 'database.back', seconds, errors, restarts },
      'PostgreSQL is back',
    );
  };

  return {
    absorbs(error, level) {
      if (watched === null || !isUnreachable(error)) return false;
      // A line that reports a recovery names the error it waited for, and is not a new error.
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
