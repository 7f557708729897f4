import { useCallback, useEffect, useState } from 'react';
import {
  type AuthProblem,
  auth,
  type ConnectQuestion,
  type ConnectRequest,
  type OwnWorkspace,
} from '../sign-in/auth-calls.ts';

/** What a page knows about a request of a program. */
export type Shown =
  | { state: 'loading' | 'signed-out' }
  | { state: 'refused'; problem: AuthProblem }
  | { state: 'redirected'; location: string }
  | { state: 'asked'; question: ConnectQuestion; email: string; workspaces: readonly OwnWorkspace[] };

/** Reads what a program asks for, in the active workspace. `asked` null: nothing is asked yet. It must be the same object each time. */
export function useQuestion(asked: ConnectRequest | null): { shown: Shown; readAgain: () => Promise<void> } {
  const [shown, setShown] = useState<Shown>({ state: 'loading' });
  const readAgain = useCallback(async () => {
    setShown(asked === null ? await readSession() : await readQuestion(asked));
  }, [asked]);
  useEffect(() => void readAgain(), [readAgain]);
  return { shown, readAgain };
}

async function readSession(): Promise<Shown> {
  const { answer, problem } = await auth.session();
  if (problem !== null) return { state: 'refused', problem };
  return { state: answer === null ? 'signed-out' : 'loading' };
}

async function readQuestion(asked: ConnectRequest): Promise<Shown> {
  const session = await auth.session();
  if (session.problem !== null) return { state: 'refused', problem: session.problem };
  if (session.answer === null) return { state: 'signed-out' };
  const [request, workspaces] = await Promise.all([auth.connectRequest(asked), auth.workspaces()]);
  const problem = request.problem ?? workspaces.problem;
  if (problem !== null) return { state: 'refused', problem };
  if (request.answer === null || workspaces.answer === null) return { state: 'loading' };
  if ('location' in request.answer) return { state: 'redirected', location: request.answer.location };
  const { question } = request.answer;
  return {
    state: 'asked',
    question,
    email: session.answer.user.email,
    workspaces: workspaces.answer.workspaces,
  };
}
