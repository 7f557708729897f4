import { Counter, Gauge, Histogram } from 'prom-client';

/**
 * Metrics for Prometheus; docs/monitoring.md lists them. Every label has a small fixed set of values, and none identifies a user: no ID,
 * address, domain, path or text. All metrics are in the default registry of prom-client.
 */

/** Internal work: a statement, a batch, a response. Seconds. */
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Connections to other servers, which may take minutes. Seconds. */
const SLOW = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** End to end, from SMTP to the webhook. Seconds. */
const THROUGH = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400, 432_000];
const GROUP_SIZES = [1, 2, 4, 8, 16, 32, 64];

export const smtpMetrics = {
  sessionsOpen: gauge('postroom_smtp_sessions_open', 'Open SMTP sessions'),
  sessions: counter('postroom_smtp_sessions_total', 'SMTP sessions opened, including those refused at the greeting'),
  sessionsRefused: counter('postroom_smtp_sessions_refused_total', 'SMTP sessions refused at the greeting', ['reason']),
  sessionsEnded: counter('postroom_smtp_sessions_ended_total', 'SMTP sessions ended by this server', ['reason']),
  unknownRecipients: counter('postroom_smtp_unknown_recipients_total', 'Recipients refused because they do not exist'),
  listLookups: counter('postroom_smtp_list_lookups_total', 'Lookups in DNS block and allow lists', ['outcome']),
  refusals: counter('postroom_smtp_refusals_total', 'Messages refused before the 250', ['reason']),
  replies: counter(
    'postroom_smtp_replies_total',
    'Replies to SMTP commands; the stage message is the reply at end of data',
    ['stage', 'code'],
  ),
  messageSeconds: histogram('postroom_smtp_message_seconds', 'From end of data to the reply', SLOW, ['outcome']),
  acceptedBytes: counter('postroom_smtp_accepted_bytes_total', 'Bytes of messages accepted with 250'),
  heldBytes: gauge('postroom_smtp_held_bytes', 'Bytes of messages held in memory for SMTP'),
};

export const busMetrics = {
  questionSeconds: histogram(
    'postroom_bus_question_seconds',
    'Time until a question on the bus got its reply or was given up',
    SLOW,
    ['question', 'outcome'],
  ),
  isConnected: new Gauge({
    name: 'postroom_bus_connected',
    help: '1 while the bus is connected',
    labelNames: ['transport'],
    aggregator: 'min',
  }),
};

export const actorMetrics = {
  stepRuns: counter('postroom_step_runs_total', 'Runs of actor steps', ['actor', 'step', 'trigger']),
  stepFailures: counter(
    'postroom_step_failures_total',
    'Failed runs: away means that PostgreSQL or the bus was unreachable, fault is a bug',
    ['actor', 'step', 'reason'],
  ),
  stepSeconds: histogram('postroom_step_seconds', 'Duration of one run', SLOW, ['actor', 'step']),
  replySeconds: histogram('postroom_bus_reply_seconds', 'Time an actor took to reply to a question', SLOW, [
    'actor',
    'question',
    'outcome',
  ]),
  retries: counter('postroom_retries_total', 'Retries of work', ['queue']),
  setAside: counter('postroom_set_aside_total', 'Rows set aside after a bug, counted each time', ['actor', 'queue']),
  sinceAcceptSeconds: histogram(
    'postroom_since_accept_seconds',
    'Time from the 250 until the message was parsed, threaded, or delivered to a webhook',
    THROUGH,
    ['stage'],
  ),
};

export const screeningMetrics = {
  scanSeconds: histogram(
    'postroom_scan_seconds',
    'Duration of one scan by rspamd or clamd: `checked`, or `away` if it did not respond',
    SLOW,
    ['scanner', 'outcome'],
  ),
  isAway: new Gauge({
    name: 'postroom_scanner_away',
    help: '1 while a scanner does not respond',
    labelNames: ['scanner'],
    aggregator: 'max',
  }),
  verdicts: counter(
    'postroom_screening_verdicts_total',
    'Verdicts of the scanners: `clean`, `suspected`, `spam`, `not_checked`, `virus`, `refused`',
    ['verdict'],
  ),
  jobs: counter(
    'postroom_screening_jobs_total',
    'Later checks (`check`, `hold`) and lessons (`learn_spam`, `learn_ham`): `done`, `later`, `gone`, `away`, `failed`',
    ['kind', 'outcome'],
  ),
};

export const searchMetrics = {
  wordBuildSeconds: histogram(
    'postroom_word_build_seconds',
    'Duration of one build, merge or rewrite of word segments',
    SLOW,
    ['work'],
  ),
  wordSegmentsDamaged: counter('postroom_word_segments_damaged_total', 'Damaged word segments found'),
};

export const receivingMetrics = {
  acceptSeconds: histogram(
    'postroom_receiving_accept_seconds',
    'Time from the end of data to the commit or the refusal, in the receiving actor',
    QUICK,
    ['outcome'],
  ),
  commitMessages: histogram('postroom_receiving_commit_messages', 'Messages per commit', GROUP_SIZES),
  repeated: counter('postroom_receiving_repeated_total', 'Recipients of messages offered again after they were stored'),
  parseSeconds: histogram('postroom_parse_seconds', 'Duration of one batch in the parser', QUICK, ['outcome']),
  parseWaiting: gauge('postroom_parse_waiting', 'Messages in memory waiting for the parser'),
  parserEnds: counter('postroom_parser_ends_total', 'Parser threads that crashed or were stopped because of a message'),
};

