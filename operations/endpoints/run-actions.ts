import type pg from 'pg';
import { hasScope, type Scope } from '../../core/accounts/key-rights.ts';
import { type Action, type ActionLog, type ActionResult, refusedActions } from '../../core/endpoints/actions.ts';
import {
  AUTOMATIC_FORWARD_FIELDS,
  AUTOMATIC_REPLY_FIELDS,
  automaticForwardRefusal,
  automaticReplyRefusal,
  MAX_AUTOMATIC_REPLIES,
  MAX_AUTOMATIC_REPLIES_PER_DAY,
  readCorrespondent,
} from '../../core/sending/automatic-reply.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace, inWorkspaceTransaction, transactionOn } from '../../db/connection/transaction.ts';
import { lockEmails, setFlags } from '../../db/queries/emails/email-flags.ts';
import * as deliveries from '../../db/queries/endpoints/delivery-retry.ts';
import { holdRoute } from '../../db/queries/routing/route-rewrite.ts';
import {
  type ActedEmail,
  countAutomaticReplies,
  countAutomaticRepliesTo,
  markAutomaticReply,
  readActedEmail,
  readActingEndpoint,
} from '../../db/queries/sending/automatic-reply.ts';
import { findOriginalBytes } from '../../db/queries/sending/outgoing-original.ts';
import { THREADS_LOCK } from '../../db/queries/threads/thread-claim.ts';
import { appendThreadEvents, type FeedEvent } from '../../db/queries/threads/thread-events.ts';
import { type MailContext, newIdentifier } from '../context.ts';
import { flagEmails } from '../emails/email-flags.ts';
import { deliverTo, endpointNotFound, type Transaction } from '../routing/current-route.ts';
import { type CheckedEmail, checkReply } from '../sending/check-outgoing.ts';
import { composeOutgoing, type OutgoingEmail } from '../sending/compose-outgoing.ts';
import { inComposingTurn } from '../sending/composing-turns.ts';
import { prepareForward } from '../sending/forward-email.ts';
import type { Receipt, Submission } from '../sending/idempotency.ts';
import { addressReply, readRepliable } from '../sending/replies.ts';
import { isScannerAway, requireClean } from '../sending/require-clean.ts';
import { makeReceipt } from '../sending/send-email.ts';
import {
  announceStored,
  listStoringLocks,
  type SubmittedMember,
  storeSubmissions,
} from '../sending/store-submissions.ts';
import { labelThread } from '../threads/thread-changes.ts';

/** The response of a webhook that asks for actions. */
export interface ActingDelivery {
  /** null: the delivery is about something else */
  emailId: string | null;
  /** the kind of event that was delivered */
  eventKind: string;
  endpoint: {
    id: string;
    name: string;
    /** the API key that set it up, and what it may do; null: a person, and everything */
    setByKeyId: string | null;
    grantedScopes: readonly Scope[] | null;
  };
  /** at least one */
  actions: readonly Action[];
  /** reads the stored message of the email; null when it is gone */
  readRaw: (rawId: string) => Promise<Uint8Array | null>;
  traceParent: string | null;
  /** aborted when the process stops: what still waits for its turn to be composed then rejects */
  stopping: AbortSignal;
  /** Finishes the delivery in the same transaction and returns the events of that; null when its claim was lost. */
  finish: (client: pg.ClientBase, log: ActionLog) => Promise<FeedEvent[] | null>;
  /** called before the commit */
  onReady: () => void;
}

/**
 * What became of the actions. `done`: they ran, and the delivery is finished. `refused`: nothing was changed, and the delivery is still to be
 * finished, with this log. `lost`: nothing was changed, because another process has the delivery.
 */
export type Acted = { kind: 'done' } | { kind: 'refused'; log: ActionLog } | { kind: 'lost' };

/** Of all forwards of a response together: they are composed before any is stored. */
export const MAX_FORWARDED_BYTES = 20_000_000;
/** Maximum wait for a lock: mail may be being threaded, or a user changes threads. Milliseconds. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Runs the actions in a webhook's response and finishes its delivery, in one transaction: all of it happens or nothing, and once per
 * delivery. Throws what PostgreSQL throws, and while mail cannot be checked for viruses; the caller retries.
 */
