import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { auditText, type Origin } from '../../core/accounts/audit.ts';
import { NO_RIGHTS } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { type AuditNote, storeAuditNotes } from '../../db/queries/accounts/audit-entry.ts';
import { gatewayMetrics } from '../../schema/metrics.ts';

/** Gathers what changes nothing and yet belongs into the audit log: refused requests. */
export interface AuditNotes {
  /** Notes an error that refuses a request for lack of rights; ignores all others. `what` names the route, field or tool. */
  noteRefusal(subject: AuditSubject, what: string, error: unknown): void;
  /** Writes what is in memory, and resolves when it is stored or dropped. */
  flush(): Promise<void>;
  /** Stops the timer, and writes what is in memory. */
  close(): Promise<void>;
}

/** The account of a request, and who makes it. */
export interface AuditSubject {
  userId: string;
  /** absent: nothing was admitted */
  origin?: Origin | undefined;
}

export interface AuditNotesOptions {
  database: Database;
  log: Logger;
  now: () => Date;
}

/** Interval of writes, which a kill of the process may lose. Milliseconds. */
const FLUSH_INTERVAL_MS = 1_000;
/** The same, refused again within this time, is counted and stored once when the time is over. Milliseconds. */
const REPEATS_MS = 300_000;
/** Different refusals of one account in memory. All further ones are counted as one. @limit */
export const DIFFERENT_REFUSALS = 100;
/** Refusals in memory. More of them are not stored. @limit */
const HELD_REFUSALS = 20_000;
/** Characters. */
const MAX_REASON_LENGTH = 300;
const OTHER_REQUESTS = '(other requests)';

/** A note in memory, which stays there for a while after it is stored, to count the same again. */
interface Held extends AuditNote {
  /** when it began, on performance.now() */
  since: number;
  /** whether the first of its kind is stored */
  isStored: boolean;
}

/**
 * Stores refused requests in batches: the first of its kind within a second, the same again within five minutes as one entry with their
 * number. So a client that repeats a refused request fills neither memory nor disk. Call it before the routes are registered.
 */
export function gatherAuditNotes(app: FastifyInstance, { database, log, now }: AuditNotesOptions): AuditNotes {
  const held = new Map<string, Held>();
  const counts = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();

  function noteRefusal({ userId, origin }: AuditSubject, what: string, error: unknown): void {
    if (!(error instanceof UserError) || error.code !== 'forbidden' || userId === '' || origin === undefined) return;
    const reason = error.message.slice(0, MAX_REASON_LENGTH);
    const who = `${userId} ${origin.kind} ${origin.id}`;
    const isKnown = held.has(`${who} ${what} ${reason}`);
    const hasRoom = isKnown || (counts.get(userId) ?? 0) < DIFFERENT_REFUSALS;
    const objectName = hasRoom ? what : OTHER_REQUESTS;
    const key = hasRoom ? `${who} ${what} ${reason}` : `${who} ${OTHER_REQUESTS}`;
    const note = held.get(key);
    const { address, agent, request } = origin;
    const last = { at: now(), address, agent, request };
    if (note !== undefined) {
      Object.assign(note, last, { times: note.times + 1 });
      return;
    }
    if (held.size >= HELD_REFUSALS) {
      gatewayMetrics.auditNotesDropped.inc({ reason: 'full' });
      return;
    }
    counts.set(userId, (counts.get(userId) ?? 0) + 1);
    held.set(key, {
      userId,
      ...last,
      actorKind: origin.kind,
      actorId: origin.id,
      action: 'request.denied',
      objectKind: 'request',
      objectId: null,
      objectName,
      isDenied: true,
      reason: hasRoom ? reason : null,
      times: 1,
      since: performance.now(),
      isStored: false,
    });
  }

  /** Takes what is to be stored now: what is new, and repeats whose time is over, or all of them. */
  function take(takesAll: boolean): AuditNote[] {
    const taken: AuditNote[] = [];
    for (const [key, note] of held) {
      const isOver = performance.now() - note.since >= REPEATS_MS;
      const { since: _since, isStored, ...entry } = note;
      if (note.times > 0 && (!isStored || isOver || takesAll)) {
        taken.push(entry);
        note.isStored = true;
        note.times = 0;
      }
      if (!isOver) continue;
      held.delete(key);
      const rest = (counts.get(note.userId) ?? 1) - 1;
      if (rest === 0) counts.delete(note.userId);
      else counts.set(note.userId, rest);
    }
    return taken;
  }

  async function write(notes: readonly AuditNote[]): Promise<void> {
    if (notes.length === 0) return;
    try {
      await storeAuditNotes(database, notes);
    } catch (error) {
      gatewayMetrics.auditNotesDropped.inc({ reason: 'database' }, notes.length);
      log.warn({ err: error, notes: notes.length }, 'failed to store refused requests in the audit log');
    }
  }

  const flush = (takesAll: boolean) => {
    writing = writing.then(() => write(take(takesAll)));
    return writing;
  };
  let isWriting = false;
  const timer = setInterval(() => {
    if (isWriting || held.size === 0) return;
    isWriting = true;
    void flush(false).then(() => {
      isWriting = false;
    });
  }, FLUSH_INTERVAL_MS).unref();

  app.addHook('onError', (request, _reply, error, done) => {
    noteRefusal(
      { userId: request.userId, origin: readOrigin(request) },
      `${request.method} ${request.routeOptions.url ?? ''}`,
      error,
    );
    done();
  });

  return {
    noteRefusal,
    flush: () => flush(true),
    close() {
      clearInterval(timer);
      return flush(true);
    },
  };
}

/** Returns who makes a request, and from where, as it was admitted. */
export function readOrigin(request: FastifyRequest): Origin {
  const { keyId } = request.rights ?? NO_RIGHTS;
  const agent = request.headers['user-agent'];
  const isPerson = request.caller?.via === 'session';
  return {
    kind: keyId !== null ? 'key' : isPerson ? 'person' : 'link',
    id: keyId ?? (isPerson ? request.userId : null),
    address: request.ip,
    agent: agent === undefined ? null : auditText(agent),
    request: request.id,
  };
}
