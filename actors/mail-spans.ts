import type { Attributes, SpanKind } from '@opentelemetry/api';
import type { Database } from '../db/connection/database.ts';
import { type EmailKey, readTraceParents } from '../db/queries/emails/email-trace.ts';
import { beginSpan, failSpan, isTracing } from './bus/tracing.ts';

/** A step of work on emails, and its result. */
export interface MailStage {
  name: string;
  kind?: SpanKind;
  /** start on performance.now(); it ends when it is noted */
  startedTick: number;
  attributes?: Attributes;
  /** a word or code for the failure, never text of users or servers; absent or null on success */
  error?: string | null;
}

interface Noted extends EmailKey {
  stage: MailStage;
  startedAt: number;
  endedAt: number;
}

interface Notes {
  waiting: Noted[];
  timer: NodeJS.Timeout | undefined;
}

/** Milliseconds that a note waits for others. */
const GATHER_MS = 100;
/** Notes that are looked up together, and the maximum that waits; further spans are dropped. */
const BATCH_NOTES = 500;
const MAX_NOTES = 10_000;

const notesOf = new WeakMap<Database, Notes>();

/**
 * Records that this was done to each of these emails, below the span that accepted it, in whatever process and however long ago. Emails
 * whose trace is not recorded are skipped. Costs nothing without tracing, and one lookup for many emails with it. No work waits for it; if
 * the lookup fails, the spans are lost.
 */
export function noteStage(database: Database, emails: readonly EmailKey[], stage: MailStage): void {
  if (!isTracing() || emails.length === 0) return;
  const notes = notesOf.get(database) ?? { waiting: [], timer: undefined };
  notesOf.set(database, notes);
  const endedAt = Date.now();
  const startedAt = endedAt - (performance.now() - stage.startedTick);
  if (notes.waiting.length >= MAX_NOTES) return;
  for (const { workspaceId, emailId } of emails)
    notes.waiting.push({ workspaceId, emailId, stage, startedAt, endedAt });
  if (notes.waiting.length >= BATCH_NOTES) void recordNoted(database);
  else notes.timer ??= setTimeout(() => void recordNoted(database), GATHER_MS);
}

/** Records the noted spans. Never rejects. */
export async function recordNoted(database: Database): Promise<void> {
  const notes = notesOf.get(database);
  if (notes === undefined) return;
  clearTimeout(notes.timer);
  notes.timer = undefined;
  while (notes.waiting.length > 0) await record(database, notes.waiting.splice(0, BATCH_NOTES));
}

async function record(database: Database, noted: readonly Noted[]): Promise<void> {
  const emails = [...new Map(noted.map((note) => [note.emailId, note])).values()];
  // PostgreSQL is unreachable, which is logged elsewhere.
  const parents = await readTraceParents(database, emails).catch(() => new Map<string, string>());
  for (const { emailId, stage, startedAt, endedAt } of noted) {
    const parent = parents.get(emailId);
    if (parent === undefined) continue;
    const { name, kind, attributes, error } = stage;
    const span = beginSpan(
      name,
      {
        ...(kind === undefined ? {} : { kind }),
        attributes: { 'postroom.email.id': emailId, ...attributes },
        startTime: startedAt,
      },
      parent,
    );
    if (error != null) failSpan(span, error);
    span?.end(endedAt);
  }
}