export const threadingMetrics = {
  batchSeconds: histogram('postroom_threading_seconds', 'Duration of threading one batch of a workspace', QUICK, [
    'outcome',
  ]),
  emails: counter('postroom_threading_emails_total', 'Emails threaded'),
};

export const deliveryMetrics = {
  routeSeconds: histogram('postroom_route_seconds', 'Duration of routing one batch of emails', QUICK),
  routed: counter('postroom_routed_emails_total', 'Emails routed', ['outcome']),
  attemptSeconds: histogram('postroom_delivery_attempt_seconds', 'Duration of one webhook request', SLOW, [
    'outcome',
    'response',
  ]),
  outcomes: counter('postroom_delivery_outcomes_total', 'Delivery attempts by outcome', ['outcome']),
  forwardSeconds: histogram('postroom_forward_seconds', 'Duration of composing and queueing a forwarded copy', QUICK, [
    'outcome',
  ]),
};

export const sendingMetrics = {
  attemptSeconds: histogram(
    'postroom_sending_attempt_seconds',
    'Duration of one SMTP transaction, including the connection',
    SLOW,
    ['outcome'],
  ),
  outcomes: counter('postroom_sending_outcomes_total', 'Sending attempts by outcome, per recipient', [
    'outcome',
    'response',
  ]),
  settledSeconds: histogram(
    'postroom_sending_settled_seconds',
    'Time from the queue to the final outcome, per recipient',
    THROUGH,
    ['outcome'],
  ),
};

export const schedulingMetrics = {
  released: counter('postroom_scheduled_released_total', 'Scheduled emails released to the queue'),
};

export const gatewayMetrics = {
  requests: counter('postroom_http_requests_total', 'HTTP requests by route pattern', ['method', 'route', 'status']),
  requestSeconds: histogram('postroom_http_request_seconds', 'Duration of one request', QUICK, ['method', 'route']),
  refusedConnections: counter(
    'postroom_http_connections_refused_total',
    'HTTP connections refused: too many open in total (total) or from one address (address), or too many per minute from one network (rate)',
    ['reason'],
  ),
  operations: counter('postroom_graphql_operations_total', 'GraphQL operations', ['kind', 'outcome']),
  auditNotesDropped: counter(
    'postroom_audit_notes_dropped_total',
    'Refused requests missing from the audit log because the buffer was full or PostgreSQL failed (database)',
    ['reason'],
  ),
  requestLogDropped: counter(
    'postroom_request_log_dropped_total',
    'Requests missing from the request log because the buffer was full or PostgreSQL failed (database)',
    ['reason'],
  ),
};

export const databaseMetrics = {
  connections: gauge('postroom_database_connections', 'Connections of a pool, busy or idle', ['pool', 'state']),
  connectionLimit: gauge('postroom_database_connections_limit', 'Maximum connections of a pool', ['pool']),
  waiting: gauge('postroom_database_waiting', 'Requests waiting for a connection of a pool', ['pool']),
};

export const backlogMetrics = {
  rows: gauge('postroom_backlog_rows', 'Due rows, counted up to 10,000', ['actor', 'queue']),
  oldestSeconds: gauge('postroom_backlog_oldest_seconds', 'Age of the oldest due row; 0 if there is none', [
    'actor',
    'queue',
  ]),
  laterRows: gauge('postroom_backlog_later_rows', 'Rows waiting for their next attempt, counted up to 10,000', [
    'actor',
    'queue',
  ]),
  dead: gauge('postroom_dead_rows', 'Rows that are no longer retried after a bug; see bin/dead.ts', ['actor', 'queue']),
  readFailures: counter(
    'postroom_backlog_read_failures_total',
    'Backlog readings to which PostgreSQL did not respond in time',
  ),
};

export const diskMetrics = {
  free: gauge('postroom_disk_free_bytes', 'Free bytes on the disk that stores the mail, on one machine', ['disk']),
  size: gauge('postroom_disk_size_bytes', 'Size of that disk in bytes', ['disk']),
};

export const processMetrics = {
  build: new Gauge({
    name: 'postroom_build_info',
    help: 'Always 1; the labels name the versions',
    labelNames: ['version', 'node'],
    aggregator: 'first',
  }),
  isDraining: new Gauge({
    name: 'postroom_draining',
    help: '1 while the process drains before it ends',
    aggregator: 'max',
  }),
};

function counter<Label extends string = never>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
  return new Counter({ name, help, labelNames });
}

function gauge<Label extends string = never>(name: string, help: string, labelNames: Label[] = []): Gauge<Label> {
  return new Gauge({ name, help, labelNames });
}

function histogram<Label extends string = never>(
  name: string,
  help: string,
  buckets: number[],
  labelNames: Label[] = [],
): Histogram<Label> {
  return new Histogram({ name, help, buckets, labelNames });
}
