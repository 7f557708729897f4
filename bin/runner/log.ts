import { type Logger, pino } from 'pino';
import type { Config } from '../config.ts';

/** JSON lines on stdout; `program` names the process in each. */
export function createLog(config: Config, program: string, destination = pino.destination({ sync: true })): Logger {
  const options = {
    level: config.logLevel,
    base: { program, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  return pino(options, destination);
}

interface ErrorDescription {
  type: string;
  message: string;
  code?: unknown;
  stack?: string | undefined;
  cause?: ErrorDescription;
}

/** What a log may show of an error: what libraries hang on theirs (whole connections, requests with their headers) stays out. */
function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.constructor.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
