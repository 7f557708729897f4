import { downloadPath } from '../../../core/endpoints/download-link.ts';
import { plusTagOf } from '../../../core/mime/address.ts';
import { loadSizes } from '../../../operations/emails/emails.ts';
import { loadRecipientsOf } from '../../../operations/sending/recipients.ts';
import { builder } from '../builder.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { BatchNode, DomainNode, EmailAddressNode, EmailNode, RecipientNode, ThreadNode } from '../nodes.ts';
import { USUAL_RECIPIENTS } from '../sending/recipient.ts';
import { Attachment, EmailContentRef } from './email-content.ts';
import { EmailStatus, EmailType, GuardStatus, ThreadReason } from './email-enums.ts';
import { loadEmailParts } from './email-parts.ts';
import { Mailbox, mailboxesOf, readMailboxes } from './mailbox.ts';

const recipientsOf = loadByOwner(({ reads }, emailIds) => loadRecipientsOf(reads, emailIds));
const sizeOf = loadByOwner(({ reads }, emailIds) => loadSizes(reads, emailIds));

const Tag = builder.objectRef<{ name: string; value: string }>('Tag').implement({
  description: 'A name-value pair to identify a sent email. Recipients do not see it.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the tag.' }),
    value: t.exposeString('value', { description: 'Value of the tag.' }),
  }),
});

EmailNode.implement({
  description: 'An email that was received, sent or scheduled.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.expose('type', { type: EmailType, description: 'Type of the email.' }),
    status: t.expose('status', { type: EmailStatus, description: 'Status of the email.' }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'Why sending stopped. Null if sending continues or succeeded.',
    }),
    messageId: t.exposeString('messageId', {
      description: 'Message-ID header, with angle brackets (RFC 5322 §3.6.4).',
    }),
    subject: t.exposeString('subject', { description: 'Subject, decoded; empty if there is none.' }),
    preview: t.exposeString('preview', { description: 'First characters of the text the author typed, for lists.' }),
    from: t.field({
      type: Mailbox,
      description: 'First address in the From header.',
      resolve: ({ fromName, fromAddress }) => ({ name: fromName, address: fromAddress }),
    }),
    fromText: t.exposeString('fromText', { description: 'From header, decoded.' }),
    to: t.field({ type: [Mailbox], description: 'To header.', resolve: (email) => mailboxesOf(email, 'to') }),
    cc: t.field({ type: [Mailbox], description: 'Cc header.', resolve: (email) => mailboxesOf(email, 'cc') }),
    bcc: t.field({
      type: [Mailbox],
      description: 'Bcc recipients of a sent email. For received mail the Bcc header, which is usually absent.',
      resolve: (email, _args, context) => readMailboxes(context, email, 'bcc'),
    }),
    replyTo: t.field({
      type: [Mailbox],
      description: 'Addresses to reply to. Empty to reply to the sender.',
      resolve: (email, _args, context) => readMailboxes(context, email, 'replyTo'),
    }),
    envelopeRecipient: t.exposeString('recipient', {
      nullable: true,
      description: 'Envelope recipient of a received email, including the plus tag. Null for sent mail.',
    }),
    plusTag: t.string({
      nullable: true,
      description: 'Plus tag of the envelope recipient: `news` in `ann+news@example.com`. Null if there is none.',
      resolve: ({ recipient }) => (recipient === null ? null : plusTagOf(recipient)),
    }),
    ownAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description:
        'Your address that received or sent the email. Null if the catch-all received it, it was sent from another address of the domain, or the address was deleted.',
      resolve: ({ addressId }) => addressId,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Your domain that received or sent the email. Null if it was deleted.',
      resolve: ({ domainId }) => domainId,
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the email was received or created. Lists are sorted by it.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the email last changed.' }),
    sentAt: t.expose('sentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a server first accepted the sent email. Null if none has, or for received mail.',
    }),
    scheduledAt: t.expose('scheduledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Scheduled send time. Null if the email was never scheduled.',
    }),
    timezone: t.exposeString('timezone', {
      nullable: true,
      description: 'IANA time zone of the scheduled time. Null if the email was never scheduled.',
    }),
    date: t.expose('date', {
      type: 'DateTime',
      nullable: true,
      description: 'Date header, set by the sender. Null if it is missing or invalid.',
    }),
    isRead: t.exposeBoolean('isRead', {
      description: 'Whether the received email is marked as read. False for sent mail.',
    }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the email was marked as read. Null if it is unread.',
    }),
    isArchived: t.exposeBoolean('isArchived', { description: 'Whether the received email is archived.' }),
    isTest: t.exposeBoolean('isTest', { description: 'Whether the email was created by simulateInbound.' }),
    hasAttachments: t.exposeBoolean('hasAttachments', { description: 'Whether the email has attachments.' }),
    attachmentCount: t.exposeInt('attachmentCount', { description: 'Number of attachments.' }),
    attachments: t.field({
      type: [Attachment],
      description: 'Attachments, in the order of the email.',
      resolve: async ({ id: emailId, hasAttachments }, _args, context) => {
        if (!hasAttachments) return [];
        const { attachments } = await loadEmailParts(context, emailId, null);
        return attachments.map((attachment) => ({ emailId, attachment }));
      },
    }),
    tags: t.field({
      type: [Tag],
      description: 'Tags of a sent email.',
      resolve: async ({ id, type }, _args, context) =>
        type === 'received' ? [] : (await loadEmailParts(context, id, null)).tags,
    }),
    content: t.field({
      type: EmailContentRef,
      description: 'Bodies and headers.',
      resolve: ({ id }) => ({ emailId: id }),
    }),
    size: t.int({
      nullable: true,
      description: 'Size of the raw message in bytes. Null if it is no longer stored.',
      resolve: ({ id, hasOctets }, _args, context) => (hasOctets ? sizeOf(context, id, null) : null),
    }),
    rawUrl: t.field({
      type: 'URL',
      nullable: true,
      description:
        'URL of the raw message, `message/rfc822`. Requires the same API key. Null if it is no longer stored.',
      resolve: ({ id, hasOctets }, _args, { operations }) =>
        hasOctets ? operations.settings.publicUrl + downloadPath({ emailId: id, part: 'raw' }) : null,
    }),
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread. Null for a moment after the email arrives, and until a scheduled email is sent.',
      resolve: ({ threadId }) => threadId,
    }),
    threadPosition: t.exposeInt('threadPosition', {
      nullable: true,
      description: 'Position in the thread, starting at 0. Null if there is no thread yet.',
    }),
    threadReason: t.expose('threadReason', {
      type: ThreadReason,
      nullable: true,
      description: 'Why the email belongs to this thread. Null if there is no thread yet.',
    }),
    batch: t.field({
      type: BatchNode,
      nullable: true,
      description: 'The batch the email was sent with. Null if it was sent alone or received.',
      resolve: ({ batchId }) => batchId,
    }),
    guardStatus: t.expose('guardStatus', {
      type: GuardStatus,
      nullable: true,
      description: 'How a guard rule holds the email. Null if none does.',
    }),
    recipients: t.field({
      type: [RecipientNode],
      description: 'Recipients and their delivery status, in the order To, Cc, Bcc. Empty for received mail.',
      complexity: { field: 1, multiplier: USUAL_RECIPIENTS },
      resolve: ({ id, type }, _args, context) => (type === 'received' ? [] : recipientsOf(context, id, null)),
    }),
  }),
});