export async function runActions(context: MailContext, delivery: ActingDelivery): Promise<Acted> {
  try {
    requireAllowed(delivery);
    const composer = {
      workspaceId: context.workspaceId,
      respondBy: Number.POSITIVE_INFINITY,
      caller: { gone: delivery.stopping },
    };
    const bytes = await measureForwards(context, delivery);
    announce(context, await inComposingTurn(composer, bytes, () => prepareAndAct(context, delivery)));
    return { kind: 'done' };
  } catch (error) {
    if (error instanceof ClaimLost) return { kind: 'lost' };
    if (!(error instanceof ActionRefused)) throw error;
    return { kind: 'refused', log: refusedActions(delivery.actions, error.index, error.message) };
  }
}

/** Returns how much is loaded for the forwards, in bytes. Refuses too many for the size of the email. */
async function measureForwards(context: MailContext, { actions, emailId }: ActingDelivery): Promise<number> {
  const forwards = [...actions.entries()].filter(([, { type }]) => type === 'forward');
  if (emailId === null || forwards.length === 0) return 0;
  const found = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    findOriginalBytes(transaction, context.workspaceId, emailId),
  );
  const size = found === null ? 0 : found.bodyBytes + found.attachedBytes;
  const [tooMany] = forwards[Math.max(1, Math.floor(MAX_FORWARDED_BYTES / Math.max(1, size)))] ?? [];
  if (tooMany === undefined) return size * forwards.length;
  throw new ActionRefused(
    tooMany,
    `The forwards of a response have at most ${MAX_FORWARDED_BYTES} bytes in all, and this email has ${size}. Forward it to fewer addresses.`,
  );
}

async function prepareAndAct(context: MailContext, delivery: ActingDelivery): Promise<Done> {
  const sends = await prepareSends(context, delivery);
  return inWorkspaceTransaction(
    context.database,
    context.workspaceId,
    {
      locks: sends.length === 0 ? [{ name: THREADS_LOCK }] : listStoringLocks(context, 'join'),
      lockTimeoutMs: LOCK_TIMEOUT_MS,
    },
    (client) => act(client, context, delivery, sends),
  );
}

/** The action at this index cannot run, so none of them runs. The message is for the user. */
class ActionRefused extends Error {
  readonly index: number;
  constructor(index: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.index = index;
  }
}

class ClaimLost extends Error {}

/** Runs the work of one action; a user's mistake refuses it. While mail cannot be checked for viruses, the caller tries again. */
async function ofAction<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UserError) || isScannerAway(error)) throw error;
    throw new ActionRefused(index, error.message, error);
  }
}

/** Refuses actions that the endpoint, or the event, does not allow. */
function requireAllowed({ actions, emailId, eventKind, endpoint }: ActingDelivery): void {
  requireGrant(endpoint, actions);
  if (emailId === null) throw new ActionRefused(0, `Actions need an email, and ${eventKind} is not about one.`);
  const other = eventKind === ARRIVAL ? -1 : actions.findIndex(({ type }) => !MARKING.has(type));
  if (other !== -1)
    throw new ActionRefused(other, `Only ${ARRIVAL} can be answered with ${actions[other]?.type}, not ${eventKind}.`);
}

/** A reply or forward that is ready to be stored. */
interface Send extends SubmittedMember {
  index: number;
  type: 'reply' | 'forward';
  email: OutgoingEmail;
}

/** Reads and composes what the actions send, outside the transaction. */
async function prepareSends(context: MailContext, delivery: ActingDelivery): Promise<Send[]> {
  const { actions, emailId, traceParent, endpoint } = delivery;
  if (emailId === null || !actions.some(({ type }) => type === 'reply' || type === 'forward')) return [];
  const acted = await asWorkspace(context.database, context.workspaceId, (transaction) =>
    readActedEmail(transaction, context.workspaceId, emailId),
  );
  const sends: Send[] = [];
  for (const [index, action] of actions.entries()) {
    if (action.type !== 'reply' && action.type !== 'forward') continue;
    if (acted === null) throw new ActionRefused(index, EMAIL_GONE);
    const send = await ofAction(index, async () => {
      const { email, repliedTo } =
        action.type === 'reply'
          ? await replyTo(context, emailId, acted, action)
          : { email: await readForward(context, delivery, emailId, acted, action.to), repliedTo: null };
      const composed = await composeOutgoing(context, email, null);
      if (context.scanOutgoing !== undefined) await requireClean(context.scanOutgoing, [composed]);
      // The send policy of the key that set the endpoint up holds for what it sends.
      const sender = { keyId: endpoint.setByKeyId, isAutomatic: action.type === 'reply', isOfWebhook: true };
      const submission = toSubmission(composed, repliedTo);
      return { index, type: action.type, email: composed, submission, ...sender, traceParent };
    });
    sends.push(send);
  }
  return sends;
}

