import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Row, Tables } from '../../entities/tables.ts';
import { bodySizeSql, type PlacedColumns, readPlaced } from './bodies-in-message.ts';
import {
  bodySize,
  type CleanedContent,
  type CleanedRow,
  type ContentRow,
  cleanedContent,
  type EmailContent,
  emailContent,
} from './email-row.ts';
import { type BodyColumn, largeBodies, readLargeBodies, smallBody, type WithLargeBodies } from './large-bodies.ts';

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

/** Which parts of which emails are read. */
export interface PartsRequest {
  emailIds: readonly string[];
  parts: ReadonlySet<ContentPart>;
  /** parts of more bytes than this together are not read, and their size is returned instead */
  maxBytes: number;
}

/** The sizes of parts that were not read; bytes. */
export interface PartSizes {
  /** of all parts of all emails */
  bytes: number;
  byEmail: ReadonlyMap<string, ReadonlyMap<ContentPart, number>>;
}

/**
 * Returns the contents of those of the emails that belong to the workspace, by email id; or how many bytes the parts have. Large bodies are a
 * LargeText.
 */
export async function findContentParts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { emailIds, parts, maxBytes }: PartsRequest,
): Promise<Map<string, EmailParts> | PartSizes> {
  const fits = sql`c.total_bytes <= ${maxBytes}::bigint`;
  const asked = (part: ContentPart, column: RawBuilder<unknown>, absent: RawBuilder<unknown>) =>
    parts.has(part) ? sql`case when ${fits} then ${column} else ${absent} end` : absent;
  const sizes = [...parts].map((part) => partBytes[part]);
  const bytes = sizes.length === 0 ? sql`0` : sql.join(sizes, sql` + `);
  const isBodyAsked = sql.lit([...parts].some((part) => part !== 'headers'));
  const { rows } = await sql<PartsRow & PlacedColumns>`
    select c.email_id, c.addresses, c.in_reply_to, c.reference_ids, c.attachments, c.authentication, c.injection, c.screening, c.tags, c.priority, c.removed_parts,
      c.is_truncated, c.parse_error, c.total_bytes,
      ${asked('headers', sql`c.headers`, sql`'[]'::jsonb`)} as headers,
      ${asked('text', smallBody('text_body'), NO_TEXT)} as text_body,
      ${asked('html', smallBody('html_body'), NO_TEXT)} as html_body,
      ${asked('cleanedText', sql`case when ${isUncleaned} then ${smallBody('text_body')} else ${smallBody('cleaned_text')} end`, NO_TEXT)} as cleaned_text,
      ${asked('cleanedHtml', smallBody('cleaned_html'), NO_TEXT)} as cleaned_html,
      ${largeBodies} as large_bodies, ${isUncleaned} as is_uncleaned, c.part_bytes, c.body_places,
      case when c.body_places is not null and ${isBodyAsked} and ${fits} then placed_message(c.workspace_id, c.email_id) end as placed_message
    from (
      select c.*, (sum(${bytes}) over ())::bigint as total_bytes, json_build_array(${sql.join(sizes)}) as part_bytes from email_content c
      where c.workspace_id = ${workspaceId} and c.email_id = any (${emailIds}::text[])) c`.execute(transaction);
  const total = rows[0]?.total_bytes ?? 0;
  if (total > maxBytes) {
    const order = [...parts];
    const ofEmail = (row: PartsRow) => new Map(order.map((part, at) => [part, row.part_bytes[at] ?? 0]));
    return { bytes: total, byEmail: new Map(rows.map((row) => [row.email_id, ofEmail(row)])) };
  }
  const contents = new Map<string, EmailParts>();
  for (const row of rows)
    contents.set(
      row.email_id,
      toParts(await readLargeParts(transaction, workspaceId, { row: readPlacedParts(row, parts), parts })),
    );
  return contents;
}

const NO_TEXT = sql`null::text`;
/** Whether nothing was removed from the text. */
const isUncleaned = sql`(${sql.raw(bodySizeSql('cleaned_text'))} is null)`;

/** Bytes of each part. PostgreSQL knows those of bodies without reading them. */
const partBytes: Record<ContentPart, RawBuilder<unknown>> = {
  headers: sql`coalesce(octet_length(c.headers::text), 0)`,
  text: bodySize('text_body'),
  html: bodySize('html_body'),
  cleanedText: sql`coalesce(${sql.raw(bodySizeSql('cleaned_text'))}, ${bodySize('text_body')})`,
  cleanedHtml: bodySize('cleaned_html'),
};

type PartsRow = ContentRow &
  CleanedRow &
  Pick<Row<'email_content'>, 'email_id' | 'is_truncated' | 'parse_error'> & {
    priority: EmailParts['priority'];
    /** of all rows */
    total_bytes: number;
    /** in the order of the parts */
    part_bytes: number[];
    large_bodies: BodyColumn[];
    /** nothing was removed from its text */
    is_uncleaned: boolean;
  };

/** Returns a row with those of the parts that lie in the message. */
function readPlacedParts(row: PartsRow & PlacedColumns, parts: ReadonlySet<ContentPart>): PartsRow {
  const columns = BODY_PARTS.flatMap(([column, part]) => (parts.has(part) ? [column] : []));
  const isTextCleaned = parts.has('cleanedText') && row.is_uncleaned;
  const read = readPlaced(row, isTextCleaned ? [...columns, 'text_body'] : columns);
  const cleanedText = isTextCleaned ? (read.text_body ?? row.cleaned_text) : read.cleaned_text;
  return { ...read, text_body: parts.has('text') ? read.text_body : null, cleaned_text: cleanedText };
}

const BODY_PARTS = [
  ['text_body', 'text'],
  ['html_body', 'html'],
  ['cleaned_text', 'cleanedText'],
  ['cleaned_html', 'cleanedHtml'],
] as const satisfies [BodyColumn, ContentPart][];

/** Returns a row with the large ones of the parts. */
async function readLargeParts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { row, parts }: { row: PartsRow; parts: ReadonlySet<ContentPart> },
): Promise<WithLargeBodies<PartsRow>> {
  const sources: [target: BodyColumn, part: ContentPart, source: BodyColumn][] = [
    ['text_body', 'text', 'text_body'],
    ['html_body', 'html', 'html_body'],
    ['cleaned_text', 'cleanedText', row.is_uncleaned ? 'text_body' : 'cleaned_text'],
    ['cleaned_html', 'cleanedHtml', 'cleaned_html'],
  ];
  const asked = sources.filter(([, part, source]) => parts.has(part) && row.large_bodies.includes(source));
  const columns = [...new Set(asked.map(([, , source]) => source))];
  const found = await readLargeBodies(transaction, workspaceId, { emailId: row.email_id, row, columns });
  const whole: WithLargeBodies<PartsRow> = { ...row };
  for (const [target, , source] of asked) whole[target] = found[source];
  return whole;
}

function toParts(row: WithLargeBodies<PartsRow>): EmailParts {
  return {
    ...emailContent(row),
    ...cleanedContent(row, null),
    priority: row.priority,
    isTruncated: row.is_truncated,
    parseError: row.parse_error,
  };
}
