import type { ActorContext } from '../actor.ts';
import { setAside } from '../set-aside.ts';
import type { AttemptResult, SendingJob } from './job.ts';

const NOWHERE = { isReply: false, code: null, host: null, remoteAddress: null, isTls: null, returnId: null } as const;

/** What is reported of a fault of ours, over which each recipient is set aside; it does not stop the others. */
export async function ownFault(
  context: ActorContext,
  jobs: readonly SendingJob[],
  text: string,
  error: unknown = new Error(text),
): Promise<{ results: AttemptResult[]; verdict: 'refused'; isUnopened: boolean }> {
  const results = jobs.map(async (job) => {
    const fault = { userId: job.userId, step: 'send', subjectId: job.recipientId, error } as const;
    const { retrySeconds } = await setAside(context, fault);
    return { job, ...NOWHERE, outcome: 'deferred', status: '4.3.0', text, faultRetrySeconds: retrySeconds } as const;
  });
  return { results: await Promise.all(results), verdict: 'refused', isUnopened: false };
}