/** What actions need of the rights of the person or key that set the endpoint up. Others change mail, and need `manage`. */
const SCOPES_OF_ACTIONS: Readonly<Partial<Record<Action['type'], readonly Scope[]>>> = {
  reply: ['send'],
  forward: ['send', 'read'],
};

function requireGrant(
  { grantedScopes: scopes }: Pick<ActingDelivery['endpoint'], 'grantedScopes'>,
  actions: readonly Action[],
): void {
  for (const [index, { type }] of actions.entries())
    for (const scope of SCOPES_OF_ACTIONS[type] ?? (['manage'] as const))
      if (!hasScope({ scopes }, scope))
        throw new ActionRefused(
          index,
          `The action ${type} needs the scope ${scope}, and the API key that set up this endpoint does not have it. Set \`allowActions\` again with another key, or in the dashboard.`,
        );
}

/** The event whose deliveries may run every action. */
const ARRIVAL = 'email.received';
/** Actions that any event with an email may run: repeated, they change nothing, so an endpoint cannot go on answering what it caused. */
const MARKING: ReadonlySet<Action['type']> = new Set(['label', 'archive', 'read']);
const EMAIL_GONE = 'The email no longer exists.';

async function replyTo(
  context: MailContext,
  emailId: string,
  { headers, returnPath, fromAddress, ownAddress }: ActedEmail,
  { text, html, subject, reply_to: replyTo }: Extract<Action, { type: 'reply' }>,
): Promise<{ email: CheckedEmail; repliedTo: Receipt['repliedTo'] }> {
  const refusal = automaticReplyRefusal({ headers, returnPath, fromAddress });
  if (refusal !== null) throw new UserError('validation', refusal);
  const checked = checkReply({ from: ownAddress, text, html, subject, replyTo, headers: AUTOMATIC_REPLY_FIELDS });
  return addressReply(await readRepliable(context, emailId, checked.sender.address), checked, 'sender');
}

async function readForward(
  context: MailContext,
  { readRaw }: ActingDelivery,
  emailId: string,
  { headers, ownAddress, rawId }: ActedEmail,
  to: string,
): Promise<CheckedEmail> {
  const refusal = automaticForwardRefusal(headers);
  if (refusal !== null) throw new UserError('validation', refusal);
  const input = { from: ownAddress, to, headers: AUTOMATIC_FORWARD_FIELDS, attachments: 'all' as const };
  return prepareForward(context, emailId, input, async () => {
    const raw = rawId === null ? null : await readRaw(rawId);
    if (raw === null) throw new UserError('not_found', 'Email content not available');
    return raw;
  });
}

function toSubmission(email: OutgoingEmail, repliedTo: Receipt['repliedTo']): Submission {
  const receipt = { emails: [makeReceipt(email)], batchId: null, repliedTo };
  return { emails: [email], batchId: null, idempotency: null, receipt };
}

/** What the transaction did, for the announcements after its commit. */
interface Done {
  sends: readonly Send[];
  threaded: ReadonlySet<string>;
  deliveryIds: readonly string[];
  lastSeq: number | null;
}

/**
 * Locks in the order of every such transaction: the locks of its opening, the email, its delivery, and the event feed last. The endpoint may have
 * lost rights while it was asked: what it sends is sent with its present ones.
 */
