import { type DestinationStream, type LogFn, type Logger, pino } from 'pino';
import type { Config } from '../../config.ts';
import { openPrettyLog } from './pretty-log.ts';
import { readSourceStack } from './source-stack.ts';

/** The part of a DatabaseOutage that the log uses. */
interface Outage {
  absorbs(error: unknown, level: number): boolean;
}

/** Event of the record that reports the start of an outage. */
export const OUTAGE_EVENT = 'database.away';

export interface LogOptions {
  destination?: DestinationStream;
  /** Logs records whose `err` belongs to an outage of PostgreSQL at debug level, because the outage has its own two lines. */
  outage?: Outage;
}

/**
 * Logs to stdout: for a person if it is a terminal, or LOG_FORMAT says so; otherwise JSON lines, in each of which `program` names the
 * process.
 */
export function createLog(
  config: Pick<Config, 'logLevel' | 'isLogLevelChosen' | 'logFormat'>,
  program: string,
  { destination = pino.destination({ sync: true }), outage }: LogOptions = {},
): Logger {
  const isPretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && process.stdout.isTTY);
  const options = {
    level: config.logLevel,
    base: { program, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    ...(outage === undefined ? {} : { hooks: { logMethod: absorbing(outage) } }),
  };
  if (!isPretty) return pino(options, destination);
  return pino(options, openPrettyLog(destination, { isQuiet: !config.isLogLevelChosen }));
}

function absorbing(outage: Outage) {
  return function log(this: Logger, words: Parameters<LogFn>, method: LogFn, level: number): void {
    const [record] = words as unknown[];
    const { err, event } = (typeof record === 'object' && record !== null ? record : {}) as Record<string, unknown>;
    const isRepeated = level > DEBUG && event !== OUTAGE_EVENT && outage.absorbs(err, level);
    if (isRepeated) this.debug(...words);
    else method.apply(this, words);
  };
}

/** Levels of pino. */
const DEBUG = 20;

interface ErrorDescription {
  type: string;
  message: string;
  code?: unknown;
  stack?: string | undefined;
  cause?: ErrorDescription;
}

/**
 * Returns the fields of an error to log. The objects that libraries attach to theirs (connections, requests with their headers) are left
 * out.
 */
function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.constructor.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack === undefined ? undefined : readSourceStack(error.stack),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
