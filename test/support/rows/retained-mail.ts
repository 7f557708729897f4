import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '../../../db/connection/database.ts';

/** A recipient's email that was stored without bytes. */
export interface SharedMail {
  workspaceId: string;
  emailId: string;
}

/** Gives emails one raw message, as those of one SMTP transaction have, with bodies, receptions and a decided route. Returns its id. */
export async function giveRaw(owner: Database, mails: readonly SharedMail[], text = 'the body'): Promise<string> {
  const rawId = `raw_${randomBytes(12).toString('hex')}`;
  const bytes = Buffer.from(`Subject: shared\r\n\r\n${text} ${rawId}\r\n`);
  await owner.pool.query('insert into raw_message (id, packed, sha256, size_bytes) values ($1, $2, $3, $4)', [
    rawId,
    bytes,
    createHash('sha256').update(bytes).digest(),
    bytes.length,
  ]);
  for (const { workspaceId, emailId } of mails) {
    await owner.pool.query(`update email set raw_id = $3, preview = left($4, 20) where workspace_id = $1 and id = $2`, [
      workspaceId,
      emailId,
      rawId,
      text,
    ]);
    await owner.pool.query(
      `update email_content set text_body = $3, html_body = '<p>' || $3 || '</p>' where workspace_id = $1 and email_id = $2`,
      [workspaceId, emailId, text],
    );
    await owner.pool.query(
      `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
         trace_fields, accepted_at, parsed_at)
       select $1, $2, $3, 'ann@a.test', own_address, own_address, 'dom', '192.0.2.1', 'a.test', false, '', created_at, created_at
       from email where workspace_id = $1 and id = $2`,
      [workspaceId, emailId, rawId],
    );
    await owner.pool.query(
      `update route set outcome = 'stored', decided_at = created_at where workspace_id = $1 and email_id = $2`,
      [workspaceId, emailId],
    );
  }
  return rawId;
}

/** Rows of the user's that name one of the emails, by table, but for events, which have an age of their own; empty: none is left. */
export async function listTraces(owner: Database, workspaceId: string, emailIds: readonly string[]): Promise<string[]> {
  const { rows: tables } = await owner.pool.query<{ name: string; column: string }>(`
    select c.relname as name, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relkind = 'r' and c.relname <> 'event' and c.relnamespace = 'public'::regnamespace and a.attname in ('email_id', 'latest_email_id', 'subject_id')
      and exists (select from pg_attribute u where u.attrelid = c.oid and u.attname = 'workspace_id')`);
  const found = [];
  for (const { name, column } of [...tables, { name: 'email', column: 'id' }]) {
    const { rows } = await owner.pool.query<{ count: number }>(
      `select count(*) from ${name} where workspace_id = $1 and ${column} = any ($2::text[])`,
      [workspaceId, emailIds],
    );
    if (rows[0]?.count !== 0) found.push(`${name}.${column}`);
  }
  return found;
}