async function act(
  client: pg.ClientBase,
  context: MailContext,
  delivery: ActingDelivery,
  prepared: readonly Send[],
): Promise<Done> {
  const { workspaceId } = context;
  const transaction = transactionOn(client);
  const endpoint = await readActingEndpoint(transaction, workspaceId, delivery.endpoint.id);
  if (endpoint === null)
    throw new ActionRefused(0, 'The endpoint was deleted or disabled, or allows no actions any more. No action ran.');
  requireGrant(endpoint, delivery.actions);
  const sends = prepared.map((send) => ({ ...send, keyId: endpoint.setByKeyId }));
  const email =
    delivery.emailId === null ? null : await deliveries.lockReceived(transaction, workspaceId, delivery.emailId);
  if (email === null || delivery.emailId === null) throw new ActionRefused(0, EMAIL_GONE);
  const acting = { client, transaction, context, delivery, emailId: delivery.emailId, email };
  await requireFewReplies(acting, sends);
  const steps = new Map<number, Step>();
  for (const [index, action] of delivery.actions.entries())
    steps.set(
      index,
      await ofAction(index, () =>
        perform(
          acting,
          action,
          sends.find((send) => send.index === index),
        ),
      ),
    );
  const done = delivery.actions.map((_, index) => steps.get(index)).filter((step) => step !== undefined);
  const finish = async (entering: readonly Send[]) => {
    const results = done.map(({ result }) => (isWaiting(result, entering) ? waits(result) : result));
    const finished = await delivery.finish(client, { problem: null, results });
    if (finished === null) throw new ClaimLost();
    return [...done.flatMap(({ events }) => events), ...finished];
  };
  const stored = await storeSends(acting, sends, finish);
  delivery.onReady();
  return { ...stored, deliveryIds: done.flatMap(({ result }) => result.deliveryId ?? []) };
}

/** Whether the email that the action made waits for approval. */
function isWaiting({ emailId }: ActionResult, entering: readonly Send[]): boolean {
  return entering.some(({ submission }) =>
    submission.emails.some(({ row }) => row.id === emailId && row.approval !== undefined),
  );
}

function waits(result: ActionResult): ActionResult {
  const made = result.type === 'reply' ? 'The reply' : 'The forward';
  return { ...result, message: `${made} waits for approval.` };
}

interface Acting {
  client: pg.ClientBase;
  transaction: Transaction;
  context: MailContext;
  delivery: ActingDelivery;
  emailId: string;
  email: deliveries.LockedReceived;
}

/** An action that ran, with the events to append. */
interface Step {
  result: ActionResult;
  events: FeedEvent[];
}

async function perform(acting: Acting, action: Action, send: Send | undefined): Promise<Step> {
  const { client, transaction, context, emailId, email } = acting;
  const { workspaceId } = context;
  switch (action.type) {
    case 'reply':
    case 'forward': {
      if (send === undefined) throw new Error('a reply or forward was not prepared');
      const { row, audience } = send.email;
      const verb = action.type === 'reply' ? 'Replied to' : 'Forwarded to';
      return done(action.type, `${verb} ${[...audience.to, ...audience.cc].join(', ')}.`, { emailId: row.id });
    }
    case 'label': {
      if (email.threadId === null) throw new UserError('validation', 'The email has no thread to label.');
      const events = await labelThread(client, workspaceId, email.threadId, action.name);
      const label = `“${action.name.trim()}”`;
      const message = events.length === 0 ? `The thread already has the label ${label}.` : `Labeled ${label}.`;
      return done(
        'label',
        message,
        {},
        events.map((event) => ({ id: newIdentifier(context, 'event'), ...event })),
      );
    }
    case 'archive':
    case 'read': {
      const flags = action.type === 'archive' ? { isArchived: true } : { isRead: true };
      const { events } = await flagEmails(context, transaction, [emailId], flags);
      const message = action.type === 'archive' ? 'Archived.' : 'Marked as read.';
      return done(
        action.type,
        message,
        {},
        events.map((event) => ({ ...event, data: ofDelivery(acting) })),
      );
    }
    case 'hold':
      return hold(acting);
    case 'route':
      return route(acting, action.endpointId);
  }
}

/** Data of an event that an action caused, so that the timeline does not show it as done by the user. */
function ofDelivery({ delivery: { endpoint } }: Acting): { endpointId: string } {
  return { endpointId: endpoint.id };
}

async function hold(acting: Acting): Promise<Step> {
  const { transaction, context, delivery, emailId, email } = acting;
  const reason = `the response of endpoint “${delivery.endpoint.name}” asked for it`;
  if (!(await holdRoute(transaction, context.workspaceId, emailId, reason)))
    throw new UserError('validation', 'The email has no route yet, so it cannot be held.');
  await lockEmails(transaction, context.workspaceId, [emailId]);
  await setFlags(transaction, context.workspaceId, [emailId], { isArchived: true });
  const event = {
    id: newIdentifier(context, 'event'),
    kind: 'email.held',
    emailId,
    threadId: email.threadId,
    data: { ruleId: null, reason },
  };
  return done('hold', 'Held for review.', {}, [event]);
}

