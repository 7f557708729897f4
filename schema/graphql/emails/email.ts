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
  description: 'What its sender knows a sent email by; recipients do not see it.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What the tag is about.' }),
    value: t.exposeString('value', { description: 'What it says.' }),
  }),
});

EmailNode.implement({
  description: 'A message that came in for one of your addresses, was sent, or waits for its time.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.expose('type', { type: EmailType, description: 'Which way it goes.' }),
    status: t.expose('status', { type: EmailStatus, description: 'How far it came.' }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'Why nothing more comes of a sent email; null: something may, or did.',
    }),
    messageId: t.exposeString('messageId', { description: 'The Message-ID, with angle brackets (RFC 5322 §3.6.4).' }),
    subject: t.exposeString('subject', { description: 'Decoded; empty when there is none.' }),
    preview: t.exposeString('preview', { description: 'The beginning of what the author typed, for lists.' }),
    from: t.field({
      type: Mailbox,
      description: 'Whom the From field names first.',
      resolve: ({ fromName, fromAddress }) => ({ name: fromName, address: fromAddress }),
    }),
    fromText: t.exposeString('fromText', { description: 'The From field as it was written, decoded.' }),
    to: t.field({ type: [Mailbox], description: 'The To field.', resolve: (email) => mailboxesOf(email, 'to') }),
    cc: t.field({ type: [Mailbox], description: 'The Cc field.', resolve: (email) => mailboxesOf(email, 'cc') }),
    bcc: t.field({
      type: [Mailbox],
      description: 'Who got a sent email unseen by the others; of received mail the Bcc field, which is mostly absent.',
      resolve: (email, _args, context) => readMailboxes(context, email, 'bcc'),
    }),
    replyTo: t.field({
      type: [Mailbox],
      description: 'Where answers are wished; empty: to the sender.',
      resolve: (email, _args, context) => readMailboxes(context, email, 'replyTo'),
    }),
    envelopeRecipient: t.exposeString('recipient', {
      nullable: true,
      description: 'The address that a received email was handed over for, plus-tag and all; null for sent mail.',
    }),
    plusTag: t.string({
      nullable: true,
      description: 'The `news` of an envelope recipient `ann+news@example.com`; null: it has none.',
      resolve: ({ recipient }) => (recipient === null ? null : plusTagOf(recipient)),
    }),
    ownAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description:
        'Your address that it came to or went from; null: the catch-all took it, it was sent from another address of the domain, or the address is gone.',
      resolve: ({ addressId }) => addressId,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Your domain that it came to or went from; null: the domain is gone.',
      resolve: ({ domainId }) => domainId,
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When it came in, or when it was written. Lists of emails are ordered by it.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When something of it was last changed.' }),
    sentAt: t.expose('sentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the first server took a sent email; null: none has, or it was received.',
    }),
    scheduledAt: t.expose('scheduledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it goes, or went, by the schedule; null: it was never on it.',
    }),
    timezone: t.exposeString('timezone', {
      nullable: true,
      description: 'IANA zone in which its time was told; null: it was never on the schedule.',
    }),
    date: t.expose('date', {
      type: 'DateTime',
      nullable: true,
      description: 'The Date field, which the sender’s clock wrote; null: it is absent or no date.',
    }),
    isRead: t.exposeBoolean('isRead', {
      description: 'Whether a received email was marked as read; false for sent mail.',
    }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was marked; null: it is not.',
    }),
    isArchived: t.exposeBoolean('isArchived', { description: 'Whether a received email was archived.' }),
    isTest: t.exposeBoolean('isTest', { description: 'Whether you made it come in, to try things out.' }),
    hasAttachments: t.exposeBoolean('hasAttachments', { description: 'Whether it holds files.' }),
    attachmentCount: t.exposeInt('attachmentCount', { description: 'How many files it holds.' }),
    attachments: t.field({
      type: [Attachment],
      description: 'Its files, in the order of the email.',
      resolve: async ({ id: emailId, hasAttachments }, _args, context) => {
        if (!hasAttachments) return [];
        const { attachments } = await loadEmailParts(context, emailId, null);
        return attachments.map((attachment) => ({ emailId, attachment }));
      },
    }),
    tags: t.field({
      type: [Tag],
      description: 'What its sender gave a sent email to know it by.',
      resolve: async ({ id, type }, _args, context) =>
        type === 'received' ? [] : (await loadEmailParts(context, id, null)).tags,
    }),
    content: t.field({
      type: EmailContentRef,
      description: 'Its bodies and header section.',
      resolve: ({ id }) => ({ emailId: id }),
    }),
    size: t.int({
      nullable: true,
      description: 'Octets of the whole message; null: it is not kept.',
      resolve: ({ id, hasOctets }, _args, context) => (hasOctets ? sizeOf(context, id, null) : null),
    }),
    rawUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'Answers the whole message, `message/rfc822`, to the same API key; null: it is not kept.',
      resolve: ({ id, hasOctets }, _args, { operations }) =>
        hasOctets ? operations.settings.publicUrl + downloadPath({ emailId: id, part: 'raw' }) : null,
    }),
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description:
        'The conversation; null: it is found a moment after the email came, or for scheduled mail when it goes.',
      resolve: ({ threadId }) => threadId,
    }),
    threadPosition: t.exposeInt('threadPosition', {
      nullable: true,
      description: 'Its place in the thread, from 0; null as thread.',
    }),
    threadReason: t.expose('threadReason', {
      type: ThreadReason,
      nullable: true,
      description: 'Why it stands in that thread; null as thread.',
    }),
    batch: t.field({
      type: BatchNode,
      nullable: true,
      description: 'The emails that it was asked for with; null: it was asked for alone, or received.',
      resolve: ({ batchId }) => batchId,
    }),
    guardStatus: t.expose('guardStatus', {
      type: GuardStatus,
      nullable: true,
      description: 'How a guard rule holds it back now; null: none does.',
    }),
    recipients: t.field({
      type: [RecipientNode],
      description:
        'Who it is sent to, those of the header first, and what became of it there; empty for received mail.',
      complexity: { field: 1, multiplier: USUAL_RECIPIENTS },
      resolve: ({ id, type }, _args, context) => (type === 'received' ? [] : recipientsOf(context, id, null)),
    }),
  }),
});
