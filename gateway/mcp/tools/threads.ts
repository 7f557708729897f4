import { z } from 'zod';
import type { BodyText } from '../../../core/shared/large-text.ts';
import { text } from '../../../operations/capability/field-shapes.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { type EmailParts, type EmailSummary, loadContentParts } from '../../../operations/emails/emails.ts';
import { readHtmlText } from '../../../operations/emails/html-text.ts';
import { listLabels } from '../../../operations/threads/thread-changes.ts';
import { threadNotFound } from '../../../operations/threads/thread-transaction.ts';
import {
  type ListedThread,
  loadThreads,
  pageInbox,
  pageInboxByRelevance,
  pageThreadEmails,
  type Thread,
} from '../../../operations/threads/threads.ts';
import { access } from '../../admission/access.ts';
import { threadMessageBody } from '../../rest/emails/email-wire.ts';
import { wireInstant } from '../../rest/shapes.ts';
import { makeThreadListItem, threadListItem, writeThread } from '../../rest/threads/threads.ts';
import { shortText, textPart } from '../bounded-text.ts';
import { listedInWords } from '../json-schema.ts';
import {
  cutPage,
  keysetPage,
  nameFields,
  nextCursor,
  pageInput,
  pageSearch,
  searchLanguage,
  searchOrder,
  searchTerms,
  untrustedShape,
} from '../shapes.ts';
import { defineTool } from '../tool.ts';
import { MAX_SENDER, MAX_SUBJECT } from './email-shapes.ts';

/** Participants of a thread in a result. */
const MAX_PARTICIPANTS = 20;
/** Characters of the bodies of all messages in a result. */
const MAX_BODIES = 60_000;

const { latest_message: latest, ...listed } = threadListItem.shape;

/** What lists and single threads share. */
const threadFields = {
  id: listed.id,
  labels: z.array(z.string()),
  message_count: listed.message_count,
  unread_count: listed.unread_count,
  is_archived: listed.is_archived,
  last_message_at: listed.last_message_at,
  created_at: listed.created_at,
  claim: listed.claim,
  assignee_id: listed.assignee_id,
  snoozed_until: listed.snoozed_until,
  remind_at: listed.remind_at,
  returned_at: listed.returned_at,
  returned_by: listed.returned_by,
};

/** As search_emails names it; REST calls it `inbound` and `outbound` in threads. */
const messageType = z.enum(['received', 'sent']);

const untrustedFields = {
  subject: listed.normalized_subject,
  participants: z.array(z.string()),
};

const threadItem = z
  .object({
    ...threadFields,
    latest_message: latest.pick({ id: true, is_read: true, has_attachments: true, date: true }).extend({
      type: messageType,
      untrusted: untrustedShape({ from: z.string(), subject: z.string(), preview: z.string() }),
    }),
    untrusted: untrustedShape(untrustedFields),
  })
  .meta(
    listedInWords(
      `${nameFields(threadFields)} \`claim\` says who answers it, \`returned_by\` why it is back in the inbox. \`untrusted\`: ${nameFields(untrustedFields)} \`latest_message\`: \`id\`, \`type\`, \`date\`, \`is_read\`, \`has_attachments\`, \`untrusted\` (\`from\`, \`subject\`, \`preview\`).`,
    ),
  );

export const searchThreads = defineTool({
  name: 'search_threads',
  title: 'Search threads',
  description: 'Returns threads (conversations): those in the inbox, or those with a message that matches `search`.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    search: searchTerms,
    order_by: searchOrder,
    language: searchLanguage,
    unread: z.boolean().optional(),
    archived: z
      .enum(['no', 'yes', 'any'])
      .optional()
      .meta({ description: 'Default: no, unless the search asks for them.' }),
    label: text.optional(),
    assigned: text.optional().meta({ description: '`me`, `none`, or a member’s address or ID.' }),
    domain: text.optional().meta({ description: 'Yours or a participant’s.' }),
    address: text.optional().meta({ description: 'Yours or a participant’s.' }),
    ...pageInput,
  }),
  output: z.object({ threads: z.array(threadItem), next_cursor: nextCursor }),
  async run(context, { search, language, unread, archived, label, assigned, domain, address, ...asked }) {
    const isArchived = archived === undefined || archived === 'any' ? archived : archived === 'yes';
    const query = { search, language, isUnread: unread, isArchived, label, assigned, domain, address };
    const found = await pageSearch(asked, {
      newest: (page) => pageInbox(context, query, page),
      byRelevance: (page) => pageInboxByRelevance(context, query, page),
      timeOf: ({ listedAt }) => listedAt,
    });
    return { threads: found.rows.map(toThreadItem), next_cursor: found.nextCursor };
  },
});

