import { finishInTurns, type Steps } from '../../core/shared/steps.ts';
import { createTurns } from '../../core/shared/turns.ts';

/** All payloads of the process: however many are built, one of those that take long goes on at a time. */
const turns = createTurns();

/** Returns a payload of an account that is built step by step, while other requests go on. */
export function buildInTurns<Payload>(workspaceId: string, steps: Steps<Payload>): Promise<Payload> {
  return finishInTurns(turns, workspaceId, steps);
}
