import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { auditText, type Origin } from '../../core/accounts/audit.ts';
import { NO_RIGHTS } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { type AuditNote, storeAuditNotes } from '../../db/queries/accounts/audit-entry.ts';
import { gatewayMetrics } from '../../schema/metrics.ts';

/** Gathers what changes nothing and yet belongs into the audit log: refused requests, and reads of mail. */
export interface AuditNotes {
  /** Notes an error that refuses a request for lack of rights; ignores all others. `what` names the route, field or tool. */
  noteRefusal(subject: AuditSubject, what: string, error: unknown): void;
  /** Notes that the contents of these emails were read, if reads are audited. */
  noteReads(subject: AuditSubject, emailIds: readonly string[]): void;
  /** Writes what is in memory, and resolves when it is stored or dropped. */
  flush(): Promise<void>;
  /** Stops the timer, and writes what is in memory. */
  close(): Promise<void>;
}

/** The account of a request, and who makes it. */
interface AuditSubject {
  workspaceId: string;
  /** absent: nothing was admitted */
  origin?: Origin | undefined;
}

export interface AuditNotesOptions {
  database: Database;
  log: Logger;
  now: () => Date;
  /** whether reads are audited */
  withReads: boolean;
}

/** Interval of writes, which a kill of the process may lose. Milliseconds. */
const FLUSH_INTERVAL_MS = 1_000;
/** The same, refused again within this time, is counted and stored once when the time is over. Milliseconds. */
const REPEATS_MS = 300_000;
/** Different refusals of one account in memory. All further ones are counted as one. @limit */
export const DIFFERENT_REFUSALS = 100;
/** Notes in memory, also while PostgreSQL is unreachable. More of them are not stored. @limit */
const HELD_NOTES = 20_000;
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
 * number. So a client that repeats a refused request fills neither memory nor disk. Reads of mail follow about once a second. Call it before
 * the routes are registered.
 */
export function gatherAuditNotes(
  app: FastifyInstance,
  { database, log, now, withReads }: AuditNotesOptions,
): AuditNotes {
  const held = new Map<string, Held>();
  const reads = new Map<string, AuditNote>();
  const counts = new Map<string, number>();
  /** what PostgreSQL did not take; written again with the next notes */
  let unstored: AuditNote[] = [];
  let writing: Promise<void> = Promise.resolve();

  function noteRefusal({ workspaceId, origin }: AuditSubject, what: string, error: unknown): void {
    if (!(error instanceof UserError) || error.code !== 'forbidden' || workspaceId === '' || origin === undefined)
      return;
    const reason = error.message.slice(0, MAX_REASON_LENGTH);
    const who = `${workspaceId} ${origin.kind} ${origin.id}`;
    const isKnown = held.has(`${who} ${what} ${reason}`);
    const hasRoom = isKnown || (counts.get(workspaceId) ?? 0) < DIFFERENT_REFUSALS;
    const objectName = hasRoom ? what : OTHER_REQUESTS;
    const key = hasRoom ? `${who} ${what} ${reason}` : `${who} ${OTHER_REQUESTS}`;
    const note = held.get(key);
    const { address, agent, request } = origin;
    const last = { at: now(), address, agent, request };
    if (note !== undefined) {
      Object.assign(note, last, { times: note.times + 1 });
      return;
    }
    if (held.size >= HELD_NOTES) {
      gatewayMetrics.auditNotesDropped.inc({ reason: 'full' });
      return;
    }
    counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
    held.set(key, {
      workspaceId,
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

  function noteReads({ workspaceId, origin }: AuditSubject, emailIds: readonly string[]): void {
    if (!withReads || workspaceId === '' || origin === undefined) return;
    const { kind, id, address, agent, request } = origin;
    for (const emailId of emailIds) {
      const key = `${workspaceId} ${kind} ${id} ${emailId}`;
      const note = reads.get(key);
      const last = { at: now(), address, agent, request };
      if (note !== undefined) Object.assign(note, last, { times: note.times + 1 });
      else if (reads.size >= HELD_NOTES) gatewayMetrics.auditNotesDropped.inc({ reason: 'full' });
      else
        reads.set(key, {
          workspaceId,
          ...last,
          actorKind: kind,
          actorId: id,
          action: 'email.read',
          objectKind: 'email',
          objectId: emailId,
          objectName: null,
          isDenied: false,
          reason: null,
          times: 1,
        });
    }
  }

  /** Takes what must be stored now: what is new, and repeats whose time is over, or all of them. */
  function take(takesAll: boolean): AuditNote[] {
    const taken: AuditNote[] = [...reads.values()];
    reads.clear();
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
      const rest = (counts.get(note.workspaceId) ?? 1) - 1;
      if (rest === 0) counts.delete(note.workspaceId);
      else counts.set(note.workspaceId, rest);
    }
    return taken;
  }

  async function write(notes: readonly AuditNote[]): Promise<void> {
    if (notes.length === 0) return;
    try {
      await storeAuditNotes(database, notes);
      unstored = [];
    } catch (error) {
      unstored = notes.slice(0, HELD_NOTES);
      const lost = notes.length - unstored.length;
      if (lost > 0) gatewayMetrics.auditNotesDropped.inc({ reason: 'database' }, lost);
      log.warn({ err: error, notes: notes.length, lost }, 'failed to store notes of the audit log');
    }
  }

  const flush = (takesAll: boolean) => {
    writing = writing.then(() => write([...unstored, ...take(takesAll)]));
    return writing;
  };
  let isWriting = false;
  const timer = setInterval(() => {
    if (isWriting || held.size + reads.size + unstored.length === 0) return;
    isWriting = true;
    void flush(false).then(() => {
      isWriting = false;
    });
  }, FLUSH_INTERVAL_MS).unref();

  app.addHook('onError', (request, _reply, error, done) => {
    noteRefusal(
      { workspaceId: request.workspaceId, origin: readOrigin(request) },
      `${request.method} ${request.routeOptions.url ?? ''}`,
      error,
    );
    done();
  });

  return {
    noteRefusal,
    noteReads,
    flush: () => flush(true),
    close() {
      clearInterval(timer);
      return flush(true);
    },
  };
}

/** Returns who makes a request, and from where, as it was admitted. */
export function readOrigin(request: FastifyRequest): Origin {
  const { keyId, personId } = request.rights ?? NO_RIGHTS;
  const agent = request.headers['user-agent'];
  const isPerson = request.caller?.via === 'session';
  return {
    kind: keyId !== null ? 'key' : isPerson ? 'person' : 'link',
    id: keyId ?? (isPerson ? personId : null),
    address: request.ip,
    agent: agent === undefined ? null : auditText(agent),
    request: request.id,
  };
}
