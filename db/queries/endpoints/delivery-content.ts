import type { StoredMail } from '../../../core/endpoints/mail-payload.ts';

/** A received email as webhooks carry it. */
export interface DeliveryContentRow extends StoredMail {
  raw_id: string | null;
  /** created by its user as a test */
  is_test: boolean;
}

/** Emails with their content, by the parallel arrays $1 (user ids) and $2 (email ids). Rows: DeliveryContentRow. */
export const readDeliveryContentSql = `
  select e.user_id, e.id, e.raw_id, e.message_id, e.subject, e.recipient, e.own_address, e.created_at, e.date, e.is_test,
         c.headers, c.addresses, c.in_reply_to, c.reference_ids, c.text_body, c.html_body, c.cleaned_text, c.cleaned_html,
         c.attachments, c.priority, c.is_truncated
  from unnest($1::text[], $2::text[]) k(user_id, id)
  -- limit 1: looked up by key, row by row, whatever the planner thinks of the tables' sizes
  cross join lateral (select * from email e where e.user_id = k.user_id and e.id = k.id limit 1) e
  cross join lateral (select * from email_content c where c.user_id = k.user_id and c.email_id = k.id limit 1) c`;
