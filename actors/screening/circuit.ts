/** How long a scanner is not asked after it failed; milliseconds. */
const PAUSE_MS = 5_000;
/** Failures in a row after which a scanner that takes connections counts as away: one message may be more than it can do. */
const MAX_FAILURES = 3;

/** A scanner did not respond, or not in a form that we understand. */
export class ScannerAway extends Error {
  override name = 'ScannerAway';
}

/**
 * Asks a scanner that may be away. States: *closed*: each question is asked. *open*: for some seconds after it refused a connection, or
 * failed a few times in a row, none is asked, so that mail does not wait for the time limit of each. *trying*: one question is asked, and
 * the others fail until it has succeeded.
 */
export interface Circuit {
  /** Throws ScannerAway when the question failed, or was not asked. */
  ask<T>(question: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** whether the next question is asked */
  isClosed(): boolean;
}

export interface CircuitOptions {
  /** time limit of a question; milliseconds */
  limitMs: number;
  /** PAUSE_MS by default */
  pauseMs?: number;
  /** called when the state changes */
  onChange: (isAway: boolean, reason: string) => void;
}

export function createCircuit({ limitMs, pauseMs = PAUSE_MS, onChange }: CircuitOptions): Circuit {
  let openUntil: number | null = null;
  let isTrying = false;
  let failures = 0;

  const fail = (cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    failures++;
    const wasClosed = openUntil === null;
    if (!wasClosed || isUnreachable(cause) || failures >= MAX_FAILURES) openUntil = performance.now() + pauseMs;
    if (wasClosed && openUntil !== null) onChange(true, reason);
    throw new ScannerAway(reason, { cause });
  };

  return {
    isClosed: () => openUntil === null,
    async ask(question) {
      const isTrial = openUntil !== null;
      if (openUntil !== null && (isTrying || performance.now() < openUntil))
        throw new ScannerAway('it failed a moment ago and is not asked again yet');
      if (isTrial) isTrying = true;
      const limit = AbortSignal.timeout(limitMs);
      try {
        const reply = await question(limit);
        failures = 0;
        if (openUntil !== null) {
          openUntil = null;
          onChange(false, '');
        }
        return reply;
      } catch (error) {
        return fail(limit.aborted ? new Error(`it did not respond within ${limitMs / 1_000} s`) : error);
      } finally {
        if (isTrial) isTrying = false;
      }
    },
  };
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EACCES',
]);

function isUnreachable(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && UNREACHABLE.has(cause.code);
}
