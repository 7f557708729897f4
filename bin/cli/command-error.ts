import { harmless, toJson } from './output.ts';

/** Exit codes of `postroom`. */
export const EXIT = {
  ok: 0,
  /** the server or this machine refused what was asked for */
  failure: 1,
  /** invalid command line */
  usage: 2,
  /** `wait`: no email in time */
  timeout: 3,
  /** no key, an unknown key, or a key that may not do this */
  auth: 4,
  /** no such email, thread or endpoint */
  notFound: 5,
  /** the server cannot be reached, or is not ready */
  unavailable: 6,
} as const;

type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A problem that the user can fix. Its message, and the next step if there is one, are all that is printed. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: ExitCode;
  readonly next: string | null;
  /** the response of the server, for --json */
  readonly response: unknown;

  constructor(
    message: string,
    {
      exitCode = EXIT.failure,
      next = null,
      response,
    }: { exitCode?: ExitCode; next?: string | null; response?: unknown } = {},
  ) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
    this.response = response;
  }
}

/**
 * Prints an error to stderr, without a stack trace, and returns its exit code. With `isJson` it is one line of JSON:
 * `{"error":{"message","next","exit_code","response"}}`.
 */
export function reportError(error: unknown, { isJson }: { isJson: boolean }): number {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const known = error instanceof CommandError ? error : new CommandError(message);
  const { next, exitCode, response } = known;
  process.stderr.write(
    isJson
      ? `${toJson({ error: { message, next, exit_code: exitCode, response } })}\n`
      : harmless(`${message}\n${next === null ? '' : `${next}\n`}`),
  );
  return exitCode;
}
