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
const COMPANY = [1, 2, 4, 8, 16, 32, 64];

export const smtpMetrics = {
  sessionsOpen: gauge('postroom_smtp_sessions_open', 'SMTP sessions that are open'),
  sessions: counter('postroom_smtp_sessions_total', 'SMTP sessions that were opened, those refused at once included'),
  sessionsRefused: counter('postroom_smtp_sessions_refused_total', 'SMTP sessions refused at the greeting', ['reason']),
  sessionsEnded: counter('postroom_smtp_sessions_ended_total', 'SMTP sessions that we ended', ['reason']),
  unknownRecipients: counter(
    'postroom_smtp_unknown_recipients_total',
    'Recipients that were refused because they do not exist',
  ),
  listLookups: counter('postroom_smtp_list_lookups_total', 'Replies of DNS block and allow lists', ['outcome']),
  refusals: counter('postroom_smtp_refusals_total', 'Mail refused before it was accepted', ['reason']),
  replies: counter('postroom_smtp_replies_total', 'Verdicts on SMTP commands; message is the one at end of data', [
    'stage',
    'code',
  ]),
  messageSeconds: histogram('postroom_smtp_message_seconds', 'From end of data to the reply', SLOW, ['outcome']),
  acceptedBytes: counter('postroom_smtp_accepted_bytes_total', 'Bytes of messages that got 250'),
  heldBytes: gauge('postroom_smtp_held_bytes', 'Bytes of messages that are in memory for SMTP'),
};

export const busMetrics = {
  questionSeconds: histogram(
    'postroom_bus_question_seconds',
    'Until the answer to a question came, or was given up',
    SLOW,
    ['question', 'outcome'],
  ),
  isConnected: new Gauge({
    name: 'postroom_bus_connected',
    help: '1 while questions can be asked',
    labelNames: ['transport'],
    aggregator: 'min',
  }),
};

export const actorMetrics = {
  stepRuns: counter('postroom_step_runs_total', 'Runs of the steps of actors', ['actor', 'step', 'trigger']),
  stepFailures: counter(
    'postroom_step_failures_total',
    'Runs that failed: away is PostgreSQL or the bus, fault is a fault of ours',
    ['actor', 'step', 'reason'],
  ),
  stepSeconds: histogram('postroom_step_seconds', 'Time of one run', SLOW, ['actor', 'step']),
  replySeconds: histogram('postroom_answer_seconds', 'Time in which an actor answered a question', SLOW, [
    'actor',
    'question',
    'outcome',
  ]),
  retries: counter('postroom_retries_total', 'Work that has to be, or is, done once more', ['queue']),
  setAside: counter('postroom_set_aside_total', 'Rows set aside after a fault of ours, each time', ['actor', 'queue']),
  sinceAcceptSeconds: histogram(
    'postroom_since_accept_seconds',
    'From the 250 of received mail until it was parsed, threaded, delivered to a webhook',
    THROUGH,
    ['stage'],
  ),
};

export const screeningMetrics = {
  scanSeconds: histogram(
    'postroom_scan_seconds',
    'Time in which rspamd or clamd checked a message (`checked`), or did not (`away`)',
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
    'Time of one build, merge or rewrite of search words',
    SLOW,
    ['work'],
  ),
  wordSegmentsDamaged: counter('postroom_word_segments_damaged_total', 'Segments of search words that were damaged'),
};

export const receivingMetrics = {
  acceptSeconds: histogram(
    'postroom_receiving_accept_seconds',
    'From the question whether a message is taken to its commit, or the refusal',
    QUICK,
    ['outcome'],
  ),
  commitMessages: histogram('postroom_receiving_commit_messages', 'Messages committed together', COMPANY),
  repeated: counter(
    'postroom_receiving_repeated_total',
    'Recipients of messages that a client offered again after they were stored',
  ),
  parseSeconds: histogram('postroom_parse_seconds', 'Time in the parser, where messages go in lists', QUICK, [
    'outcome',
  ]),
  parseWaiting: gauge('postroom_parse_waiting', 'Messages in memory that wait for the parser'),
  parserEnds: counter('postroom_parser_ends_total', 'Parser threads that ended, or had to be, over a message'),
};

