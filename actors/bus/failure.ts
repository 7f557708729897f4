import { z } from 'zod';
import { BusRemoteError, BusTimeout, BusUnavailable } from '../../schema/messages.ts';

/** How an asker learns that its question failed. */
export const failure = z.object({ kind: z.enum(['timeout', 'unavailable', 'remote']), message: z.string() });
export type Failure = z.infer<typeof failure>;

/** Describes an error to the asker: its message, and its kind where the asker can act on it. */
export function describeFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BusTimeout) return { kind: 'timeout', message };
  if (error instanceof BusUnavailable) return { kind: 'unavailable', message };
  return { kind: 'remote', message };
}

/** Returns the error that a failure describes: BusTimeout, BusUnavailable or BusRemoteError. */
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
