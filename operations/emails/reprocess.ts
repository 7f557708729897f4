import type pg from 'pg';
import type { FieldChange } from '../../core/mime/stored-differences.ts';
import { UserError, type UserErrorCode } from '../../core/shared/errors.ts';
import { lockPlaces } from '../../db/queries/threads/thread-move.ts';
import { applyDrafts, findManual } from '../../db/queries/threads/thread-rejoin.ts';
import type { Reply } from '../../schema/messages.ts';
import { invalid, isAskable, newIdentifier, type OperationContext } from '../context.ts';
import { foretellReroute, type ParsedDraft, rerouteEmail } from '../routing/reroute-email.ts';
import { askReceiving } from '../routing/simulated-transaction.ts';
import { rejoin } from '../threads/rejoin-email.ts';
import { type Changed, changeThreads } from '../threads/thread-transaction.ts';

export const REPROCESS_STEPS = ['parse', 'thread', 'route'] as const;
export type ReprocessStep = (typeof REPROCESS_STEPS)[number];

export interface ReprocessWish {
  /** 1 to MAX_REPROCESSED */
  emailIds: readonly string[];
  /** at least one; done in the order of REPROCESS_STEPS */
  steps: readonly ReprocessStep[];
  /** dry: nothing changes, and the answer tells what would */
  mode: 'run' | 'dry';
}

/** A field that another step would make, or made, anew. */
export interface ReprocessChange extends FieldChange {
  step: ReprocessStep;
}

/** What became of one email, or would. */
export interface ReprocessedEmail {
  emailId: string;
  /** in the order of the steps */
  changes: ReprocessChange[];
  /** with step route: the endpoint that it goes to; null: none */
  endpointId: string | null;
  /** the delivery that was made; null: none */
  deliveryId: string | null;
  /** why a step could not be done; the steps behind it were not done, those before it were */
  error: { code: UserErrorCode; message: string } | null;
}

/** Emails of one call. */
export const MAX_REPROCESSED = 100;
/** How long a route that answers may need; milliseconds. */
export const REPROCESS_ANSWER_MS = 60_000;
/** Emails that are parsed at the same time. */
const AT_ONCE = 4;
/** Milliseconds before the user is told that it did not work. */
const SPARE_MS = 6_000;

interface Progress extends ReprocessedEmail {
  /** of a dry run: what it would be parsed to; null: as it stands */
  draft: ParsedDraft | null;
}

/**
 * Parses stored emails again, joins them to threads again, routes them again, by what the service knows today. What their user set stays.
 * One that cannot be done says so and holds up no other. Throws validation.
 */
export async function reprocessEmails(context: OperationContext, wish: ReprocessWish): Promise<ReprocessedEmail[]> {
  const emailIds = [...new Set(wish.emailIds)];
  if (emailIds.length === 0 || emailIds.length > MAX_REPROCESSED)
    throw invalid(`Between 1 and ${MAX_REPROCESSED} emails can be reprocessed at once`, 'emailIds');
  if (wish.steps.length === 0) throw invalid(`Give at least one step: ${REPROCESS_STEPS.join(', ')}`, 'steps');
  const steps = new Set(wish.steps);
  const emails = emailIds.map(
    (emailId): Progress => ({
      emailId,
      changes: [],
      endpointId: null,
      deliveryId: null,
      error: isAskable(emailId) ? null : { code: 'not_found', message: 'Email not found' },
      draft: null,
    }),
  );
  if (steps.has('parse')) await inTurns(emails, AT_ONCE, (email) => parseOne(context, email, wish.mode));
  if (steps.has('thread')) await threadAll(context, emails, wish.mode);
  if (steps.has('route')) await inTurns(emails, 1, (email) => routeOne(context, email, wish.mode));
  return emails.map(({ emailId, changes, endpointId, deliveryId, error }) => ({
    emailId,
    changes,
    endpointId,
    deliveryId,
    error,
  }));
}

/** Does the work for each email that nothing has stopped yet; a refusal stops that one. */
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

function stop(email: Progress, error: unknown): void {
  if (!(error instanceof UserError)) throw error;
  email.error = { code: error.code, message: error.message };
}

function requireTime({ answerBy }: OperationContext): void {
  if (performance.now() > answerBy - SPARE_MS)
    throw new UserError('unavailable', 'There was no time left for this email. Give fewer of them.');
}

