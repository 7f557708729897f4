import type { Connection } from 'haraka/connection.js';
import constants from 'haraka-constants';
import type { Logger } from 'pino';
import { BusRemoteError } from '../../../schema/messages.ts';
import { smtpMetrics } from '../../../schema/metrics.ts';

/**
 * The decision of a hook. `reply`: send this SMTP reply. `close`: send this reply, then end the connection. `pass`: no decision, Haraka
 * continues.
 */
export type Decision = { kind: 'reply' | 'close'; code: number; text: string } | { kind: 'pass' };

/** A reply (RFC 5321 §4.2); the text begins with its enhanced code (RFC 3463). */
export function reply(code: number, text: string): Decision {
  return { kind: 'reply', code, text };
}

/** A reply after which the connection ends. */
export function close(code: number, text: string): Decision {
  return { kind: 'close', code, text };
}

export const pass: Decision = { kind: 'pass' };

/** An internal fault, not one of the mail: the client retries later. */
export const trouble: Decision = reply(451, '4.3.0 Temporary trouble, please try again later');

/**
 * A reply in the only shape from which Haraka takes the code as well: it checks the name of the class (`Connection.respond`), so the name
 * must stay.
 */
export class DSN {
  readonly code: number;
  readonly reply: string;

  constructor(code: number, text: string) {
    this.code = code;
    this.reply = text;
  }
}

/** Haraka's continuation of a hook. */
export type Next = (verdict?: number, message?: unknown) => void;

/** Decides at once or later; an error becomes a temporary failure. */
export type Decide<P> = (connection: Connection, params: P) => Decision | Promise<Decision>;

/**
 * Returns a Haraka hook that always replies. A throw, a rejection or a timeout (milliseconds) becomes 451 4.3.0, logged once. Haraka itself
 * would reply 550 to a throw at RCPT, end the process on a rejected promise, and reply 450 on a timeout while the work continues.
 */
export function decideHook<P>(
  name: string,
  limitMs: number,
  decide: Decide<P>,
  log: () => Logger,
): (next: Next, connection: Connection, params: P) => void {
  return (next, connection, params) => {
    let isSent = false;
    const finish = (decision: Decision): void => {
      if (isSent) return;
      isSent = true;
      if (decision.kind !== 'pass') smtpMetrics.replies.inc({ stage: readStage(name), code: decision.code });
      try {
        next(verdict(decision), decision.kind === 'pass' ? undefined : new DSN(decision.code, decision.text));
      } catch (error) {
        // The session is in an unknown state: it ends, the others continue.
        log().error({ event: 'smtp.reply-failed', hook: name, session: connection.uuid, err: error });
        connection.client.destroy();
      }
    };
    const fail = (error: unknown): void => {
      if (isSent) return;
      // The actor has logged its own error.
      const level = error instanceof BusRemoteError ? 'debug' : 'warn';
      log()[level]({ event: 'smtp.trouble', hook: name, session: connection.uuid, err: error });
      finish(trouble);
    };
    try {
      const decision = decide(connection, params);
      if (!(decision instanceof Promise)) return finish(decision);
      const timer = setTimeout(() => fail(new Error(`no decision within ${limitMs} ms`)), limitMs);
      decision.then(finish, fail).finally(() => clearTimeout(timer));
    } catch (error) {
      fail(error);
    }
  };
}

/** Haraka's hook names, in the words of RFC 5321. */
function readStage(hook: string): string {
  if (hook === 'queue') return 'message';
  return hook === 'unrecognized_command' ? 'starttls' : hook;
}

function verdict(decision: Decision): number {
  if (decision.kind === 'pass') return constants.cont;
  if (decision.code < 400) return constants.ok;
  if (decision.code < 500) return decision.kind === 'close' ? constants.denysoftdisconnect : constants.denysoft;
  return decision.kind === 'close' ? constants.denydisconnect : constants.deny;
}
