import type { Database } from '../../../db/connection/database.ts';

/** A stored email with all that searches look at. */
export interface SearchedMail {
  id: string;
  type: 'received' | 'sent' | 'scheduled';
  createdAt: Date;
  subject: string;
  from: { name: string; address: string };
  to: { name: string; address: string }[];
  ownAddress: string;
  recipient: string | null;
  text: string | null;
  html: string | null;
  /** the text that a reader of it sees, by the hand of who wrote the test */
  visible: string;
  hasAttachments: boolean;
  isRead: boolean;
  isArchived: boolean;
  inReplyTo: string[];
  threadId: string | null;
  labels: string[];
}

const PEOPLE = [
  { name: 'Ann Lee', address: 'ann@x.test' },
  { name: 'Anna Levi', address: 'anna@y.test' },
  { name: 'Bob Roy', address: 'bob@y.test' },
  { name: "Cy O'Brien", address: 'cy.ann@z.test' },
  { name: 'Jürgen Müller', address: 'juergen@xx.test' },
];
const OWN = { name: 'Own', address: 'own@home.test' };
const SUBJECTS = [
  'rent',
  'Rent for March',
  'Re: rental',
  'Über die Straße',
  '東京都の天気',
  'Привет, мир',
  'keys 12:30',
  '',
];
const BODIES = [
  'hello world',
  'Hello,\n\nworld! Everywhere.',
  'world, hello',
  'the invoice of March',
  'invoices: uber strasse',
  'see https://shop.test/path?q=1 at 12:30',
  'write to ann@x.test',
  '京都 and 東京 are cities',
  "O'Brien’s “quoted” hello—world",
  "& | ! ( ) : * <-> \\ ' -",
];

/** Mail over half a year in which everything occurs together with everything. */
export function someMail(random: () => number, count: number): SearchedMail[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  return Array.from({ length: count }, (_, at): SearchedMail => {
    const kind = random();
    const type = kind < 0.7 ? 'received' : kind < 0.93 ? 'sent' : 'scheduled';
    const other = pick(PEOPLE);
    const others = Array.from({ length: 1 + Math.floor(random() * 2) }, () => pick(PEOPLE));
    const words = `${pick(BODIES)} ${pick(BODIES)} everywhere${at === 300 ? ' rare' : ''}`;
    const isHtml = random() < 0.3;
    const html = `<html><head><title>t</title><style>.secretcss{color:red}</style></head><body><p>${escaped(words)}</p><div>visible<b>word</b></div><script>secretcss()</script></body></html>`;
    return {
      id: `em_${String(at).padStart(5, '0')}`,
      type,
      createdAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(random() * 180 * 24) * 3_600_000),
      subject: pick(SUBJECTS),
      from: type === 'received' ? other : OWN,
      to: type === 'received' ? [OWN] : others,
      ownAddress: OWN.address,
      recipient: type === 'received' ? 'own+tag@home.test' : null,
      text: isHtml ? null : words,
      html: isHtml ? html : null,
      visible: isHtml ? `${words} visibleword` : words,
      hasAttachments: random() < 0.2,
      isRead: type !== 'received' ? false : random() < 0.6,
      isArchived: type !== 'received' ? false : random() < 0.3,
      inReplyTo: random() < 0.5 && at > 0 ? [`<${Math.floor(random() * at)}@mail.test>`] : [],
      threadId: null,
      labels: [],
    };
  });
}

/** Stores the mails with their words and without threads, as mail is stored. */
export async function storeMail(
  database: Database,
  workspaceId: string,
  mails: readonly SearchedMail[],
): Promise<void> {
  const shown = (list: readonly { name: string; address: string }[]) => ({
    text: list.map(({ name, address }) => `"${name}" <${address}>`).join(', '),
    addresses: list,
  });
  const rows = mails.map((mail, at) => ({
    id: mail.id,
    type: mail.type,
    status: mail.type === 'scheduled' ? 'scheduled' : 'delivered',
    created_at: mail.createdAt,
    own_address: mail.ownAddress,
    own_domain: mail.ownAddress.split('@')[1],
    recipient: mail.recipient,
    message_id: `<${at}@mail.test>`,
    subject: mail.subject,
    from_address: mail.from.address,
    from_text: shown([mail.from]).text,
    to_addresses: mail.to.map(({ address }) => address),
    has_attachments: mail.hasAttachments,
    is_read: mail.isRead,
    is_archived: mail.isArchived,
    in_reply_to: mail.inReplyTo,
    addresses: { from: shown([mail.from]), to: shown(mail.to), cc: null, bcc: null, replyTo: null },
    text_body: mail.text,
    html_body: mail.html,
  }));
  await database.pool.query(
    `with row as materialized (
       select * from jsonb_to_recordset($2::jsonb) as x(id text, type text, status text, created_at timestamptz, own_address text,
         own_domain text, recipient text, message_id text, subject text, from_address text, from_text text, to_addresses text[],
         has_attachments boolean, is_read boolean, is_archived boolean, in_reply_to text[], addresses jsonb, text_body text, html_body text)),
     stored as (
       insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, recipient, message_id, subject, base_subject,
         from_address, from_text, to_addresses, cc_addresses, preview, date, has_attachments, is_read, is_archived)
       select $1, id, type, status, created_at, own_address, own_domain, recipient, message_id, subject, '', from_address, from_text,
         to_addresses, '{}', '', created_at, has_attachments, is_read, is_archived from row),
     unindexed as (
       insert into unindexed_email (workspace_id, email_id, state, created_at) select $1, id, 'new', created_at from row)
     insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, html_body, attachments, parser_version)
     select $1, id, '[]', addresses, in_reply_to, '{}', text_body, html_body, '[]', 1 from row`,
    [workspaceId, JSON.stringify(rows)],
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('ü', '&uuml;').replaceAll('’', '&#8217;');
}
