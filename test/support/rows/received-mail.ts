import { randomBytes } from 'node:crypto';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { TestMailbox } from './routing-rows.ts';

export interface ReceivedMailOptions {
  count?: number;
  /** of the text body; 200 unless told */
  textBytes?: number;
  /** the catch-all took it */
  isCatchAll?: boolean;
  /** local-part of the own address, instead of the mailbox' */
  localPart?: string;
  subject?: string;
  /** the Message-IDs begin with it: `<tag.N.` */
  tag?: string;
}

/** A mail as threading leaves it: to be routed. */
export interface ReceivedMail {
  emailId: string;
  messageId: string;
  rawId: string;
  raw: Buffer;
}

/** Inserts received, parsed and threaded mail to the mailbox, with bytes, in the order of age. */
export async function insertReceivedMail(
  database: Database,
  mailbox: Pick<TestMailbox, 'workspaceId' | 'domainId' | 'addressId' | 'address'>,
  options: ReceivedMailOptions = {},
): Promise<ReceivedMail[]> {
  const { count = 1, textBytes = 200, subject = 'Hello', tag = 'mail' } = options;
  const [mailboxLocalPart = '', domain = ''] = mailbox.address.split('@');
  const ownAddress = `${options.localPart ?? mailboxLocalPart}@${domain}`;
  const startedAt = Date.now() - count;
  const rows = Array.from({ length: count }, (_, n) => {
    const at = new Date(startedAt + n);
    const emailId = makeIdentifier('email', at, randomBytes(10));
    const messageId = `<${tag}.${n}.${randomBytes(6).toString('hex')}@sender.test>`;
    const text = randomBytes(Math.ceil(textBytes / 2))
      .toString('hex')
      .replaceAll(/.{70}/g, '$&\r\n');
    const headers = [
      ['from', 'Ann <ann@sender.test>'],
      ['to', ownAddress],
      ['subject', subject],
      ['message-id', messageId],
      ['x-repeated', 'one'],
      ['x-repeated', 'two'],
    ];
    const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const raw = Buffer.from(`${head}\r\n${text}`);
    return { at, emailId, messageId, text, headers, raw, rawId: makeIdentifier('raw', at, randomBytes(10)) };
  });
  const mailboxes = (address: string, name: string | null) => ({
    text: name === null ? address : `${name} <${address}>`,
    addresses: [{ name, address }],
  });
  for (let from = 0; from < rows.length; from += 500) {
    const part = rows.slice(from, from + 500);
    await database.pool.query(
      `with row as materialized (
         select * from jsonb_to_recordset($1::jsonb) as x(at timestamptz, "emailId" text, "messageId" text, text text, headers jsonb,
           "rawId" text, raw text)
       ), raw as (
         insert into raw_message (id, packed, sha256, size_bytes)
         select "rawId", decode(raw, 'base64'), sha256(decode(raw, 'base64')), length(decode(raw, 'base64')) from row
       ), content as (
         insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, cleaned_text,
           attachments, injection, parser_version)
         select $2, "emailId", headers, $3::jsonb, '{}', '{}', text, text, '[]', '{"verdict":"clear","findings":[]}', 1 from row
       ), route_row as (
         insert into route (workspace_id, email_id, created_at, threaded_at) select $2, "emailId", at, at from row
       )
       insert into email (workspace_id, id, type, status, created_at, raw_id, own_address, own_domain, address_id, domain_id, recipient,
         message_id, subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses, preview, date, thread_id,
         thread_position)
       select $2, "emailId", 'received', 'delivered', at, "rawId", $4, $5, $6, $7, $4, "messageId", $8, $8, 'Ann', 'ann@sender.test',
         'Ann <ann@sender.test>', array[$4], '{}', left(text, 80), at, 'th_test', 0 from row`,
      [
        JSON.stringify(part.map((row) => ({ ...row, raw: row.raw.toString('base64') }))),
        mailbox.workspaceId,
        JSON.stringify({
          from: mailboxes('ann@sender.test', 'Ann'),
          to: mailboxes(ownAddress, null),
          cc: null,
          bcc: null,
          replyTo: null,
        }),
        ownAddress,
        domain,
        options.isCatchAll === true ? null : mailbox.addressId,
        mailbox.domainId,
        subject,
      ],
    );
  }
  return rows.map(({ emailId, messageId, rawId, raw }) => ({ emailId, messageId, rawId, raw }));
}
