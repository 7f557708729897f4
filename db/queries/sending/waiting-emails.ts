import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { KeysetCursor, KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import {
  type EmailSummary,
  type EmailSummaryRow,
  emailSummary,
  emailSummaryColumns,
  isDeferred,
  isHeldRoute,
} from '../emails/email-row.ts';

/**
 * What emails wait for: `scheduled` for their time, including paused ones; `awaiting_approval` for a person or key that approves them; `blocked` and `review` for their workspace, held by a guard rule;
 * `deferred` for another attempt with a server that deferred them.
 */
export type Wait = 'scheduled' | 'awaiting_approval' | 'blocked' | 'review' | 'deferred';

/** Returns the waiting emails between two cursors, scheduled ones soonest first, all others newest first; inverted: the other way round. */
export async function pageWaitingEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  wait: Wait,
  page: KeysetPage,
): Promise<EmailSummary[]> {
  const isSoonestFirst = wait === 'scheduled';
  const at = isSoonestFirst ? sql`e.scheduled_at` : sql`e.created_at`;
  const isRising = isSoonestFirst !== page.isInverted;
  const order = isRising ? sql`order by ${at}, e.id` : sql`order by ${at} desc, e.id desc`;
  const [behind, ahead] = isSoonestFirst ? ['>', '<'] : ['<', '>'];
  // The instant alone is compared first: text comparison is not leakproof, so under row-level security no index could use the pair.
  const compare = (place: KeysetCursor | null, operator = '>') =>
    place === null
      ? sql``
      : sql`and ${at} ${sql.raw(operator)}= ${place.at}::timestamptz
            and (${at}, e.id) ${sql.raw(operator)} (${place.at}::timestamptz, ${place.id}::text)`;
  const { rows } = await sql<EmailSummaryRow>`
    select ${emailSummaryColumns} from (
      select e.* from ${sources(workspaceId)[wait]} ${compare(page.after, behind)} ${compare(page.before, ahead)}
      ${order} limit ${page.limit}) e ${order}`.execute(transaction);
  return rows.map(emailSummary);
}

/** The table and the condition, by what they wait for. */
function sources(workspaceId: string): Record<Wait, RawBuilder<unknown>> {
  const held = (outcome: 'blocked' | 'review') => sql`
    route r join email e on e.workspace_id = ${workspaceId} and e.id = r.email_id
    where r.workspace_id = ${workspaceId} and ${isHeldRoute} and r.outcome = ${outcome} and e.trashed_at is null`;
  return {
    scheduled: sql`email e where e.workspace_id = ${workspaceId} and e.type = 'scheduled' and e.status in ('scheduled', 'paused')`,
    awaiting_approval: sql`email e where e.workspace_id = ${workspaceId} and e.status = 'awaiting_approval'`,
    blocked: held('blocked'),
    review: held('review'),
    deferred: sql`email e where e.workspace_id = ${workspaceId} and ${isDeferred}`,
  };
}