async function parseOne(context: OperationContext, email: Progress, mode: ReprocessWish['mode']): Promise<void> {
  requireTime(context);
  const { userId } = context;
  const request = { userId, emailId: email.emailId, isDryRun: mode === 'dry' };
  const answer: Reply<'receiving.email.parse-again'> = await askReceiving(
    context,
    'receiving.email.parse-again',
    request,
  );
  switch (answer.verdict) {
    case 'parsed':
      email.changes.push(...answer.changes.map((change) => ({ step: 'parse' as const, ...change })));
      email.draft = answer.draft;
      return;
    case 'not-found':
      throw new UserError('not_found', 'Email not found');
    case 'conflict':
      throw new UserError('conflict', answer.reason);
    case 'failed':
      throw new UserError('validation', answer.reason);
    case 'busy':
      throw new UserError('unavailable', 'Too much is being parsed now');
  }
}

/** All in one transaction, so that a dry run sees what a run would: one email's new place may be another's. */
async function threadAll(context: OperationContext, emails: readonly Progress[], mode: ReprocessWish['mode']) {
  const going = emails.filter(({ error }) => error === null);
  if (going.length === 0) return;
  try {
    requireTime(context);
    await changeThreads(context, async (client) => {
      if (mode === 'dry') await client.query('savepoint dry');
      const changed = await threadEach(context, client, going);
      if (mode === 'run') return changed;
      await client.query('rollback to savepoint dry');
      return { answer: undefined, events: [] };
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
  const { userId } = context;
  for (const email of emails) email.changes = email.changes.filter(({ step }) => step !== 'thread');
  const ids = emails.map(({ emailId }) => emailId);
  const places = new Map((await lockPlaces(client, userId, ids)).map((place) => [place.id, place]));
  const manual = await findManual(client, userId, ids);
  await applyDrafts(
    client,
    userId,
    emails.flatMap(({ emailId, draft }) => (draft === null ? [] : [{ emailId, ...draft }])),
  );
  const events: Changed<undefined>['events'] = [];
  for (const email of emails) {
    const place = places.get(email.emailId);
    const refusal = refusalOf(place);
    if (refusal !== null) email.error = refusal;
    if (place?.threadId == null || refusal !== null || manual.has(email.emailId)) continue;
    const [current] = await lockPlaces(client, userId, [email.emailId]);
    const before = current?.threadId ?? place.threadId;
    const rejoined = await rejoin(client, userId, email.emailId, () => newIdentifier(context, 'thread'));
    const changes = threadChanges(before, rejoined.answer);
    email.changes.push(...changes);
    events.push(...rejoined.events);
    if (changes.length === 0) continue;
    const data = { step: 'thread', changed: changes.map(({ field }) => field) };
    events.push({
      kind: 'email.reprocessed',
      emailId: email.emailId,
      threadId: rejoined.answer.threadId,
      data,
    });
  }
  return { answer: undefined, events };
}

function refusalOf(place: { type: string; threadId: string | null } | undefined): ReprocessedEmail['error'] {
  if (place === undefined) return { code: 'not_found', message: 'Email not found' };
  if (place.type === 'scheduled')
    return { code: 'validation', message: 'Scheduled emails get a thread when they are sent' };
  if (place.threadId !== null) return null;
  return { code: 'conflict', message: 'The email has just come in and is still in work. Try again shortly.' };
}

const MADE = 'a new thread';

function threadChanges(
  before: string,
  { threadId, isNew, reason, endedIds }: Awaited<ReturnType<typeof rejoin>>['answer'],
): ReprocessChange[] {
  const change = (field: string, from: string | null, to: string | null): ReprocessChange[] =>
    from === to ? [] : [{ step: 'thread', field, before: from, after: to, differsAt: null }];
  return [
    ...change('threadId', before, isNew ? MADE : threadId),
    ...(reason === null ? [] : change('threadReason', null, reason)),
    ...change('joinedThreadIds', null, endedIds.length === 0 ? null : endedIds.toSorted().join(', ')),
  ];
}

async function routeOne(context: OperationContext, email: Progress, mode: ReprocessWish['mode']): Promise<void> {
  requireTime(context);
  const rerouted =
    mode === 'run'
      ? await rerouteEmail(context, email.emailId)
      : await foretellReroute(context, email.emailId, email.draft);
  email.changes.push(...rerouted.changes.map((change) => ({ step: 'route' as const, ...change })));
  email.endpointId = rerouted.endpointId;
  email.deliveryId = rerouted.deliveryId;
}
