import { ACCESS } from '../../core/accounts/rights.ts';
import { differences, type FieldChange } from '../../core/mime/stored-differences.ts';
import { type RouteDecision } from '../../core/routing/decide-route.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { appendEvents, setFlags } from '../../db/queries/emails/email-flags.ts';
import * as deliveries from '../../db/queries/endpoints/delivery-retry.ts';
import { type GuardedContent, guardFactsOfRow } from '../../db/queries/routing/guard-facts.ts';
import { readDecision, rewriteRoute } from '../../db/queries/routing/route-rewrite.ts';
import type { Reply } from '../../schema/messages.ts';
import { requireAccessNow } from '../accounts/key-grants.ts';
import { emailNotFound, newIdentifier, type OperationContext } from '../context.ts';
import { decideCurrentRoute, deliverTo, type RoutableMail, storedMail, type Transaction } from './current-route.ts';

/** The parsed form of an email; see schema/messages.ts. */
export type ParsedDraft = NonNullable<Extract<Reply<'receiving.email.parse-again'>, { verdict: 'parsed' }>['draft']>;

/** Result of routing an email again, or of its preview. */
export interface Rerouted {
  changes: FieldChange[];
  /** the endpoint of the new delivery */
  endpointId: string | null;
  /** null: no delivery was created */
  deliveryId: string | null;
}

/**
 * Routes a received email again by the current rules and routes, stores the decision, and delivers the email as a retry does. Throws
 * not_found, validation, conflict, rate_limited.
 */
export async function rerouteEmail(context: OperationContext, emailId: string): Promise<Rerouted> {
  const { bus, database, workspaceId } = context;
  const { lastSeq, ...rerouted } = await asWorkspace(database, workspaceId, async (transaction) => {
    await requireAccessNow(context, transaction, 'Routing an email again', ACCESS.importsAndRead);
    const email = await deliveries.lockReceived(transaction, workspaceId, emailId);
    const before = await decidedOn(transaction, workspaceId, emailId, email);
    const now = await decideCurrentRoute(
      context,
      transaction,
      storedMail(transaction, workspaceId, emailId, before.email),
    );
    const changes = listChanges(before.decision, now.decision);
    const { target } = now;
    const deliveryId =
      target === null ? null : await deliverTo(context, transaction, emailId, before.email, target, 'retry');
    if (changes.length > 0) await rewriteRoute(transaction, workspaceId, emailId, now.decision);
    await moveHeld(transaction, workspaceId, emailId, { before, decision: now.decision });
    const events = toEvents(context, emailId, before, { decision: now.decision, changes, deliveryId });
    const lastSeq = events.length === 0 ? null : await appendEvents(transaction, workspaceId, events);
    return { changes, endpointId: target?.id ?? null, deliveryId, lastSeq };
  });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
  if (rerouted.deliveryId !== null)
    bus.wake('delivery.deliver.wake', { workspaceId, deliveryIds: [rerouted.deliveryId] });
  return rerouted;
}

/** Mail that is held now leaves the inbox; mail that is no longer held comes to it as unread. */
async function moveHeld(
  transaction: Transaction,
  workspaceId: string,
  emailId: string,
  { before, decision }: { before: Decided; decision: RouteDecision },
): Promise<void> {
  const wasHeld = isHeldOutcome(before.decision) && before.email.releasedAt === null;
  const isHeldNow = isHeldOutcome(decision) && before.email.releasedAt === null;
  if (isHeldNow && !wasHeld) await setFlags(transaction, workspaceId, [emailId], { isArchived: true });
  if (wasHeld && !isHeldOutcome(decision))
    await setFlags(transaction, workspaceId, [emailId], { isArchived: false, isRead: false });
}

function isHeldOutcome({ outcome }: RouteDecision): boolean {
  return outcome === 'blocked' || outcome === 'review';
}

/** Previews rerouteEmail, for the email as it is stored or, with `draft`, as it would be parsed now. Throws what rerouteEmail throws. */
export async function previewReroute(
  context: OperationContext,
  emailId: string,
  draft: ParsedDraft | null,
): Promise<Rerouted> {
  const { database, workspaceId } = context;
  return asWorkspace(database, workspaceId, async (transaction) => {
    const email = await deliveries.readReceived(transaction, workspaceId, emailId);
    const before = await decidedOn(transaction, workspaceId, emailId, email);
    const stored = storedMail(transaction, workspaceId, emailId, before.email);
    const recipients = await deliveries.readRecipient(transaction, workspaceId, emailId);
    const mail = draft === null ? stored : withDraft(stored, draft, recipients);
    const { decision, target } = await decideCurrentRoute(context, transaction, mail);
    return { changes: listChanges(before.decision, decision), endpointId: target?.id ?? null, deliveryId: null };
  });
}

interface Decided {
  email: deliveries.LockedReceived;
  decision: RouteDecision;
}

async function decidedOn(
  transaction: Transaction,
  workspaceId: string,
  emailId: string,
  email: deliveries.LockedReceived | null,
): Promise<Decided> {
  if (email === null) throw emailNotFound();
  if (email.type !== 'received') throw new UserError('validation', 'Only received emails can be routed again');
  const decision = await readDecision(transaction, workspaceId, emailId);
  if (decision === null)
    throw new UserError('conflict', 'The email has just come in and is still in work. Try again shortly.');
  return { email, decision };
}

function listChanges(before: RouteDecision, after: RouteDecision): FieldChange[] {
  return differences({ ...before }, { ...after }, new Set());
}

function withDraft(
  stored: RoutableMail,
  draft: ParsedDraft,
  of: { recipient: string | null; ownAddress: string },
): RoutableMail {
  const factsWith = (known: GuardedContent | null) =>
    guardFactsOfRow({
      subject: draft.subject,
      recipient: of.recipient,
      own_address: of.ownAddress,
      addresses: draft.addresses,
      attachments: draft.attachments,
      authentication: draft.authentication,
      injection: draft.injection,
      // The scanners are not asked again.
      screening: known === null ? null : { spam: known.facts.spam },
      text_body: draft.textBody,
      html_body: draft.htmlBody,
      parse_error: null,
    });
  return {
    ...stored,
    facts: { ...stored.facts, isDmarcReport: stored.facts.isDmarcReport || draft.isDmarcReport },
    read: async () => ({ facts: factsWith(await stored.read('outline')), isParsed: true }),
  };
}

function toEvents(
  context: OperationContext,
  emailId: string,
  before: Decided,
  after: { decision: RouteDecision; changes: readonly FieldChange[]; deliveryId: string | null },
) {
  const { decision, changes, deliveryId } = after;
  if (changes.length === 0 && deliveryId === null) return [];
  const { threadId } = before.email;
  const of = { emailId, ...(threadId === null ? {} : { threadId }) };
  const isHeldNow = isHeldOutcome(decision);
  const isHeldAnew = isHeldNow && decision.outcome !== before.decision.outcome;
  const held = {
    id: newIdentifier(context, 'event'),
    kind: decision.outcome === 'blocked' ? 'email.blocked' : 'email.held',
    ...of,
    data: { ruleId: decision.ruleId, reason: decision.reason },
  };
  const changed = changes.map(({ field }) => field);
  const data = { step: 'route', changed, outcome: decision.outcome, deliveryId };
  return [
    ...(isHeldAnew ? [held] : []),
    { id: newIdentifier(context, 'event'), kind: 'email.reprocessed', ...of, data },
  ];
}
