/** Tests of one file that belong to an experiment. */
export interface ExperimentTests {
  /** path from the root of the repository */
  file: string;
  /** part of the title of a test or of the `describe` around it; all tests of the file when absent */
  name?: string;
  /** of a `test.each`: part of the row, as the title shows it */
  row?: string;
}

/** One row of docs/chaos.md. */
export interface FaultExperiment {
  /** A: killed processes, B: NATS, C: PostgreSQL, D: disk, E: webhooks, F: SMTP out, G: schedule, H: load, K: cluster, P: messages */
  id: string;
  fault: string;
  /** what must hold, exactly */
  expected: string;
  tests: readonly ExperimentTests[];
}

const SPLIT = 'test/flow/faults-split.attack.ts';
const SENDING = 'test/flow/sending-faults.attack.ts';
const FULL_DISK = 'test/flow/full-disk.long.ts';
const POSTGRESQL = 'test/flow/postgresql-faults.attack.ts';
const CLUSTER = 'test/flow/cluster-faults.long.ts';
const REPLIES = 'test/haraka-plugins/replies.program.ts';
const LIMITS = 'test/haraka-plugins/limits.program.ts';
const BYTES = 'test/haraka-plugins/message-bytes.program.ts';
const ACCEPT = 'test/actors/receiving/accept-message.test.ts';
const RECEIVING = 'test/actors/receiving/actor.test.ts';
const REQUESTS = 'test/gateway/admission/requests.test.ts';
const PARSER = 'test/core/mime/parse-message.test.ts';

const processes: FaultExperiment[] = [
  {
    id: 'A1',
    fault: 'SMTP or the receiving actor is killed before the commit',
    expected: 'The client sees a dropped connection or 451, never 250. Sending again makes one row.',
    tests: [
      { file: SPLIT, name: 'killed at', row: 'smtp.before-ask' },
      { file: SPLIT, name: 'killed at', row: 'receiving.before-commit' },
      { file: SPLIT, name: 'killed at', row: 'receiving.replies-counted' },
      { file: 'test/flow/faults.attack.ts', name: 'process under load loses no mail', row: 'mail' },
    ],
  },
  {
    id: 'A2',
    fault: 'SMTP or the receiving actor is killed after the commit, before the 250',
    expected: 'One row. Sending again gets 250 with the same id and adds no row.',
    tests: [
      { file: SPLIT, name: 'killed at', row: 'receiving.after-commit' },
      { file: SPLIT, name: 'killed at', row: 'smtp.after-reply' },
      { file: 'test/flow/inbound.program.ts', name: 'the same bytes offered again get 250' },
      { file: 'test/flow/faults.attack.ts', name: 'kill -9 of the whole service' },
    ],
  },
  {
    id: 'A3',
    fault: 'Each actor is killed with a job claimed, done but not recorded, and recorded',
    expected: 'No message is lost or duplicated, and another process resumes the job when its lease ends.',
    tests: [
      ...['receiving.parse-claimed', 'receiving.parse-done'].map((row) => ({ file: SPLIT, name: 'killed at', row })),
      ...['receiving.threads-joined', 'receiving.stored', 'delivery.'].map((row) => ({
        file: SPLIT,
        name: 'killed at',
        row,
      })),
      { file: SENDING, name: 'nothing is lost, and doubled is only what the sink took' },
      { file: SENDING, name: 'at random under load' },
      { file: SENDING, name: 'each scheduled email goes once' },
      { file: 'test/flow/forwarding-faults.attack.ts' },
    ],
  },
  {
    id: 'A4',
    fault: 'The gateway is killed during 200 concurrent POST /emails with Idempotency-Key',
    expected: 'One email per key. A send that got 2xx is never lost.',
    tests: [{ file: SENDING, name: 'one email for each key, none lost' }],
  },
];

