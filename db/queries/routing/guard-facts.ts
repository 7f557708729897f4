import { sql, type Transaction } from 'kysely';
import { z } from 'zod';
import { AUTHENTICATION_RESULTS } from '../../../core/mime/authentication.ts';
import { MAX_GUARDED_HTML_LENGTH, MAX_GUARDED_TEXT_LENGTH, toGuardFacts } from '../../../core/routing/guard-facts.ts';
import type { GuardFacts } from '../../../core/routing/guard-rule.ts';
import { INJECTION_VERDICTS } from '../../../core/screening/screened-mail.ts';
import { NOT_CHECKED, SPAM_VERDICTS } from '../../../core/screening/spam-check.ts';
import type { Tables } from '../../entities/tables.ts';
import { type PlacedColumns, placedColumns, readPlaced } from '../emails/bodies-in-message.ts';
import { addressFields } from '../emails/email-row.ts';

/** What the facts of an email are made from. */
export interface GuardFactsRow {
  subject: string;
  recipient: string | null;
  own_address: string;
  /** jsonb; null when there is no content */
  addresses: unknown;
  attachments: unknown;
  authentication: unknown;
  /** jsonb; null: not screened */
  injection: unknown;
  /** jsonb; null: not checked */
  screening: unknown;
  text_body: string | null;
  html_body: string | null;
  /** not null: only its header section was read, and its contents are unknown */
  parse_error: string | null;
}

/** A row of guardFactsColumns, which readGuardFacts makes a GuardFactsRow. */
export type StoredFactsRow = GuardFactsRow & PlacedColumns;

/** Returns a row with the bodies that lie in the message. */
export function readGuardFacts<Row extends StoredFactsRow>(row: Row): Omit<Row, keyof PlacedColumns> {
  return readPlaced(row, GUARDED);
}

/** whole: with the beginnings of the bodies; outline: without, for rules that do not use them (see readsText) */
export type GuardFactsExtent = 'whole' | 'outline';

/** The columns of StoredFactsRow, of `email e` and `email_content c` (left joined). */
export function guardFactsColumns(extent: GuardFactsExtent): string {
  const bodies =
    extent === 'whole'
      ? `left(c.text_body, ${MAX_GUARDED_TEXT_LENGTH}) as text_body, left(c.html_body, ${MAX_GUARDED_HTML_LENGTH}) as html_body, ${placedColumns()}`
      : 'null::text as text_body, null::text as html_body, null::integer[] as body_places, null::bytea as placed_message';
  return `e.subject, e.recipient, e.own_address, c.addresses, c.attachments, c.authentication, c.injection, c.screening, c.parse_error, ${bodies}`;
}

/**
 * The facts of received emails by the parallel arrays $1 (workspace ids) and $2 (email ids), for either role. Rows: StoredFactsRow with workspace_id
 * and email_id.
 */
export function readGuardFactsSql(extent: GuardFactsExtent): string {
  return `
  select e.workspace_id, e.id as email_id, ${guardFactsColumns(extent)}
  from unnest($1::text[], $2::text[]) k(workspace_id, id)
  -- limit 1: looked up by key, row by row
  cross join lateral (select * from email e where e.workspace_id = k.workspace_id and e.id = k.id and e.type = 'received' limit 1) e
  left join lateral (select * from email_content c where c.workspace_id = e.workspace_id and c.email_id = e.id limit 1) c on true`;
}

/** Returns the facts of a row; what was not stored is unknown. */
export function guardFactsOfRow(row: GuardFactsRow): GuardFacts {
  return toGuardFacts({
    subject: row.subject,
    addresses: addressFields(row.addresses),
    recipients: [row.recipient, row.own_address],
    textBody: row.text_body,
    htmlBody: row.html_body,
    attachments: attachments.parse(row.attachments ?? []),
    authentication: authentication.parse(row.authentication ?? null),
    injection: screened.parse(row.injection ?? null)?.verdict ?? null,
    spam: scanned.parse(row.screening ?? null)?.spam ?? NOT_CHECKED,
  });
}

const GUARDED = ['text_body', 'html_body'] as const;
const screened = z.object({ verdict: z.enum(INJECTION_VERDICTS) }).nullable();
const scanned = z
  .object({ spam: z.object({ verdict: z.enum(SPAM_VERDICTS), score: z.number().nullable() }).nullable() })
  .nullable();
const attachments = z.array(z.object({ filename: z.string(), contentType: z.string() }));
const result = z.enum(AUTHENTICATION_RESULTS);
const authentication = z
  .object({
    spf: z.object({ result, domain: z.string().nullable() }),
    dkim: z.array(z.object({ result, domain: z.string().nullable(), selector: z.string().nullable() })),
    dmarc: z.object({
      result,
      policy: z.enum(['none', 'quarantine', 'reject']).nullable(),
      domain: z.string().nullable(),
    }),
    arc: z.object({ result }),
    hasSeveralFromFields: z.boolean(),
  })
  .nullable();

/** What rules know about an email, and whether it could be parsed. */
export interface GuardedContent {
  facts: GuardFacts;
  isParsed: boolean;
}

/** Returns what rules know about one received email; null when the workspace has none with that id. */
export async function readFacts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  extent: GuardFactsExtent,
): Promise<GuardedContent | null> {
  const { rows } = await sql<StoredFactsRow>`
    select ${sql.raw(guardFactsColumns(extent))} from email e
    left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.id = ${emailId} and e.type = 'received'`.execute(transaction);
  const [row] = rows.map(readGuardFacts);
  return row === undefined ? null : { facts: guardFactsOfRow(row), isParsed: row.parse_error === null };
}
