import { useState } from 'react';
import { type TypedDocumentNode, useClient } from 'urql';
import { reportSession } from '../client.ts';
import { confirmed } from './confirm-sign-in.ts';
import { notify } from './notify.tsx';
import { askForRefusal } from './refusal.ts';

/** Why a mutation failed. */
export interface Problem {
  /** text for the user */
  message: string;
  /** error code, such as DOMAIN_ALREADY_REGISTERED; null: none */
  code: string | null;
  /** type of the error, such as `ValidationError`; `Network` and `Service` for errors outside GraphQL */
  type: string;
  /** messages by invalid field */
  fields: Record<string, string>;
  /** of a conflict, if the document asks for them */
  details?: Record<string, unknown> | undefined;
}

/** Returns whether the problem is one of the service or of the way to it, and passes: what was asked may have been done or not. */
export function passes({ type, code }: Problem): boolean {
  return type === 'Network' || (type === 'Service' && (code === null || PASSING.includes(code)));
}
const PASSING = ['application_error', 'internal_server_error', 'rate_limit_exceeded'];

export type Outcome<Payload> = { payload: Payload; problem: null } | { payload: null; problem: Problem };

/** The members of a mutation's union that are not errors. */
type Payload<Result> = Extract<Result, { __typename: `${string}Payload` }>;
/** What a mutation returns unless it fails, by the result of its document. */
export type PayloadOf<Data> = Data extends Record<string, infer Result> ? Payload<Result> : never;

/**
 * Runs mutations of one root field whose document asks for `__typename` and for its payload. What an error says is asked for here. `done` is a
 * notice after success, and `onDone` is called with the payload. With `quiet` the caller shows the `problem` of the last run; otherwise a notice
 * does.
 */
export function useAct<Data, Input>(
  mutation: TypedDocumentNode<Data, { input: Input }>,
  options: { quiet?: boolean; done?: string; onDone?: ((payload: PayloadOf<Data>) => void) | undefined } = {},
): { act: (input: Input) => Promise<Outcome<PayloadOf<Data>>>; isBusy: boolean; problem: Problem | null } {
  const client = useClient();
  const [isBusy, setBusy] = useState(false);
  const [last, setLast] = useState<Problem | null>(null);
  const act = async (input: Input): Promise<Outcome<PayloadOf<Data>>> => {
    setBusy(true);
    const { result, problem } = await confirmed(async () => {
      const { data, error } = await client.mutation(askForRefusal(mutation), { input }).toPromise();
      const given = data ? (Object.values(data as object)[0] as Record<string, unknown> | null) : null;
      return { result: given, problem: error ? describeError(error) : unionProblem(given) };
    });
    setBusy(false);
    setLast(problem);
    if (problem === null) {
      if (options.done !== undefined) notify({ message: options.done, color: 'green' });
      options.onDone?.(result as PayloadOf<Data>);
      return { payload: result as PayloadOf<Data>, problem: null };
    }
    reportSession(undefined, [problem.code]);
    if (options.quiet !== true) notify({ title: 'The action failed', message: problem.message, color: 'red' });
    return { payload: null, problem };
  };
  return { act, isBusy, problem: last };
}

function unionProblem(result: Record<string, unknown> | null): Problem | null {
  if (result === null)
    return { message: 'The service did not respond. Try again.', code: null, type: 'Service', fields: {} };
  const { message, code, fields, details, __typename: type } = result;
  // A payload may have a message of its own.
  if (typeof message !== 'string' || String(type).endsWith('Payload')) return null;
  return {
    message,
    code: typeof code === 'string' ? code : null,
    type: String(type),
    details: typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : undefined,
    fields: Object.fromEntries(
      (Array.isArray(fields) ? fields : []).map(({ path, message: why }: { path: string[]; message: string }) => [
        [path].flat().at(-1) ?? '',
        why,
      ]),
    ),
  };
}

/** Returns the problem for an error of the whole response. */
export function describeError(error: {
  message: string;
  networkError?: Error;
  response?: unknown;
  graphQLErrors?: readonly { message: string; extensions?: { [name: string]: unknown } }[];
}): Problem {
  const told = error.graphQLErrors?.[0];
  const status = (error.response as Response | undefined)?.status;
  const code = told?.extensions?.['code'];
  const problem = { code: typeof code === 'string' ? code : null, type: 'Service', fields: {} };
  if (told !== undefined) return { ...problem, message: told.message };
  if (status === 429) return { ...problem, message: 'Too many requests at once. Wait a moment and try again.' };
  const message = 'Postroom is unreachable. Check your connection, and that it is running.';
  return { ...problem, type: 'Network', message };
}