const nats: FaultExperiment[] = [
  {
    id: 'B1',
    fault: 'NATS is down, then up',
    expected: '451 4.3.0 while it is down, 250 within 5 s after. Stored mail is delivered meanwhile. Nothing is lost.',
    tests: [
      { file: SPLIT, name: 'NATS stopped' },
      { file: SENDING, name: 'NATS is away' },
    ],
  },
  {
    id: 'B2',
    fault: 'NATS is stopped, its data removed, and started again under load',
    expected: 'Nothing is lost or duplicated.',
    tests: [{ file: CLUSTER, name: 'all of NATS is lost' }],
  },
  {
    id: 'B3',
    fault: 'NATS is paused for 20 s (SIGSTOP, SIGCONT)',
    expected: 'Questions end at their time limits with 451 4.3.0, no 5xx, and everything recovers by itself.',
    tests: [
      { file: SPLIT, name: 'NATS paused' },
      { file: 'test/actors/bus/nats.test.ts', name: 'questions end at their time limits while NATS is paused' },
    ],
  },
  {
    id: 'B5',
    fault: 'The same wake-up arrives ten times and out of order',
    expected: 'No second webhook and no second send.',
    tests: [
      { file: 'test/actors/delivery/faults.attack.ts', name: 'wakes that come ten times' },
      { file: 'test/actors/sending/leases.attack.ts', name: 'the same wake ten times sends one message' },
      { file: 'test/actors/threading/actor.test.ts', name: '300 mails of three users' },
    ],
  },
];

const postgresql: FaultExperiment[] = [
  {
    id: 'C1',
    fault: 'PostgreSQL is restarted (fast) ten times under load',
    expected: '451 4.3.0 or 503 only while it is down, recovery within 5 s, and no process exits.',
    tests: [{ file: POSTGRESQL, name: '(pg_ctl restart -m fast) under load' }],
  },
  {
    id: 'C2',
    fault: 'The PostgreSQL postmaster is killed (SIGKILL) 20 times under load',
    expected:
      'It is started again each time, every message that got 250 is stored, and with synchronous_commit=off some are not.',
    tests: [
      { file: POSTGRESQL, name: 'times under load: it is started again each time' },
      { file: POSTGRESQL, name: 'while PostgreSQL is down' },
      { file: POSTGRESQL, name: 'right after 5 messages got 250' },
      { file: 'test/db/cluster/supervise-cluster.test.ts' },
    ],
  },
  {
    id: 'C3',
    fault: 'PostgreSQL is paused',
    expected: '451 4.3.0 at RCPT, never 550 or 250, and 503 at the API, each within 10 s.',
    tests: [
      { file: 'test/flow/faults.attack.ts', name: 'PostgreSQL paused' },
      { file: REQUESTS, name: 'that is paused is reported as 503' },
    ],
  },
  {
    id: 'C4',
    fault: 'All PostgreSQL connections are held for 30 s',
    expected: 'As C3, and recovery without a restart.',
    tests: [
      { file: REQUESTS, name: 'that has no connection left' },
      { file: ACCEPT, name: 'callers get an error at our time limit while every connection is in use' },
      { file: POSTGRESQL, name: 'every connection of PostgreSQL taken' },
    ],
  },
  {
    id: 'C5',
    fault: 'Deadlocks and serialization failures: 20 parallel replies to one thread',
    expected: 'Retried inside. Positions run from 0 without a gap or a repeat.',
    tests: [
      { file: 'test/actors/threading/assign-thread.test.ts', name: '20 replies to one thread' },
      { file: 'test/actors/threading/actor.test.ts', name: 'a batch that loses a deadlock is repeated' },
    ],
  },
  {
    id: 'C6',
    fault: 'The schema is migrated while the service runs',
    expected: 'Both versions serve or answer 503. The schema is never half applied.',
    tests: [{ file: 'test/flow/upgrade.long.ts' }, { file: 'test/db/migrate.test.ts' }],
  },
];

const disk: FaultExperiment[] = [
  {
    id: 'D1',
    fault: 'The disk of DATA_DIR is nearly or completely full',
    expected: '452 4.3.1 at MAIL FROM. Reading works, and 250 returns without a restart once there is space.',
    tests: [
      { file: REPLIES, name: 'MAIL is 452 4.3.1 without disk space' },
      { file: ACCEPT, name: 'without disk space the reply is 452 4.3.1' },
      { file: 'test/actors/receiving/capacity.test.ts' },
      { file: FULL_DISK, name: 'a full disk is 452 4.3.1 at MAIL FROM' },
    ],
  },
  {
    id: 'D2',
    fault: 'The disk of the write-ahead log is full',
    expected: '451 and 503. Every message that got 250 is stored, even when PostgreSQL panics and recovers.',
    tests: [{ file: FULL_DISK, name: 'PostgreSQL ends without room for its log' }],
  },
  {
    id: 'D3',
    fault: 'The bytes of a stored message are damaged or gone',
    expected: 'Its attachments are 404, the damage is logged, and wrong bytes are never returned.',
    tests: [
      { file: 'test/db/byte-store.test.ts', name: 'bytes that do not match their sha256' },
      { file: 'test/gateway/rest/attachments.test.ts', name: 'bytes that are damaged or gone' },
      { file: RECEIVING, name: 'damaged or removed bytes create a flagged email' },
    ],
  },
];

