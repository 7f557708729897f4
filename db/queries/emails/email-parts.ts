import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Row, Tables } from '../../entities/tables.ts';
import {
  type CleanedContent,
  type CleanedRow,
  type ContentRow,
  cleanedContent,
  type EmailContent,
  emailContent,
} from './email-row.ts';

/** Parts of an email's content that may be large, read only on request. */
const CONTENT_PARTS = ['headers', 'text', 'html', 'cleanedText', 'cleanedHtml'] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

/** The content of an email; parts that were not requested are null, headers empty. */
export interface EmailParts extends EmailContent, CleanedContent {
  priority: 'high' | 'normal' | 'low' | null;
  /** whether parts of the message were left out, because it has too many */
  isTruncated: boolean;
  /** why only the header section could be read; null when everything was */
  parseError: string | null;
}

/** Returns the contents of those of the emails that belong to the user, by email id. */
export async function findContentParts(
  transaction: Transaction<Tables>,
  userId: string,
  emailIds: readonly string[],
  parts: ReadonlySet<ContentPart>,
): Promise<Map<string, EmailParts>> {
  const asked = (part: ContentPart, column: RawBuilder<unknown>, absent: RawBuilder<unknown>) =>
    parts.has(part) ? column : absent;
  const { rows } = await sql<PartsRow>`
    select c.email_id, c.addresses, c.in_reply_to, c.reference_ids, c.attachments, c.authentication, c.tags, c.priority, c.removed_parts,
      c.is_truncated, c.parse_error,
      ${asked('headers', sql`c.headers`, sql`'[]'::jsonb`)} as headers,
      ${asked('text', sql`c.text_body`, NO_TEXT)} as text_body,
      ${asked('html', sql`c.html_body`, NO_TEXT)} as html_body,
      ${asked('cleanedText', sql`case when c.cleaned_text is null then c.text_body else c.cleaned_text end`, NO_TEXT)} as cleaned_text,
      ${asked('cleanedHtml', sql`c.cleaned_html`, NO_TEXT)} as cleaned_html
    from email_content c where c.user_id = ${userId} and c.email_id = any (${emailIds}::text[])`.execute(transaction);
  return new Map(rows.map((row) => [row.email_id, partsOf(row)]));
}

const NO_TEXT = sql`null::text`;

type PartsRow = ContentRow &
  CleanedRow &
  Pick<Row<'email_content'>, 'email_id' | 'is_truncated' | 'parse_error'> & {
    priority: EmailParts['priority'];
  };

function partsOf(row: PartsRow): EmailParts {
  return {
    ...emailContent(row),
    ...cleanedContent(row, null),
    priority: row.priority,
    isTruncated: row.is_truncated,
    parseError: row.parse_error,
  };
}
