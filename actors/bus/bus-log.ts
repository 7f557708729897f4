import type { Logger } from 'pino';

/** The part of a log that the transports need, in pino's shape, so that Haraka's child processes can pass their own. */
export type BusLog = Pick<Logger, 'info' | 'warn' | 'error'>;