const webhooks: FaultExperiment[] = [
  {
    id: 'E1',
    fault: 'One webhook endpoint of many never answers',
    expected: 'Its attempts end at its timeout, and the other endpoints are not delayed.',
    tests: [
      { file: 'test/actors/delivery/backlog.test.ts', name: 'an endpoint that hangs has few open requests' },
      { file: 'test/actors/delivery/webhook-responses.test.ts', name: 'a receiver that never responds' },
    ],
  },
  {
    id: 'E2',
    fault: 'A webhook answers 500 twice, then 200',
    expected: 'Three attempts, 5 s and 5 min apart, with the same webhook-id and body.',
    tests: [{ file: 'test/actors/delivery/deliver.test.ts', name: 'a webhook that fails twice and then succeeds' }],
  },
  {
    id: 'E3',
    fault: 'A webhook with retryAttempts 0, 3 or 10 always fails',
    expected: 'Exactly 1, 4 or 11 requests, then the delivery is failed. A replay makes a new delivery.',
    tests: [
      { file: 'test/actors/delivery/deliver.test.ts', name: 'that always fails gets exactly' },
      { file: 'test/gateway/rest/replay.test.ts' },
    ],
  },
  {
    id: 'E4',
    fault: 'A webhook answers 410, 429, 3xx, 204, 50 MB, endless headers, a reset or broken TLS',
    expected: '410 ends the retries, 429 is honored, redirects are not followed, and at most 20 KB are read.',
    tests: [{ file: 'test/actors/delivery/webhook-responses.test.ts' }],
  },
  {
    id: 'E5',
    fault: 'The delivery actor is killed between the 200 of a webhook and its record',
    expected: 'A second request with the same id, and one success in the statistics.',
    tests: [
      { file: 'test/actors/delivery/faults.attack.ts', name: 'killed at' },
      { file: SPLIT, name: 'killed at', row: 'delivery.posted' },
    ],
  },
  {
    id: 'E6',
    fault:
      'The delivery actor is killed while it creates the deliveries of events, or passes the turn in a conversation',
    expected: 'Each event and email reaches the endpoint, in order, and none twice.',
    tests: [
      { file: 'test/actors/delivery/events.program.ts', name: 'killed at' },
      { file: 'test/actors/delivery/faults.attack.ts', name: 'while deliveries wait for each other' },
    ],
  },
];

const smtpOut: FaultExperiment[] = [
  {
    id: 'F1',
    fault: 'The remote server answers 4xx or 5xx, drops, hangs, or has no usable MX or TLS',
    expected: '4xx is retried for five days, 5xx bounces at once, and null MX and NXDOMAIN are permanent.',
    tests: [
      { file: 'test/actors/sending/faults.attack.ts' },
      { file: 'test/actors/sending/destinations.test.ts' },
      { file: 'test/actors/sending/retry.test.ts' },
      { file: 'test/actors/sending/tls.test.ts' },
    ],
  },
  {
    id: 'F2',
    fault: 'One of three recipients is refused',
    expected: 'Two are delivered once, one bounces, and nothing is sent again to the two.',
    tests: [{ file: 'test/actors/sending/recipients.test.ts', name: 'when one of three recipients is refused' }],
  },
  {
    id: 'F3',
    fault: 'A bounce report (RFC 3464) comes back, genuine or forged',
    expected:
      'A genuine 5.x report marks the recipient as bounced, 4.x stays pending, and a forged one changes nothing.',
    tests: [
      { file: 'test/flow/bounces.program.ts', name: 'bounces that arrive by SMTP' },
      { file: 'test/actors/receiving/delivery-reports.test.ts' },
    ],
  },
  {
    id: 'F4',
    fault: 'Mail loops: forwards in a ring, an own Delivered-To, 51 Received fields, automatic replies',
    expected: '554 5.4.6 or 554 5.4.0, a ring ends after one turn, and automatic mail gets no automatic reply.',
    tests: [
      { file: 'test/flow/forwarding.program.ts', name: 'loops' },
      { file: BYTES, name: 'a message is refused before any actor is asked' },
    ],
  },
];

