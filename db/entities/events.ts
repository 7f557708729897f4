import { defineEntity, p } from '@mikro-orm/core';

/** The gap-free feed of a workspace. seq comes from event_counter, which the last statement of the transaction increments. */
export const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'event',
  properties: {
    workspaceId: p.text().primary(),
    seq: p.bigint('number').primary(),
    id: p.text(),
    kind: p.text(),
    at: p.datetime(3),
    emailId: p.text().nullable(),
    threadId: p.text().nullable(),
    deliveryId: p.text().nullable(),
    endpointId: p.text().nullable(),
    data: p.json<unknown>().defaultRaw(`'{}'`),
  },
  indexes: [
    // Actions of people on single emails, which no other row records; without the events that every email has.
    {
      name: 'event_by_hand',
      properties: ['workspaceId', 'emailId', 'seq'],
      where: `kind = ANY (ARRAY['email.read', 'email.unread', 'email.archived', 'email.unarchived', 'email.rescheduled', 'email.paused', 'email.resumed', 'email.cancelled', 'email.approval_requested', 'email.approved', 'email.rejected', 'email.reprocessed', 'email.spam', 'email.not_spam'])`,
    },
  ],
});

/** first_seq: earlier events were removed */
export const EventCounterSchema = defineEntity({
  name: 'EventCounter',
  tableName: 'event_counter',
  properties: {
    workspaceId: p.text().primary(),
    lastSeq: p.bigint('number'),
    firstSeq: p.bigint('number').defaultRaw('1'),
  },
});