export const threadingMetrics = {
  batchSeconds: histogram('postroom_threading_seconds', 'Time to thread a batch of one workspace', QUICK, ['outcome']),
  emails: counter('postroom_threading_emails_total', 'Emails that got their thread'),
};

export const deliveryMetrics = {
  routeSeconds: histogram('postroom_route_seconds', 'Time to decide on a batch of emails where they go', QUICK),
  routed: counter('postroom_routed_emails_total', 'Emails decided on', ['outcome']),
  attemptSeconds: histogram('postroom_delivery_attempt_seconds', 'Time of one webhook request', SLOW, [
    'outcome',
    'answer',
  ]),
  outcomes: counter('postroom_delivery_outcomes_total', 'What deliveries came to, each time one was tried', [
    'outcome',
  ]),
  forwardSeconds: histogram('postroom_forward_seconds', 'Time to compose and queue a forwarded copy', QUICK, [
    'outcome',
  ]),
};

export const sendingMetrics = {
  attemptSeconds: histogram(
    'postroom_sending_attempt_seconds',
    'Time of one SMTP transaction, opening included',
    SLOW,
    ['outcome'],
  ),
  outcomes: counter('postroom_sending_outcomes_total', 'What attempts came to, for each recipient', [
    'outcome',
    'answer',
  ]),
  settledSeconds: histogram('postroom_sending_settled_seconds', 'From queue to the end, for each recipient', THROUGH, [
    'outcome',
  ]),
};

export const schedulingMetrics = {
  released: counter('postroom_scheduled_released_total', 'Scheduled emails handed to the queue'),
};

export const gatewayMetrics = {
  requests: counter('postroom_http_requests_total', 'HTTP requests by the pattern of their route', [
    'method',
    'route',
    'status',
  ]),
  requestSeconds: histogram('postroom_http_request_seconds', 'Time to answer a request', QUICK, ['method', 'route']),
  refusedConnections: counter(
    'postroom_http_connections_refused_total',
    'HTTP connections that were refused: too many at the same time of all clients (total) or of one address, or too many in a minute of one network (rate)',
    ['reason'],
  ),
  operations: counter('postroom_graphql_operations_total', 'GraphQL operations', ['kind', 'outcome']),
  auditNotesDropped: counter(
    'postroom_audit_notes_dropped_total',
    'Refused requests missing in the audit log: full is the buffer, database is PostgreSQL',
    ['reason'],
  ),
  requestLogDropped: counter(
    'postroom_request_log_dropped_total',
    'Requests missing in the request log: full is the buffer, database is PostgreSQL',
    ['reason'],
  ),
};

export const databaseMetrics = {
  connections: gauge('postroom_database_connections', 'Connections of a pool, in use or idle', ['pool', 'state']),
  connectionLimit: gauge('postroom_database_connections_limit', 'Most connections of a pool', ['pool']),
  waiting: gauge('postroom_database_waiting', 'Work that waits for a connection of a pool', ['pool']),
};

export const backlogMetrics = {
  rows: gauge('postroom_backlog_rows', 'Rows that are due and not done, counted up to 10,000', ['actor', 'queue']),
  oldestSeconds: gauge('postroom_backlog_oldest_seconds', 'How long the oldest of them is due; 0 when there is none', [
    'actor',
    'queue',
  ]),
  laterRows: gauge('postroom_backlog_later_rows', 'Rows that wait for their next try, counted up to 10,000', [
    'actor',
    'queue',
  ]),
  dead: gauge('postroom_dead_rows', 'Rows that are not tried any more after faults of ours; see bin/dead.ts', [
    'actor',
    'queue',
  ]),
  readFailures: counter(
    'postroom_backlog_read_failures_total',
    'Readings of the backlog that PostgreSQL did not respond in time',
  ),
};

export const diskMetrics = {
  free: gauge('postroom_disk_free_bytes', 'Bytes that are free where the mail is kept, on one machine', ['disk']),
  size: gauge('postroom_disk_size_bytes', 'Bytes of that disk', ['disk']),
};

export const processMetrics = {
  build: new Gauge({
    name: 'postroom_build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['version', 'node'],
    aggregator: 'first',
  }),
  isDraining: new Gauge({
    name: 'postroom_draining',
    help: '1 from the moment that the process is to end',
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