const schedule: FaultExperiment[] = [
  {
    id: 'G1',
    fault: 'The scheduler is down when an email falls due',
    expected: 'The email goes once, within 10 s of the start, with two schedulers too.',
    tests: [
      {
        file: 'test/flow/scheduling.program.ts',
        name: 'kill -9 of the whole service: what falls due meanwhile leaves once',
      },
      { file: 'test/actors/scheduling/actor.program.ts', name: 'mail that fell due while the scheduler was down' },
      { file: SENDING, name: 'two of them, and many emails of one instant' },
    ],
  },
  {
    id: 'G2',
    fault: 'The clock of the processes jumps by an hour either way, and daylight saving time begins and ends',
    expected:
      'Due times follow the clock of PostgreSQL. Nothing goes early, nothing stops, and DST gaps have one instant.',
    tests: [
      { file: 'test/flow/clock-faults.long.ts' },
      { file: 'test/actors/scheduling/actor.program.ts', name: 'clock decides nothing' },
      { file: 'test/core/sending/schedule.test.ts' },
    ],
  },
  {
    id: 'G3',
    fault: 'A cancellation and the due time of an email come in the same millisecond',
    expected: 'Canceled or sent, as the response says. Never both, never neither.',
    tests: [
      { file: 'test/actors/scheduling/race.test.ts' },
      { file: 'test/flow/scheduling.program.ts', name: 'fall due while they are cancelled' },
    ],
  },
  {
    id: 'G4',
    fault: '10,000 emails fall due in one second',
    expected: 'All are sent once, and incoming mail and API requests are served meanwhile.',
    tests: [
      { file: 'test/flow/scheduling.program.ts', name: 'emails that fall due in one second' },
      { file: 'test/actors/scheduling/actor.program.ts', name: '10,000 mails that fall due in one second' },
    ],
  },
];

const load: FaultExperiment[] = [
  {
    id: 'H1',
    fault: '10,000 idle SMTP connections',
    expected:
      'Accepted up to the limit, 421 4.3.2 above it, mail accepted beside them, below 400 MB of memory, closed when idle.',
    tests: [
      { file: 'test/flow/connection-faults.long.ts', name: 'idle SMTP connections' },
      { file: LIMITS, name: 'too many from one address are 421 4.7.0' },
    ],
  },
  {
    id: 'H2',
    fault: '500 clients send one byte at a time, in commands, in DATA and in HTTP headers',
    expected: 'Closed at the total time limit, with 421 4.4.2 or 408.',
    tests: [
      { file: 'test/flow/connection-faults.long.ts', name: 'one byte at a time' },
      { file: LIMITS, name: 'the time limit is total time' },
    ],
  },
  {
    id: 'H3',
    fault: 'Commands before the banner, garbage, endless commands',
    expected: '5xx or 521 and the end of the connection. The next client is served.',
    tests: [{ file: LIMITS, name: 'invalid input ends the session' }],
  },
  {
    id: 'H4',
    fault: 'The client disappears in DATA, or after the final dot',
    expected: 'In DATA: no row. After the final dot: one row.',
    tests: [
      { file: 'test/flow/connection-faults.long.ts', name: 'disappear' },
      { file: 'test/haraka-plugins/smuggling.program.ts', name: 'a client that disconnects within DATA' },
    ],
  },
  {
    id: 'H5',
    fault: '50,000 webhooks are waiting',
    expected: 'They are delivered oldest first, at 100 per second or more, and none stays in memory.',
    tests: [
      { file: 'test/actors/delivery/backlog.test.ts', name: 'is delivered oldest first, each once, with flat memory' },
    ],
  },
];