/** An email goes to each endpoint once by actions, so that endpoints cannot pass it on in a circle. */
async function route(acting: Acting, endpointId: string): Promise<Step> {
  const { transaction, context, emailId, email } = acting;
  const { workspaceId } = context;
  const [target] = await deliveries.findTargets(transaction, workspaceId, [endpointId]);
  if (target === undefined || !target.isActive) throw endpointNotFound();
  if (await deliveries.hasDelivery(transaction, workspaceId, emailId, endpointId))
    throw new UserError('validation', 'The email was already delivered to that endpoint.');
  const deliveryId = await deliverTo(context, transaction, emailId, email, target, 'action');
  return done('route', `Delivered to endpoint ${endpointId}.`, { deliveryId });
}

function done(
  type: ActionResult['type'],
  message: string,
  made: { emailId?: string; deliveryId?: string } = {},
  events: FeedEvent[] = [],
): Step {
  const { emailId = null, deliveryId = null } = made;
  return { result: { type, status: 'done', message, emailId, deliveryId }, events };
}

/** The counts are exact: every automatic reply holds the lock on the user's threads. Where the other side answers each reply in a new thread, only the second one ends it. */
async function requireFewReplies({ transaction, context, email }: Acting, sends: readonly Send[]): Promise<void> {
  const replies = sends.filter(({ type }) => type === 'reply');
  if (replies.length === 0) return;
  const { threadId } = email;
  const earlier = threadId === null ? 0 : await countAutomaticReplies(transaction, context.workspaceId, threadId);
  const tooMany = replies[Math.max(0, MAX_AUTOMATIC_REPLIES - earlier)];
  if (tooMany !== undefined)
    throw new ActionRefused(
      tooMany.index,
      `At most ${MAX_AUTOMATIC_REPLIES} automatic replies are sent in a thread within an hour.`,
    );
  for (const [correspondent, own] of Map.groupBy(replies, (reply) => findCorrespondent(reply))) {
    const sent = await countAutomaticRepliesTo(transaction, context.workspaceId, correspondent);
    const surplus = own[Math.max(0, MAX_AUTOMATIC_REPLIES_PER_DAY - sent)];
    if (surplus !== undefined)
      throw new ActionRefused(
        surplus.index,
        `At most ${MAX_AUTOMATIC_REPLIES_PER_DAY} automatic replies are sent to ${correspondent} within a day.`,
      );
  }
}

function findCorrespondent({ email }: Send): string {
  return readCorrespondent(email.audience.to[0] ?? '');
}

/** Stores replies and forwards through the sending policy, and appends all events. */
async function storeSends(
  { client, transaction, context }: Acting,
  sends: readonly Send[],
  finish: (entering: readonly Send[]) => Promise<FeedEvent[]>,
): Promise<Pick<Done, 'sends' | 'threaded' | 'lastSeq'>> {
  const { workspaceId } = context;
  if (sends.length === 0)
    return { sends: [], threaded: new Set(), lastSeq: await appendThreadEvents(client, workspaceId, await finish([])) };
  const { verdicts, entering, threaded, lastSeq } = await storeSubmissions(client, context, sends, {
    threads: 'join',
    alongside: finish,
  });
  for (const [at, verdict] of verdicts.entries())
    if (verdict instanceof UserError) throw new ActionRefused(sends[at]?.index ?? 0, verdict.message, verdict);
  for (const send of sends.filter(({ type }) => type === 'reply'))
    await markAutomaticReply(transaction, workspaceId, {
      emailId: send.email.row.id,
      correspondent: findCorrespondent(send),
    });
  return { sends: entering, threaded, lastSeq };
}

function announce(context: MailContext, { sends, threaded, deliveryIds, lastSeq }: Done): void {
  const { bus, workspaceId } = context;
  if (sends.length > 0) announceStored(context, { stored: sends, threaded, lastSeq });
  else if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  if (deliveryIds.length > 0) bus.wake('delivery.deliver.wake', { workspaceId, deliveryIds: [...deliveryIds] });
}
