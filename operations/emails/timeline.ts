import { readStoredVerdicts } from '../../core/routing/stored-verdict.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as history from '../../db/queries/emails/email-history.ts';
import { findAttempts as findDeliveryAttempts } from '../../db/queries/endpoints/delivery-page.ts';
import { readReferences } from '../../db/queries/routing/route-read.ts';
import { findAttempts as findSendingAttempts } from '../../db/queries/sending/recipient-read.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { waitUntilParsed } from './pending-emails.ts';
import { deliveryEntries, handEntries, originEntries, sendingEntries, type TimelineEntry } from './timeline-entries.ts';

/** The history of an email. */
export interface Timeline {
  /** oldest first */
  entries: TimelineEntry[];
  /** whether older entries were left out */
  isCut: boolean;
}

/** Entries of one timeline. */
export const MAX_TIMELINE = history.MAX_HISTORY;
const NOTHING: Timeline = { entries: [], isCut: false };

/**
 * Returns the history of each email, oldest first, built from stored rows only. Empty where the user has no such email.
 * Runs the same number of statements for many emails as for one.
 */
export async function loadTimelines(
  { database, workspaceId }: OperationContext,
  emailIds: readonly string[],
): Promise<Timeline[]> {
  const ids = emailIds.filter(isValidId);
  const timelines = await asWorkspace(database, workspaceId, async (transaction) => {
    const origins = await history.readOrigins(transaction, workspaceId, ids);
    const ruleIds = origins.flatMap(({ verdicts }) => readStoredVerdicts(verdicts).map(({ ruleId }) => ruleId));
    const { rules } = await readReferences(transaction, workspaceId, {
      addressIds: [],
      domainIds: [],
      ruleIds,
      endpointIds: [],
    });
    const byHand = Map.groupBy(await history.readHandEvents(transaction, workspaceId, ids), getEmailId);
    const deliveries = Map.groupBy(await history.readPastDeliveries(transaction, workspaceId, ids), getEmailId);
    const recipients = Map.groupBy(await history.readPastRecipients(transaction, workspaceId, ids), getEmailId);
    const tries = Map.groupBy(
      await findDeliveryAttempts(transaction, workspaceId, collectIds(deliveries)),
      ({ deliveryId }) => deliveryId,
    );
    const sendings = await findSendingAttempts(transaction, workspaceId, collectIds(recipients));
    return new Map(
      origins.map((origin) => {
        const [hands, sent, to] = [byHand, deliveries, recipients].map((rows) => rows.get(origin.id) ?? []) as [
          history.HandEvent[],
          history.PastDelivery[],
          history.PastRecipient[],
        ];
        const entries = [
          ...originEntries(origin, rules),
          ...handEntries(hands),
          ...sent.flatMap((delivery) => deliveryEntries(delivery, tries.get(delivery.id) ?? [])),
          ...to.flatMap((recipient) => sendingEntries(recipient, sendings.get(recipient.id) ?? [])),
        ];
        return [
          origin.id,
          cut(
            entries,
            [hands, sent, to].some((rows) => rows.length > history.MAX_HISTORY),
          ),
        ];
      }),
    );
  });
  return emailIds.map((id) => timelines.get(id) ?? NOTHING);
}

/** Returns the history of an email. Throws not_found. */
export function readTimeline(context: OperationContext, emailId: string): Promise<Timeline> {
  return waitUntilParsed(context, [emailId], async () => {
    const [timeline = NOTHING] = await loadTimelines(context, [emailId]);
    // Every email has at least one entry, so no entries means no email.
    if (timeline.entries.length === 0) throw emailNotFound();
    return timeline;
  });
}

/** Sorts by time; entries of the same instant keep their order. */
function cut(entries: readonly TimelineEntry[], isMore: boolean): Timeline {
  const sorted = entries.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return { entries: sorted.slice(-MAX_TIMELINE), isCut: isMore || sorted.length > MAX_TIMELINE };
}

function getEmailId({ emailId }: { emailId: string }): string {
  return emailId;
}

function collectIds(rows: ReadonlyMap<string, readonly { id: string }[]>): string[] {
  return [...rows.values()].flatMap((of) => of.map(({ id }) => id));
}
