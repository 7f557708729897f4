import type { Logger } from 'pino';

/** What the transports need of a log: pino's shape, so that Haraka's child processes can give their own. */
export type BusLog = Pick<Logger, 'info' | 'warn' | 'error'>;
