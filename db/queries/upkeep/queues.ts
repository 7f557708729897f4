import type { DeadStep } from './dead-row.ts';

/** A queue of an actor in PostgreSQL: the rows of a partial index, in its order. */
export interface Queue {
  step: DeadStep;
  table: string;
  /** the condition of the index of waiting rows */
  isWaiting: string;
  /** the first column of that index, which is when the row is due, if it has a time in the future */
  order: string;
  /** since when the row is due */
  since: string;
  subject: string;
  /** whether rows wait for a time in the future */
  isTimed: boolean;
  /** whether a claim writes a lease into the row */
  isLeased: boolean;
}

/** All queues but the deliveries to webhooks, whose index is ordered by endpoint first. */
export const queues: readonly Queue[] = [
  {
    step: 'parse',
    table: 'reception',
    isWaiting: 'parsed_at is null',
    order: 'accepted_at',
    since: 'accepted_at',
    subject: 'email_id',
    isTimed: false,
    isLeased: true,
  },
  {
    step: 'report',
    table: 'recipient',
    isWaiting: `status = 'failed' and reported_at is null`,
    order: 'settled_at',
    since: 'settled_at',
    subject: 'id',
    isTimed: false,
    isLeased: true,
  },
  {
    step: 'assign',
    table: 'email',
    isWaiting: `thread_id is null and type <> 'scheduled' and kept_apart is null`,
    order: 'created_at',
    since: 'thread_at',
    subject: 'id',
    isTimed: false,
    isLeased: false,
  },
  {
    step: 'route',
    table: 'route',
    isWaiting: 'outcome is null',
    order: 'created_at',
    since: 'threaded_at',
    subject: 'email_id',
    isTimed: false,
    isLeased: false,
  },
  {
    step: 'ask',
    table: 'route',
    isWaiting: `outcome = 'asking'`,
    order: 'next_ask_at',
    since: 'next_ask_at',
    subject: 'email_id',
    isTimed: true,
    isLeased: true,
  },
  {
    step: 'forward',
    table: 'delivery',
    isWaiting: `status = 'pending' and delivery_type <> 'webhook'`,
    order: 'next_attempt_at',
    since: 'next_attempt_at',
    subject: 'id',
    isTimed: true,
    isLeased: true,
  },
  {
    step: 'send',
    table: 'recipient',
    isWaiting: `status = 'pending' and next_attempt_at is not null`,
    order: 'next_attempt_at',
    since: 'next_attempt_at',
    subject: 'id',
    isTimed: true,
    isLeased: true,
  },
  {
    step: 'release',
    table: 'email',
    isWaiting: `status = 'scheduled'`,
    order: 'scheduled_at',
    since: 'scheduled_at',
    subject: 'id',
    isTimed: true,
    isLeased: false,
  },
];

/** A delivery to a webhook that waits, in the index `delivery_lane_due`. */
export const IS_WEBHOOK_WAITING = `status = 'pending' and delivery_type = 'webhook'`;
