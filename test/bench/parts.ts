import type { Extent, PartOutcome } from './rows.ts';

/** One part of `npm run bench -- all`: a section of docs/benchmarks.md. */
export interface Part {
  /** as `--only` takes it */
  name: string;
  title: string;
  /** one sentence below the title */
  about: string;
  /** The part is ended after this time. Milliseconds. */
  limitMs: number;
  load: () => Promise<{ measurePart(extent: Extent): Promise<PartOutcome> }>;
}

export const parts: readonly Part[] = [
  {
    name: 'inbound',
    title: 'Receiving',
    about:
      'SMTP over 20 sessions. Postfix stores each message in a Maildir and posts nothing; bare Haraka discards it. Memory is the proportional set of all processes.',
    limitMs: 600_000,
    load: () => import('./inbound.ts'),
  },
  {
    name: 'screening',
    title: 'Screening',
    about:
      'Mail in, 4 KB, a connection each, with rspamd and clamd of Debian beside the same without. No module of rspamd asks the network, and clamd has one signature.',
    limitMs: 900_000,
    load: () => import('./screening.ts'),
  },
  {
    name: 'outbound',
    title: 'Sending',
    about: '50 connections hand messages in. Each one is checked at a sink on loopback.',
    limitMs: 480_000,
    load: () => import('./outbound.ts'),
  },
  {
    name: 'quiet',
    title: 'A quiet day',
    about: 'Nothing for 10 seconds after half a minute of rest, then 20 messages per second, a connection each.',
    limitMs: 480_000,
    load: () => import('./quiet.ts'),
  },
  {
    name: 'api',
    title: 'REST, lists and search',
    about:
      '50 connections, one request in flight on each, of a gateway without actors and of a bare service on the same PostgreSQL.',
    limitMs: 480_000,
    load: () => import('./api.ts'),
  },
  {
    name: 'threads',
    title: 'Large mailboxes',
    about:
      'The p99 of the CPU time that PostgreSQL uses for an operation of the gateway or of threading, in mailboxes of two sizes in turn. A ratio of at most 1.5 is the target where the work does not grow with the mailbox.',
    limitMs: 1_500_000,
    load: () => import('./threads.ts'),
  },
  {
    name: 'delivery',
    title: 'Webhooks',
    about: 'A backlog of deliveries that are due when the delivery actor starts.',
    limitMs: 300_000,
    load: () => import('./delivery.ts'),
  },
  {
    name: 'ordering',
    title: 'Order',
    about:
      'Mail of many conversations is routed to 10 endpoints with `ordering: thread`. Each webhook waits until the one before it in its conversation was accepted, also while that is retried.',
    limitMs: 480_000,
    load: () => import('./ordering.ts'),
  },
  {
    name: 'fairness',
    title: 'Fairness',
    about:
      'One mail after the other of a user, first with nothing else to do and then while another user’s mail causes trouble: the p99 of the time from the first byte to the webhook, or from `POST /emails` to the sink.',
    limitMs: 480_000,
    load: () => import('./fairness.ts'),
  },
  {
    name: 'cores',
    title: 'Cores',
    about:
      'On one core, Postroom and its PostgreSQL have core 0 to themselves (`taskset`) and the load has core 1. On two cores, all of them share both.',
    limitMs: 480_000,
    load: () => import('./cores.ts'),
  },
];
