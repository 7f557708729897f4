import { z } from 'zod';
import { BusRemoteError, BusTimeout, BusUnavailable } from '../../schema/messages.ts';

/** How an asker is told that its question failed. */
export const failure = z.object({ kind: z.enum(['timeout', 'unavailable', 'remote']), message: z.string() });
export type Failure = z.infer<typeof failure>;

/** What is told of the error: its message and, of its kind, what the asker can act upon. */
export function describeFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BusTimeout) return { kind: 'timeout', message };
  if (error instanceof BusUnavailable) return { kind: 'unavailable', message };
  return { kind: 'remote', message };
}

/** The error that a failure tells of: BusTimeout, BusUnavailable or BusRemoteError. */
export function failureError({ kind, message }: Failure): Error {
  switch (kind) {
    case 'timeout':
      return new BusTimeout(message);
    case 'unavailable':
      return new BusUnavailable(message);
    case 'remote':
      return new BusRemoteError(message);
  }
}