function toThreadItem(thread: ListedThread): z.input<typeof threadItem> {
  const { latest_message: message } = makeThreadListItem(thread, null);
  return {
    ...toThread(thread),
    latest_message: {
      ...message,
      type: message.type === 'inbound' ? ('received' as const) : ('sent' as const),
      untrusted: {
        from: shortText(message.from_text, MAX_SENDER),
        subject: shortText(message.subject, MAX_SUBJECT),
        preview: message.text_preview,
      },
    },
  };
}

function toThread(thread: Thread) {
  const { labels, unreadCount, isArchived, participantNames } = thread;
  return {
    ...writeThread(thread),
    labels,
    unread_count: unreadCount,
    is_archived: isArchived,
    untrusted: {
      subject: shortText(thread.normalizedSubject, MAX_SUBJECT),
      participants: participantNames.slice(0, MAX_PARTICIPANTS).map((name) => shortText(name, MAX_SENDER)),
    },
  };
}

const message = z.object({
  id: threadMessageBody.shape.id,
  type: messageType,
  date: threadMessageBody.shape.date,
  is_read: threadMessageBody.shape.is_read,
  has_attachments: threadMessageBody.shape.has_attachments,
  is_truncated: z.boolean().meta({ description: 'read_email returns all of the text.' }),
  untrusted: untrustedShape({ from: z.string(), subject: z.string(), text: z.string() }),
});

export const readThread = defineTool({
  name: 'read_thread',
  title: 'Read a thread',
  description:
    'Returns a thread and its latest messages, oldest first, with the text that each author typed: without quoted mail and signatures. Nothing is marked as read.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    thread_id: z.string().meta({ description: 'Also that of a merged thread.' }),
    ...pageInput,
  }),
  output: z.object({
    thread: z
      .object({ ...threadFields, untrusted: untrustedShape(untrustedFields) })
      .meta(listedInWords('As in search_threads, without `latest_message`.')),
    messages: z.array(message),
    next_cursor: nextCursor.meta({ description: 'For the messages before these.' }),
  }),
  async run(context, { thread_id: threadId, limit, cursor }) {
    const { after: before, ...newest } = keysetPage({ limit, cursor });
    const [thread] = await loadThreads(context, [threadId]);
    if (thread == null) throw threadNotFound();
    const page = { ...newest, after: null, before, isInverted: true };
    const [emails = []] = await pageThreadEmails(context, [thread.id], page);
    const { rows, nextCursor: next } = cutPage(emails, limit, ({ threadAt: at, id }) => ({ at, id }));
    return { thread: toThread(thread), messages: await listMessages(context, rows.toReversed()), next_cursor: next };
  },
});

async function listMessages(
  context: OperationContext,
  emails: readonly EmailSummary[],
): Promise<z.input<typeof message>[]> {
  const ids = emails.map(({ id }) => id);
  const parts = await loadContentParts(context, ids, new Set(['text', 'cleanedText', 'cleanedHtml']));
  const limit = Math.floor(MAX_BODIES / Math.max(1, emails.length));
  const texts: (BodyText | null)[] = [];
  for (const part of parts) texts.push(await typedText(context, part));
  return emails.map((email, at) => {
    const typed = texts[at] ?? null;
    const body = textPart(typed ?? email.preview, 0, limit);
    const isReceived = email.type === 'received';
    return {
      id: email.id,
      type: isReceived ? ('received' as const) : ('sent' as const),
      date: wireInstant(email.date ?? email.createdAt),
      is_read: !isReceived || email.isRead,
      has_attachments: email.hasAttachments,
      is_truncated: body.nextOffset !== null || typed === null,
      untrusted: {
        from: shortText(email.fromText, MAX_SENDER),
        subject: shortText(email.subject, MAX_SUBJECT),
        text: body.text,
      },
    };
  });
}

/** Returns the text that the author typed; null when only HTML that is too long to clean has it. */
async function typedText({ workspaceId }: OperationContext, parts: EmailParts | null): Promise<BodyText | null> {
  if (parts === null) return null;
  return parts.cleanedText ?? (parts.cleanedHtml === null ? null : await readHtmlText(workspaceId, parts.cleanedHtml));
}

export const listThreadLabels = defineTool({
  name: 'list_labels',
  title: 'List labels',
  description: 'Returns the labels of your threads by name, with the number of threads of each.',
  access: access.read,
  effect: 'reads own data',
  input: z.object({}),
  output: z.object({
    labels: z.array(z.object({ name: z.string(), thread_count: z.int(), unread_thread_count: z.int() })),
    is_complete: z.boolean().meta({ description: 'At most 200 are listed.' }),
  }),
  async run(context) {
    const labels = await listLabels(context);
    return {
      labels: labels.slice(0, MAX_LABELS).map(({ name, threadCount, unreadThreadCount }) => ({
        name,
        thread_count: threadCount,
        unread_thread_count: unreadThreadCount,
      })),
      is_complete: labels.length <= MAX_LABELS,
    };
  },
});

const MAX_LABELS = 200;
