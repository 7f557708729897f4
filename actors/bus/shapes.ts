import {
  type Broadcast,
  type BroadcastSubject,
  BusRemoteError,
  broadcasts,
  type QuestionSubject,
  questions,
  type Reply,
  type Request,
  type Wake,
  type WakeSubject,
  wakes,
} from '../../schema/messages.ts';

/**
 * Parses a request by the schema of its subject; unknown keys are removed. Throws BusRemoteError that names the invalid fields, never their
 * values.
 */
export function checkRequest<S extends QuestionSubject>(subject: S, request: unknown): Request<S> {
  const parsed = questions[subject].request.safeParse(request);
  if (!parsed.success) throw new BusRemoteError(`malformed request of ${subject}: ${fields(parsed.error.issues)}`);
  return parsed.data as Request<S>;
}

/** Parses a reply by the schema of its subject. Throws BusRemoteError as checkRequest does. */
export function checkReply<S extends QuestionSubject>(subject: S, reply: unknown): Reply<S> {
  const parsed = questions[subject].reply.safeParse(reply);
  if (!parsed.success) throw new BusRemoteError(`malformed reply of ${subject}: ${fields(parsed.error.issues)}`);
  return parsed.data as Reply<S>;
}

/** Parses a wake by the schema of its subject; null when it is invalid. */
export function checkWake<S extends WakeSubject>(subject: S, message: unknown): Wake<S> | null {
  const parsed = wakes[subject].safeParse(message);
  return parsed.success ? (parsed.data as Wake<S>) : null;
}

/** Parses a broadcast by the schema of its subject; null when it is invalid. */
export function checkBroadcast<S extends BroadcastSubject>(subject: S, message: unknown): Broadcast<S> | null {
  const parsed = broadcasts[subject].safeParse(message);
  return parsed.success ? (parsed.data as Broadcast<S>) : null;
}

export function isQuestion(subject: string): subject is QuestionSubject {
  return Object.hasOwn(questions, subject);
}

export function isWake(subject: string): subject is WakeSubject {
  return Object.hasOwn(wakes, subject);
}

export function isBroadcast(subject: string): subject is BroadcastSubject {
  return Object.hasOwn(broadcasts, subject);
}

function fields(issues: readonly { path: readonly PropertyKey[]; code?: string }[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || '(whole)'} ${issue.code ?? ''}`.trim())
    .join(', ');
}
