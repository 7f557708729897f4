import type pg from 'pg';
import type { FieldChange } from '../../core/mime/stored-differences.ts';
import { UserError, type UserErrorCode } from '../../core/shared/errors.ts';
import { lockPlaces } from '../../db/queries/threads/thread-move.ts';
import { applyDrafts, findManual } from '../../db/queries/threads/thread-rejoin.ts';
import type { Reply } from '../../schema/messages.ts';
import { emailNotFound, inTrash, invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { type ParsedDraft, previewReroute, rerouteEmail } from '../routing/reroute-email.ts';
import { askReceiving } from '../routing/simulated-transaction.ts';
import { rejoin } from '../threads/rejoin-email.ts';
import { type Changed, changeThreads } from '../threads/thread-transaction.ts';
import { loadEmails } from './emails.ts';

export const REPROCESS_STEPS = ['parse', 'thread', 'route'] as const;
export type ReprocessStep = (typeof REPROCESS_STEPS)[number];

export interface ReprocessInput {
  /** 1 to MAX_REPROCESSED */
  emailIds: readonly string[];
  /** at least one; run in the order of REPROCESS_STEPS */
  steps: readonly ReprocessStep[];
  /** dry: nothing is written, and the result shows what would change */
  mode: 'run' | 'dry';
}

/** A field whose value changed, or would change. */
interface ReprocessChange extends FieldChange {
  step: ReprocessStep;
}

/** The result of reprocessing one email, or the preview of it. */
export interface ReprocessedEmail {
  emailId: string;
  /** in the order of the steps */
  changes: ReprocessChange[];
  /** with step route: the endpoint it is routed to; null: none */
  endpointId: string | null;
  /** the delivery that was created; null: none */
  deliveryId: string | null;
  /** why a step failed; later steps were skipped, earlier ones were done */
  error: { code: UserErrorCode; message: string } | null;
}

/** Emails per call. */
export const MAX_REPROCESSED = 100;
/** The time limit of a request; milliseconds. */
export const REPROCESS_RESPONSE_MS = 60_000;
/** Emails parsed concurrently. */
const AT_ONCE = 4;
/** Time reserved at the end of the request; milliseconds. */
const SPARE_MS = 6_000;

interface Progress extends ReprocessedEmail {
  /** in a dry run: the new parse result; null: unchanged */
  draft: ParsedDraft | null;
}

/**
 * Parses, threads and routes stored emails again, with the current code and rules. Changes made by the user stay. A
 * failing email reports its error and does not stop the others. Throws validation.
 */
export async function reprocessEmails(context: OperationContext, input: ReprocessInput): Promise<ReprocessedEmail[]> {
  const emailIds = [...new Set(input.emailIds)];
  if (emailIds.length === 0 || emailIds.length > MAX_REPROCESSED)
    throw invalid(`Give 1 to ${MAX_REPROCESSED} emails`, 'emailIds');
  if (input.steps.length === 0) throw invalid(`Give at least one step: ${REPROCESS_STEPS.join(', ')}`, 'steps');
  const steps = new Set(input.steps);
  const emails = emailIds.map(
    (emailId): Progress => ({
      emailId,
      changes: [],
      endpointId: null,
      deliveryId: null,
      error: isValidId(emailId) ? null : { code: 'not_found', message: 'Email not found' },
      draft: null,
    }),
  );
  for (const [at, email] of (await loadEmails(context, emailIds)).entries())
    if (email?.trashedAt != null) stop(emails[at], inTrash('This email'));
  if (steps.has('parse')) await inTurns(emails, AT_ONCE, (email) => parseOne(context, email, input.mode));
  if (steps.has('thread')) await threadAll(context, emails, input.mode);
  if (steps.has('route')) await inTurns(emails, 1, (email) => routeOne(context, email, input.mode));
  return emails.map(({ emailId, changes, endpointId, deliveryId, error }) => ({
    emailId,
    changes,
    endpointId,
    deliveryId,
    error,
  }));
}

/** Runs the work for each email without an error, `atOnce` at a time. A UserError stops that email only. */
async function inTurns(
  emails: readonly Progress[],
  atOnce: number,
  work: (email: Progress) => Promise<void>,
): Promise<void> {
  const waiting = emails.filter(({ error }) => error === null);
  const next = async (): Promise<void> => {
    for (let email = waiting.shift(); email !== undefined; email = waiting.shift()) {
      try {
        await work(email);
      } catch (error) {
        stop(email, error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

function stop(email: Progress | undefined, error: unknown): void {
  if (!(error instanceof UserError) || email === undefined) throw error;
  email.error = { code: error.code, message: error.message };
}

function requireTime({ respondBy }: OperationContext): void {
  if (performance.now() > respondBy - SPARE_MS)
    throw new UserError('unavailable', 'The request ran out of time before this email. Give fewer emails.');
}

async function parseOne(context: OperationContext, email: Progress, mode: ReprocessInput['mode']): Promise<void> {
  requireTime(context);
  const { workspaceId } = context;
  const request = { workspaceId, emailId: email.emailId, isDryRun: mode === 'dry' };
  const outcome: Reply<'receiving.email.parse-again'> = await askReceiving(
    context,
    'receiving.email.parse-again',
    request,
  );
  switch (outcome.verdict) {
    case 'parsed':
      email.changes.push(...outcome.changes.map((change) => ({ step: 'parse' as const, ...change })));
      email.draft = outcome.draft;
      return;
    case 'not-found':
      throw emailNotFound();
    case 'conflict':
      throw new UserError('conflict', outcome.reason);
    case 'failed':
      throw new UserError('validation', outcome.reason);
    case 'busy':
      throw new UserError('unavailable', 'Too many emails are being parsed now');
  }
}

/**
 * Threads all emails in one transaction, so that a dry run sees the same state as a real one: moving one email can
 * affect the next.
 */
async function threadAll(context: OperationContext, emails: readonly Progress[], mode: ReprocessInput['mode']) {
  const going = emails.filter(({ error }) => error === null);
  if (going.length === 0) return;
  try {
    requireTime(context);
    await changeThreads(context, async (client) => {
      if (mode === 'dry') await client.query('savepoint dry');
      const changed = await threadEach(context, client, going);
      if (mode === 'run') return changed;
      await client.query('rollback to savepoint dry');
      return { result: undefined, events: [] };
    });
  } catch (error) {
    for (const email of going) stop(email, error);
  }
}

async function threadEach(
  context: OperationContext,
  client: pg.ClientBase,
  emails: readonly Progress[],
): Promise<Changed<undefined>> {
  const { workspaceId } = context;
  for (const email of emails) email.changes = email.changes.filter(({ step }) => step !== 'thread');
  const ids = emails.map(({ emailId }) => emailId);
  const places = new Map((await lockPlaces(client, workspaceId, ids)).map((place) => [place.id, place]));
  const manual = await findManual(client, workspaceId, ids);
  await applyDrafts(
    client,
    workspaceId,
    emails.flatMap(({ emailId, draft }) => (draft === null ? [] : [{ emailId, ...draft }])),
  );
  const events: Changed<undefined>['events'] = [];
  for (const email of emails) {
    const place = places.get(email.emailId);
    const refusal = explainRefusal(place);
    if (refusal !== null) email.error = refusal;
    if (place?.threadId == null || refusal !== null || manual.has(email.emailId)) continue;
    const [current] = await lockPlaces(client, workspaceId, [email.emailId]);
    const before = current?.threadId ?? place.threadId;
    const rejoined = await rejoin(client, workspaceId, email.emailId, () => newIdentifier(context, 'thread'));
    const changes = threadChanges(before, rejoined.result);
    email.changes.push(...changes);
    events.push(...rejoined.events);
    if (changes.length === 0) continue;
    const data = { step: 'thread', changed: changes.map(({ field }) => field) };
    events.push({
      kind: 'email.reprocessed',
      emailId: email.emailId,
      threadId: rejoined.result.threadId,
      data,
    });
  }
  return { result: undefined, events };
}

function explainRefusal(place: { type: string; threadId: string | null } | undefined): ReprocessedEmail['error'] {
  if (place === undefined) return { code: 'not_found', message: 'Email not found' };
  if (place.type === 'scheduled')
    return { code: 'validation', message: 'Scheduled emails get a thread when they are sent' };
  if (place.threadId !== null) return null;
  return { code: 'conflict', message: 'The email has just arrived and is still being processed. Try again shortly.' };
}

const MADE = 'a new thread';

function threadChanges(
  before: string,
  { threadId, isNew, reason, endedIds }: Awaited<ReturnType<typeof rejoin>>['result'],
): ReprocessChange[] {
  const change = (field: string, from: string | null, to: string | null): ReprocessChange[] =>
    from === to ? [] : [{ step: 'thread', field, before: from, after: to, differsAt: null }];
  return [
    ...change('threadId', before, isNew ? MADE : threadId),
    ...(reason === null ? [] : change('threadReason', null, reason)),
    ...change('joinedThreadIds', null, endedIds.length === 0 ? null : endedIds.toSorted().join(', ')),
  ];
}

async function routeOne(context: OperationContext, email: Progress, mode: ReprocessInput['mode']): Promise<void> {
  requireTime(context);
  const rerouted =
    mode === 'run'
      ? await rerouteEmail(context, email.emailId)
      : await previewReroute(context, email.emailId, email.draft);
  email.changes.push(...rerouted.changes.map((change) => ({ step: 'route' as const, ...change })));
  email.endpointId = rerouted.endpointId;
  email.deliveryId = rerouted.deliveryId;
}