const messages: FaultExperiment[] = [
  {
    id: 'P1',
    fault: 'Messages at and above the size limit',
    expected: '552 5.3.4 at MAIL or after the dot above 15,000,000 bytes. The limit itself is accepted.',
    tests: [
      { file: BYTES, name: 'a message has up to 15,000,000 bytes' },
      { file: BYTES, name: 'a message is refused before any actor is asked' },
      { file: REPLIES, name: 'MAIL checks SIZE and BODY' },
      { file: 'test/actors/sending/send.test.ts', name: 'a message of 12 megabytes' },
    ],
  },
  {
    id: 'P2',
    fault: '50,000 MIME parts',
    expected: 'Stored, parsed and flagged. Parts beyond 1,000 are not listed.',
    tests: [{ file: PARSER, name: 'hostile input takes at most a few seconds', row: '50,000 parts' }],
  },
  {
    id: 'P3',
    fault: 'MIME nesting of thousands of levels',
    expected: 'No stack overflow. Levels below 100 are kept as one attachment.',
    tests: [{ file: PARSER, name: 'hostile input takes at most a few seconds', row: '000 nested m' }],
  },
  {
    id: 'P4',
    fault: 'Huge header sections, header fields and address lists',
    expected: '552 5.3.4 above 256 KB or 1,000 lines. Below that nothing is dropped.',
    tests: [
      { file: PARSER, name: 'hostile input takes at most a few seconds' },
      { file: BYTES, name: 'a message is refused before' },
    ],
  },
  {
    id: 'P5',
    fault: 'Broken character sets, NUL, lone surrogates, missing or invalid header fields',
    expected: '250. The JSON is valid UTF-8 without U+0000, and the original bytes are kept.',
    tests: [{ file: PARSER }, { file: ACCEPT, name: 'NUL and half surrogates' }],
  },
  {
    id: 'P6',
    fault: 'The whole corpora of real mail over SMTP',
    expected: 'Every message gets 250 or its documented refusal, and at least 98 of 100 facts agree.',
    tests: [
      { file: 'test/flow/corpus.long.ts' },
      { file: 'test/corpus/facts.test.ts' },
      { file: 'test/corpus/threads.long.ts' },
    ],
  },
  {
    id: 'P7',
    fault: 'A message on which the parser throws, hangs or runs out of memory',
    expected: 'Stored with its error after three tries, the webhook is sent, and other mail is not affected.',
    tests: [
      { file: 'test/actors/receiving/parse-pool.attack.ts' },
      { file: RECEIVING, name: 'a message that its parser cannot read' },
      { file: RECEIVING, name: 'a message that ended ten processes' },
    ],
  },
  {
    id: 'P8',
    fault: 'Duplicates: the same Message-ID, the same bytes, the same message to two addresses',
    expected: 'Two rows, one row, and one row per address.',
    tests: [
      { file: ACCEPT, name: 'the same bytes from the same sender' },
      { file: ACCEPT, name: 'another sender, other bytes or another recipient' },
      { file: ACCEPT, name: 'one message to two addresses of one tenant' },
      { file: 'test/actors/threading/assign-thread.test.ts', name: 'two messages with one Message-ID' },
    ],
  },
];

/** The services of docker-compose.yml on two hosts; docs/cluster-faults.md says more. */
const cluster: FaultExperiment[] = [
  {
    id: 'K1',
    fault: 'Every process of a cluster is restarted under load',
    expected: 'Clients see only temporary errors, and nothing is duplicated.',
    tests: [{ file: CLUSTER, name: 'every process is restarted' }],
  },
  {
    id: 'K2',
    fault: 'One of three NATS nodes is lost and returns',
    expected: 'Nothing is lost or duplicated.',
    tests: [{ file: CLUSTER, name: 'one NATS node of three is lost' }],
  },
  {
    id: 'K3',
    fault: '200 emails fall due at once with two schedulers',
    expected: 'Each goes once.',
    tests: [{ file: CLUSTER, name: 'two schedulers send 200 emails' }],
  },
  {
    id: 'K4',
    fault: 'A host is cut off from the network and returns',
    expected: 'The other host does its work, and no finished work is repeated.',
    tests: [{ file: CLUSTER, name: 'a host is cut off' }],
  },
  {
    id: 'K5',
    fault: 'A host loses its power and is started again',
    expected: 'The other host does its work.',
    tests: [{ file: CLUSTER, name: 'a host loses its power' }],
  },
  {
    id: 'K6',
    fault: 'PostgreSQL is killed and its replica promoted',
    expected: 'Every process continues with the replica without a restart and never returns to the old server.',
    tests: [{ file: CLUSTER, name: 'PostgreSQL is killed and its replica promoted' }],
  },
];

/** Every fault experiment, in the order of docs/chaos.md. */
export const faultExperiments: readonly FaultExperiment[] = [
  ...processes,
  ...nats,
  ...postgresql,
  ...disk,
  ...webhooks,
  ...smtpOut,
  ...schedule,
  ...load,
  ...messages,
  ...cluster,
];
