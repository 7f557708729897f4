import { useCallback, useEffect, useState } from 'react';
import type { AuthOutcome, AuthProblem } from '../sign-in/auth-calls.ts';

/** Response of a call to `/api/auth`, while the component is mounted. */
export interface Asked<Answer> {
  /** undefined while loading */
  answer: Answer | undefined;
  problem: AuthProblem | null;
  askAgain: () => Promise<void>;
}

/** Calls `ask` immediately, and again on request. `ask` must be the same function each time. */
export function useAsked<Answer>(ask: () => Promise<AuthOutcome<Answer>>): Asked<Answer> {
  const [state, setState] = useState<{ answer: Answer | undefined; problem: AuthProblem | null }>({
    answer: undefined,
    problem: null,
  });
  const askAgain = useCallback(async () => {
    const { answer, problem } = await ask();
    setState((before) => (problem === null ? { answer, problem } : { answer: before.answer, problem }));
  }, [ask]);
  useEffect(() => void askAgain(), [askAgain]);
  return { ...state, askAgain };
}
