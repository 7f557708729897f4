import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { composeMessage } from '../../../core/mime/compose-message.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { encryptSecret, NONCE_BYTES } from '../../../core/shared/secret-box.ts';
import { type Database } from '../../../db/connection/database.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { countEmailsSql } from '../../../db/queries/emails/email-counter.ts';
import { createMailbox, type TestMailbox } from './routing-rows.ts';

export interface QueuedMail {
  to: string[];
  subject?: string;
  text?: string;
  /** instead of a composed message */
  bytes?: Buffer;
}

export interface TestSender extends TestMailbox {
  domain: string;
  /** what is published for its key: name and value of the TXT record; null without a key */
  dkimRecord: { name: string; value: string } | null;
}

/** An account with a verified domain, an address on it, and a key to sign with. */
export async function createSender(
  database: Database,
  domain: string,
  secretKey: Uint8Array | null,
): Promise<TestSender> {
  const mailbox = await createMailbox(database, { domain, address: `hello@${domain}` });
  if (secretKey === null) return { ...mailbox, domain, dkimRecord: null };
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const publicKey = pair.publicKey.toString('base64');
  await database.pool.query(
    `insert into dkim_key (workspace_id, domain_id, selector, private_key_ciphertext, public_key) values ($1, $2, 'sel1', $3, $4)`,
    [
      mailbox.workspaceId,
      mailbox.domainId,
      encryptSecret(secretKey, 'dkim-key', pair.privateKey, randomBytes(NONCE_BYTES)),
      publicKey,
    ],
  );
  return {
    ...mailbox,
    domain,
    dkimRecord: { name: `sel1._domainkey.${domain}`, value: `v=DKIM1; k=rsa; p=${publicKey}` },
  };
}

/** Queues an email to be sent at once, straight into the tables; returns its id. */
export async function queueMail(database: Database, sender: TestSender, mail: QueuedMail): Promise<string> {
  const now = new Date();
  const emailId = makeIdentifier('email', now, randomBytes(10));
  const rawId = makeIdentifier('raw', now, randomBytes(10));
  const subject = mail.subject ?? 'A subject';
  const bytes =
    mail.bytes ??
    (await composeMessage({
      messageId: `<${emailId}@${sender.domain}>`,
      date: now,
      from: { name: 'Hello', address: sender.address },
      to: mail.to.map((address) => ({ name: null, address })),
      cc: [],
      replyTo: [],
      subject,
      text: mail.text ?? 'Good day.\n',
      html: null,
      inReplyTo: null,
      references: [],
      fields: [],
      attachments: [],
    }));
  await inTransaction(database, async (client) => {
    await client.query(`insert into raw_message (id, packed, sha256, size_bytes) values ($1, $2, $3, $4)`, [
      rawId,
      bytes,
      createHash('sha256').update(bytes).digest(),
      bytes.length,
    ]);
    await client.query(
      `with e as (
         insert into email (workspace_id, id, type, status, created_at, raw_id, own_address, own_domain, address_id, domain_id, message_id,
           subject, base_subject, from_address, from_text, to_addresses, cc_addresses, preview)
         select $1, $2, 'sent', 'pending', date_trunc('milliseconds', postroom_now()), $3, $4, $5, $6, $7, $8, $9, $9, $4, $4, $10, '{}', ''
         returning *),
       counted as (${countEmailsSql('(select *, 1 as delta from e)')})
       insert into recipient (workspace_id, id, email_id, address, domain, queued_at, next_attempt_at, created_at)
       select e.workspace_id, r.id, e.id, r.address, lower(split_part(r.address, '@', 2)), e.created_at, e.created_at, e.created_at
       from e cross join unnest($11::text[], $10::text[]) as r(id, address)`,
      [
        sender.workspaceId,
        emailId,
        rawId,
        sender.address,
        sender.domain,
        sender.addressId,
        sender.domainId,
        `<${emailId}@${sender.domain}>`,
        subject,
        mail.to,
        mail.to.map(() => makeIdentifier('recipient', now, randomBytes(10))),
      ],
    );
  });
  return emailId;
}
