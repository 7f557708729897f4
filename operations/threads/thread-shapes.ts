import { z } from 'zod';
import { graphqlOnly, graphqlText, linkTo, named, nameType, restOnly, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { RETURN_REASONS } from '../../core/threads/return-reason.ts';
import { LIST_SEARCH, searchLanguage } from '../capability/field-shapes.ts';
import { memberName } from './assignee-capability.ts';
import { threadClaim } from './claim-capability.ts';

/** Threads as all interfaces have them, and the filters of their lists. */

const number = z.number().int();
const texts = z.array(z.string());
const maybeTime = z.date().nullable();

const head = {
  id: restOnly(z.string()),
  rootMessageId: named(graphqlText(z.string(), 'Message-ID of the first message.'), { graphqlType: 'String' }),
  normalizedSubject: graphqlText(z.string(), 'Subject of the first message, without prefixes such as Re: and Fwd:.'),
  participantEmails: graphqlText(texts, 'Addresses of the participants.'),
  participantNames: graphqlText(
    texts,
    'Display text of each participant, in the same order: `Ada <ada@example.org>`, or the address if there is no name.',
  ),
  messageCount: graphqlText(number, 'Number of received and sent messages.'),
  lastMessageAt: graphqlText(z.date(), 'When the latest message was received or sent.'),
  createdAt: graphqlText(z.date(), 'When the first message was received or sent.'),
};

const work = {
  claim: restOnly(z.object({ holder: z.string(), claimedAt: z.date(), expiresAt: z.date() }).nullable()).meta({
    description: 'Who answers the thread at the moment; null if no one has claimed it.',
  }),
  assigneeId: restOnly(z.string().nullable()).meta({
    description: 'ID of the member who works on the thread; null: none.',
  }),
  snoozedUntil: graphqlText(
    maybeTime,
    'The thread is out of the inbox until then, or until a reply comes. Null if it is not snoozed.',
  ).meta({ description: 'Out of the inbox until then, or a reply; null: it is not.' }),
  remindAt: graphqlText(
    maybeTime,
    'When the thread comes back to the inbox unless a reply comes before. Null: no reminder.',
  ).meta({ description: 'When it comes back without a reply; null: no reminder.' }),
  returnedAt: graphqlText(
    maybeTime,
    'When the thread came back to the inbox. Null if it did not, or was archived or snoozed since.',
  ).meta({ description: 'When it came back; null: not, or archived or snoozed since.' }),
  returnedBy: graphqlText(
    oneOf(RETURN_REASONS, {
      name: 'ReturnReason',
      description: 'Why a thread came back to the inbox.',
      values: {
        snooze: 'Its snooze was over.',
        reply: 'A reply came while it was snoozed.',
        reminder: 'No reply came in time.',
      },
    }).nullable(),
    'Why the thread came back to the inbox. Null if it did not.',
  ).meta({ description: 'Why it came back; null if it did not.' }),
};

const unreadCount = graphqlText(number, 'Number of unread messages.');
const isArchived = graphqlText(
  z.boolean(),
  'Whether the thread is archived: it has received messages and all of them are archived. A new message brings it back to the inbox.',
);
const isReadByMe = graphqlText(
  z.boolean().nullable(),
  'Whether you have read all received messages. Null for requests without a person, such as API keys of the workspace. unreadCount and isRead belong to the workspace.',
).meta({
  description: 'Whether you have read all received messages yourself. Null for requests without a person.',
});

/** A thread in a list of REST, with what lists show of its latest message. */
export const listedThreadShape = z
  .object({
    ...head,
    hasUnread: z.boolean(),
    unreadCount,
    isArchived,
    ...work,
    isReadByMe,
    latestMessage: z.object({
      id: z.string(),
      type: z.enum(['inbound', 'outbound']),
      subject: z.string(),
      fromText: z.string(),
      textPreview: z.string(),
      isRead: z.boolean(),
      hasAttachments: z.boolean(),
      date: z.date(),
    }),
  })
  .meta({ id: 'ThreadListItem' });

/** A thread that was opened, in REST, beside its messages. */
export const openedThreadShape = z
  .object({
    ...head,
    updatedAt: graphqlText(z.date(), 'When the thread last changed: its messages, flags or labels.'),
    trashedAt: graphqlText(
      maybeTime,
      'When the thread was moved to the trash. Null if it is not there. It is deleted 30 days later.',
    ).meta({ description: 'When it was moved to the trash. Null if it is not there.' }),
    ...work,
  })
  .meta({ id: 'Thread' });

const participant = nameType(
  z.object({
    name: z.string().nullable().meta({ description: 'Display name in emails. Null if there is none.' }),
    address: z.string().meta({ description: 'In lowercase.' }),
  }),
  {
    type: 'Participant',
    description: 'A participant of a thread: a sender, a recipient, or your address that received a message.',
  },
);

/** Participants of a thread that the cost limit of GraphQL assumes. */
const USUAL_PARTICIPANTS = 5;

/** A thread in GraphQL, apart from its messages. */
export const threadShape = z
  .object({
    ...openedThreadShape.shape,
    unreadCount,
    isArchived,
    isReadByMe,
    subject: z.string().meta({
      description: 'Subject of the first message as its sender wrote it. Replies do not change it.',
    }),
    senders: usually(USUAL_PARTICIPANTS, z.array(participant)).meta({
      description: 'Who wrote the latest 50 messages, latest first, each address once.',
    }),
    participants: usually(USUAL_PARTICIPANTS, z.array(participant)).meta({
      description: 'Participants in the order they joined, up to 100.',
    }),
    heldClaim: graphqlOnly(threadClaim.nullable(), 'claim').meta({
      description: 'The claim of the thread. Null if no one has claimed it.',
    }),
    assignee: memberName.nullable().meta({ description: 'The member who works on the thread. Null: none.' }),
    labels: texts.meta({ description: 'Labels, in the order you added them.' }),
    listedAt: z.date().meta({
      description: 'Lists are sorted by it: `lastMessageAt`, or `returnedAt` if that is later.',
    }),
    latestEmailId: linkTo('Email', z.string().nullable(), 'latestMessage').meta({
      description: 'The latest message. Null if it was moved to another thread while you asked.',
    }),
  })
  .meta({
    description:
      'A conversation of received and sent emails, joined by their reply headers or else by subject. IDs of merged threads lead to the thread they were merged into.',
  });

const flag = z.boolean().optional();
const choice = z.string().optional();

const filters = {
  isUnread: flag.meta({ description: 'True matches threads with unread messages only.' }),
  isUnreadByMe: flag.meta({ description: 'True matches threads with messages that you have not read yourself.' }),
  assigned: choice.meta({ description: 'Who works on the thread: `me`, `none`, or the ID or address of a member.' }),
  domain: choice.meta({ description: 'ID of a domain of yours, or the domain name of a participant.' }),
  address: choice.meta({ description: 'ID of an address of yours, or the address of a participant.' }),
};

/** Filters of `threads` in GraphQL, which are named as in REST. */
export const threadFilter = nameType(
  z.object({
    ...filters,
    isUnread: named(filters.isUnread, { graphqlName: 'unread' }),
    isUnreadByMe: named(filters.isUnreadByMe, { graphqlName: 'unreadByMe' }),
    isClaimed: named(flag, { graphqlName: 'claimed' }).meta({
      description: 'False matches threads that no one has claimed, true the others.',
    }),
    isTrashed: named(flag, { graphqlName: 'trashed' }).meta({
      description: 'True matches threads in the trash, which are left out otherwise.',
    }),
    search: choice.meta({ description: `${LIST_SEARCH} A thread is found if one of its messages matches.` }),
    language: searchLanguage,
  }),
  { input: 'ThreadFilter', description: 'Filters a list of threads. Omit a field to match all.' },
);

/** Filters of `inbox` in GraphQL. */
export const inboxFilter = nameType(
  z.object({
    ...filters,
    archived: oneOf(['not archived', 'archived', 'any'], {
      name: 'ArchivedFilter',
      description: 'Whether to return archived threads.',
      values: {
        'not archived': 'Non-archived threads only.',
        archived: 'Archived threads only.',
        any: 'Both of these.',
      },
    })
      .optional()
      .meta({
        description:
          'By default archived threads are left out, unless the search asks for them (is:archived, in:archive).',
      }),
    isTrashed: flag.meta({
      description:
        'True matches threads in the trash, archived or not. They are left out otherwise, unless the search asks for them (in:trash).',
    }),
    label: choice.meta({ description: 'A label of the thread, case-insensitive.' }),
  }),
  {
    input: 'InboxFilter',
    description: 'Filters the inbox. Omit a field or pass null to match all; only archived has a default.',
  },
);
