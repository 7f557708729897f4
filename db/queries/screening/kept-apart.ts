import type pg from 'pg';
import type { KeptApart, Screening } from '../../../core/screening/spam-check.ts';

/** A received email that is marked, locked. */
export interface MarkableEmail {
  id: string;
  type: 'sent' | 'received' | 'scheduled';
  /** null: it was never threaded, as mail that was filed as spam when it came */
  threadId: string | null;
  keptApart: KeptApart | null;
  screening: Screening | null;
}

/** Returns those of the emails that belong to the workspace, locked in id order. */
export async function lockMarkable(
  client: pg.ClientBase,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<MarkableEmail[]> {
  const { rows } = await client.query<MarkableEmail>({
    name: 'apart-lock',
    text: `
      select e.id, e.type, e.thread_id as "threadId", e.kept_apart as "keptApart", c.screening
      from (select * from email o where o.workspace_id = $1 and o.id = any ($2::text[]) order by o.id for update) e
      left join email_content c on c.workspace_id = $1 and c.email_id = e.id`,
    values: [workspaceId, emailIds],
  });
  return rows;
}

/** Stores what is now known about an email, and where it is kept. */
export async function writeScreening(
  client: pg.ClientBase,
  workspaceId: string,
  { emailId, screening, keptApart }: { emailId: string; screening: Screening; keptApart: KeptApart | null },
): Promise<void> {
  await client.query({
    name: 'apart-write',
    text: `
      with content as (
        update email_content c set screening = $3::jsonb where c.workspace_id = $1 and c.email_id = $2
      )
      update email e set kept_apart = $4, updated_at = (select postroom_now()) where e.workspace_id = $1 and e.id = $2`,
    values: [workspaceId, emailId, JSON.stringify(screening), keptApart],
  });
}

/**
 * Takes the content of an infected email away: what it says beyond its header section, also where the findings quote it, and the way to its
 * bytes, which only the quarantine has from now on.
 */
export async function takeContentAway(client: pg.ClientBase, workspaceId: string, emailId: string): Promise<void> {
  await client.query({
    name: 'apart-content',
    text: `
      with content as (
        update email_content c set text_body = null, html_body = null, cleaned_text = null, cleaned_html = null, body_places = null,
          removed_parts = '[]', attachments = '[]', injection = jsonb_set(injection, '{findings}', '[]')
        where c.workspace_id = $1 and c.email_id = $2
      )
      update email e set raw_id = null, preview = '', has_attachments = false, attachment_count = 0
      where e.workspace_id = $1 and e.id = $2`,
    values: [workspaceId, emailId],
  });
}

/**
 * Turns an email that was stored apart when it came into a reception again, which is parsed, threaded and routed as if it had just come. The
 * row of the email goes with it, so that this happens once. Returns whether it did.
 */
export async function releaseToReception(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
  screening: Screening,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'apart-release',
    text: `
      with gone as materialized (
        delete from email e where e.workspace_id = $1 and e.id = $2 and e.kept_apart is not null and e.thread_id is null returning e.id
      ), content as (
        delete from email_content c where c.workspace_id = $1 and c.email_id = any (array(select id from gone))
      ), trashed as (
        delete from trashed_email t where t.workspace_id = $1 and t.email_id = any (array(select id from gone))
      )
      update reception r set parsed_at = null, claimed_by = null, claimed_until = null, tries = 0, screening = $3::jsonb
      where r.workspace_id = $1 and r.email_id = any (array(select id from gone))`,
    values: [workspaceId, emailId, JSON.stringify(screening)],
  });
  return (rowCount ?? 0) > 0;
}
