import { createHash, randomBytes } from 'node:crypto';
import type { RecipientCheckOptions } from '../../../actors/receiving/check-recipient.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { deriveReplyAddressKey } from '../../../core/smtp/reply-address.ts';
import { deriveReturnAddressKey, makeReturnAddress } from '../../../core/smtp/return-address.ts';
import type { Database } from '../../../db/connection/database.ts';
import { countEmailsSql } from '../../../db/queries/emails/email-counter.ts';
import type { TestMailbox } from './routing-rows.ts';

/** SECRET_KEY of tests that make return addresses. */
export const testSecretKey = Buffer.alloc(32, 7);
export const testReturnAddressKey = deriveReturnAddressKey(testSecretKey);
const testReplyAddressKey = deriveReplyAddressKey(testSecretKey);

/** What checkRecipient is given by the receiving actor. */
export function recipientCheck(database: Database): RecipientCheckOptions {
  const keys = { returnAddressKey: testReturnAddressKey, replyAddressKey: testReplyAddressKey };
  return { database, ...keys, now: () => new Date() };
}

/** One recipient as the sending actor leaves it; delivered unless told. */
interface SentRecipient {
  address: string;
  status?: 'pending' | 'delivered' | 'bounced' | 'failed';
  /** position of the recipient whose return address its transaction bore; its own unless told, null when that is not known yet */
  returnOf?: number | null;
  lastCode?: number | null;
  lastStatus?: string | null;
  lastText?: string | null;
  refusalReason?: string | null;
  attempts?: number;
}

export interface SentMailOptions {
  recipients?: readonly SentRecipient[];
  /** the From address, instead of the mailbox' */
  from?: string;
  subject?: string;
  references?: readonly string[];
  /** of the email; that of its recipients by precedence unless told */
  status?: 'pending' | 'delivered' | 'bounced' | 'failed';
  /** hours ago */
  age?: number;
}

export interface SentMail {
  emailId: string;
  messageId: string;
  raw: Buffer;
  recipientIds: string[];
  /** of the recipient at that position, at the domain of the mailbox unless told */
  returnAddress(position?: number, domain?: string): string;
}

/** Inserts a sent email with bytes, totals and recipients, straight into the tables. */
export async function insertSentMail(
  database: Database,
  mailbox: Pick<TestMailbox, 'workspaceId' | 'domainId' | 'addressId' | 'address'>,
  options: SentMailOptions = {},
): Promise<SentMail> {
  const { recipients = [{ address: 'joe@elsewhere.test' }], subject = 'Hello', references = [] } = options;
  const from = options.from ?? mailbox.address;
  const domain = from.split('@')[1] ?? '';
  const createdAt = new Date(Date.now() - (options.age ?? 0) * 3_600_000);
  const emailId = makeIdentifier('email', createdAt, randomBytes(10));
  const messageId = `<${emailId}@${domain}>`;
  const recipientIds = recipients.map(() => makeIdentifier('recipient', createdAt, randomBytes(10)));
  const raw = Buffer.from(
    `From: Owner <${from}>\r\nTo: ${recipients[0]?.address ?? ''}\r\nSubject: ${subject}\r\nMessage-ID: ${messageId}\r\n\r\nHello\r\n`,
  );
  const rawId = makeIdentifier('raw', createdAt, randomBytes(10));
  const statuses = recipients.map(({ status = 'delivered' }) => status);
  const status =
    options.status ??
    (['pending', 'bounced', 'failed', 'delivered'] as const).find((one) => statuses.includes(one)) ??
    'delivered';
  await database.pool.query('insert into raw_message (id, packed, sha256, size_bytes) values ($1, $2, $3, $4)', [
    rawId,
    raw,
    createHash('sha256').update(raw).digest(),
    raw.length,
  ]);
  await database.pool.query(
    `with e as (
       insert into email (workspace_id, id, type, status, created_at, sent_at, raw_id, own_address, own_domain, address_id, domain_id, message_id,
         subject, base_subject, from_name, from_address, from_text, to_addresses, cc_addresses, preview, is_read)
       values ($1, $2, 'sent', $3, $4, case when $3 = 'delivered' then $4::timestamptz end, $5, $6, $7, $8, $9, $10, $11, $11, 'Owner', $6,
         'Owner <' || $6 || '>', $12, '{}', 'Hello', false)
       returning *),
     counted as (${countEmailsSql('(select *, 1 as delta from e)')}),
     content as (
       insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, attachments, parser_version)
       select workspace_id, id, '[]', $13, '{}', $14, 'Hello', '[]', 1 from e)
     insert into email_search (workspace_id, email_id, created_at, text) select workspace_id, id, created_at, lower(subject) from e`,
    [
      mailbox.workspaceId,
      emailId,
      status,
      createdAt,
      rawId,
      from,
      domain,
      mailbox.addressId,
      mailbox.domainId,
      messageId,
      subject,
      recipients.map(({ address }) => address),
      JSON.stringify({
        from: { text: `Owner <${from}>`, addresses: [{ name: 'Owner', address: from }] },
        to: {
          text: recipients.map(({ address }) => address).join(', '),
          addresses: recipients.map(({ address }) => ({ name: null, address })),
        },
        cc: null,
        bcc: null,
        replyTo: null,
      }),
      references,
    ],
  );
  for (const [at, recipient] of recipients.entries()) {
    const { status: own = 'delivered', returnOf = at, attempts = 1 } = recipient;
    await database.pool.query(
      `insert into recipient (workspace_id, id, email_id, address, domain, status, queued_at, attempts, next_attempt_at, return_id, last_code,
         last_status, last_text, refusal_reason, settled_at, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, case when $6 = 'pending' then $7::timestamptz + interval '1 day' end, $9, $10, $11, $12, $13,
         case when $6 <> 'pending' then $7::timestamptz end, $7)`,
      [
        mailbox.workspaceId,
        recipientIds[at],
        emailId,
        recipient.address,
        recipient.address.split('@')[1],
        own,
        createdAt,
        attempts,
        returnOf === null ? null : recipientIds[returnOf],
        recipient.lastCode ?? (own === 'delivered' ? 250 : null),
        recipient.lastStatus ?? (own === 'delivered' ? '2.0.0' : null),
        recipient.lastText ?? (own === 'delivered' ? 'Ok' : null),
        recipient.refusalReason ?? null,
      ],
    );
  }
  return {
    emailId,
    messageId,
    raw,
    recipientIds,
    returnAddress: (position = 0, at = domain) =>
      makeReturnAddress(testReturnAddressKey, recipientIds[position] ?? '', at),
  };
}

/** What the tables say of the recipients of an email, in the order of their addresses. */
export async function listRecipients(database: Database, emailId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query(
    `select address, status, last_code, last_status, last_text, refusal_reason, next_attempt_at, settled_at, complained_at, reported_at from recipient
     where email_id = $1 order by address`,
    [emailId],
  );
  return rows;
}
