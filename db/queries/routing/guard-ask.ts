import { LEASE_SECONDS } from '../../claim.ts';
import { notSetAsideSql } from '../upkeep/dead-row.ts';

/** An email that waits for a model. */
export interface AskingRow {
  user_id: string;
  email_id: string;
  rule_id: string;
  /** attempts for this rule so far */
  asks: number;
  /** see core/routing/guard-judgement.ts */
  answers: unknown;
}

/**
 * Claims one email that waits for a model, longest due first. Parameters: $1 the claimant, $2 users to skip for now. The lease is longer
 * than the time limit of a model. Rows: AskingRow.
 */
export const claimAskingSql = `
  update route t set claimed_by = $1, claimed_until = (select postroom_now()) + interval '${LEASE_SECONDS} seconds'
  where t.ctid = any (array(
    select d.ctid from route d
    where d.outcome = 'asking' and d.next_ask_at <= (select postroom_now())
      and (d.claimed_until is null or d.claimed_until < (select postroom_now())) and d.user_id <> all ($2::text[])
      and ${notSetAsideSql('ask', 'd.user_id', 'd.email_id')}
    order by d.next_ask_at limit 1 for update skip locked))
  returning t.user_id, t.email_id, t.rule_id, t.asks, t.answers`;

/** Releases a claim: $1 the claimant, $2 the user, $3 the email, $4 attempts so far, $5 seconds until the next one. */
export const askLaterSql = `
  update route set claimed_by = null, claimed_until = null, asks = $4, next_ask_at = (select postroom_now()) + $5 * interval '1 second'
  where user_id = $2 and email_id = $3 and claimed_by = $1 and outcome = 'asking'`;
