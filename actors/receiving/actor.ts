import { statfs } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type DmarcRules, noDmarcRules } from '../../core/screening/door/dmarc-enforcement.ts';
import { type IdentifierKind, newIdentifier } from '../../core/shared/identifiers.ts';
import { deriveReplyAddressKey } from '../../core/smtp/reply-address.ts';
import { deriveReturnAddressKey } from '../../core/smtp/return-address.ts';
import { CLAIM_BATCH } from '../../db/claim.ts';
import { REMOVE_OFFERS_BATCH, removeOldOffers } from '../../db/queries/emails/accept-group.ts';
import {
  claimReceptions,
  type Reception,
  releaseReception,
  releaseReceptions,
} from '../../db/queries/emails/reception-claim.ts';
import { DROPPED_JOBS } from '../../db/queries/screening/screening-job.ts';
import { type Actor, type ActorContext, runActor } from '../actor.ts';
import { JOBS_BATCH, runScreeningJobs } from '../screening/run-jobs.ts';
import type { Scanners } from '../screening/scanners.ts';
import { screenMessage } from '../screening/screen-message.ts';
import { setAside } from '../set-aside.ts';
import { createGroupCommit } from '../work/group-commit.ts';
import { createAcceptor } from './accept-message.ts';
import { createGreylist } from './check-greylist.ts';
import { checkRecipient } from './check-recipient.ts';
import { createDmarcGate } from './enforce-dmarc.ts';
import { createExaminer } from './examine-message.ts';
import type { ReportOptions } from './handle-bounces.ts';
import { keepDoorNotes, recallGuesses } from './keep-door-notes.ts';
import { createReparser } from './parse-again.ts';
import { createParsePool, type ParsePool } from './parse-pool.ts';
import { createParseQueue, type FaultPoint, parseReceptions } from './parse-receptions.ts';
import { reportFailures } from './report-failures.ts';
import { type ParsedReception, storeParsed } from './store-parsed.ts';
import { createReadAhead } from './take-messages.ts';

export interface ReceivingActorOptions {
  /** threads that parse */
  workers: number;
  /** `host:port` each, for SPF, DKIM, DMARC and ARC; empty: the system's resolver */
  dnsServers: readonly string[];
  /** the directory whose disk holds the mail; null when the mail is stored elsewhere */
  dataDirectory: string | null;
  /** right side of the Message-ID for mail without one */
  mailHostname: string;
  /** 32 bytes; signs return addresses and reply addresses */
  secretKey: Uint8Array;
  /** what is refused or held; nothing by default */
  dmarc?: DmarcRules;
  /** how long a message may be parsed before its commit; READ_AHEAD_MS by default. Milliseconds. */
  readAheadMs?: number;
  /** the scanners for spam and viruses; null: none */
  scanners?: Scanners | null;
  /** replaces the actor's own parse pool */
  parser?: ParsePool;
  fault?: (point: FaultPoint) => void;
}

/** How often rows of later checks and lessons are looked for, with scanners and without; milliseconds. */
const SCREEN_LATER_MS = 1_000;
const DROP_JOBS_MS = 10 * 60 * 1_000;
const REMOVE_EVERY_MS = 60 * 60 * 1_000;
/** Chunks in progress per worker: most of them wait for DNS, for another chunk to be stored, or for one bad message to be given up. */
const CHUNKS_PER_WORKER = 8;
/** Emails stored in one transaction. */
const GROUP_EMAILS = 50;
/** How long a message may be parsed before its commit, by default; milliseconds of processor time. */
const READ_AHEAD_MS = 100;
/** Lists of messages per worker that are parsed before their commit, at the same time: one waits for DNS while the other is parsed. */
const LISTS_PER_WORKER = 2;
/** How long a stop waits for parsing in progress; milliseconds. Another process does the rest. */
const STOP_MS = 8_000;
/** How long a stop waits for its leases to be released; milliseconds. After that they expire. */
const RELEASE_MS = 1_000;

/**
 * Receives mail, and notifies the senders of undeliverable mail. A message goes through these steps:
 *
 * 1. `check`: RCPT asks whether the recipient exists (check-recipient.ts).
 * 2. `acceptor`: the message is read and committed with others; most mail is stored with its thread and route by then (accept-message.ts).
 * 3. `queue`: what was only accepted, or was left by another process and is claimed by `parse`, waits for the parser (parse-receptions.ts).
 * 4. `parse`: a chunk is parsed; its bounce reports and complaints are applied to sent mail (parse-receptions.ts).
 * 5. `storing`: the emails of several chunks are stored with their threads in one transaction, and the router is woken (store-parsed.ts).
 */
export async function startReceivingActor(context: ActorContext, options: ReceivingActorOptions): Promise<Actor> {
  const { bus, database, bytes, log, name, now } = context;
  const { workers, mailHostname, scanners = null } = options;
  const fault = options.fault ?? (() => undefined);
  const makeId = (kind: IdentifierKind) => newIdentifier(context, kind);
  const hasRoom = watchCapacity(options.dataDirectory);
  const onEvents = (workspaceId: string, lastSeq: number) => bus.publish('event.appended', { workspaceId, lastSeq });
  const returnAddressKey = deriveReturnAddressKey(options.secretKey);
  const replyAddressKey = deriveReplyAddressKey(options.secretKey);
  const dmarc = options.dmarc ?? noDmarcRules;
  const shared = { database, bytes, log, claimant: name, mailHostname, makeId };
  const parser = options.parser ?? createParsePool({ workers, dnsServers: options.dnsServers, log });
  const reading = createReadAhead({
    parser,
    listsAtOnce: workers * LISTS_PER_WORKER,
    limitMs: options.readAheadMs ?? READ_AHEAD_MS,
  });

  const storing = createGroupCommit<ParsedReception[], ParsedReception[]>({
    limits: { items: GROUP_EMAILS, size: GROUP_EMAILS },
    sizeOf: (parsed) => parsed.length,
    async write(chunks) {
      const { stored, busy } = await storeParsed({ ...shared, now, random: context.random, fault }, chunks.flat());
      for (const { workspaceId, emailIds, lastSeq } of stored) {
        if (emailIds.length > 0) bus.wake('delivery.route.wake', { workspaceId, emailIds });
        onEvents(workspaceId, lastSeq);
      }
      const later = new Set(busy);
      return chunks.map((chunk) => chunk.filter((each) => later.has(each)));
    },
  });
  const reports: ReportOptions = { database, log, claimant: name, returnAddressKey, makeId, onEvents };
  const parse = (chunk: Reception[]) =>
    parseReceptions({ parser, readAhead: reading, bytes, storing, reports, log, fault }, chunk);
  const queue = createParseQueue({
    work: parse,
    onFault: setReceptionAside,
    concurrency: workers * CHUNKS_PER_WORKER,
    log,
  });
  const acceptor = createAcceptor({
    database,
    ahead: { reading, taking: { ...shared, bus, dmarc, directDelivery: context.directDelivery } },
    makeId,
    claimant: name,
    hasRoom,
    queue,
    bytes,
    dmarc: createDmarcGate(dmarc, { parser, reading, log }),
    screen: scanners === null ? null : (request, message) => screenMessage(scanners, request, message),
    fault,
  });

  const check = (recipient: string, reversePath = '') =>
    checkRecipient({ database, returnAddressKey, replyAddressKey, now }, recipient, reversePath);
  const examiner = createExaminer(parser);
  const reparser = createReparser({ database, bytes, log, parser, mailHostname, makeId, onEvents });

  const greylist = createGreylist(database, { dnsServers: options.dnsServers, mailHostname });

  const running = runActor({
    context,
    name: 'receiving',
    questions: {
      'receiving.recipient.check': ({ recipient, reversePath }) => check(recipient, reversePath),
      'receiving.message.accept': (request, accepted) => acceptor.accept(request, accepted),
      'receiving.message.examine': (request, examined) => examiner.examine(request, examined),
      'receiving.refusals.keep': (request) => keepDoorNotes(database, request),
      'receiving.greylist.check': greylist,
      'receiving.guesses.recall': () => recallGuesses(database, now()),
      'receiving.email.parse-again': (request) => reparser.parseAgain(request),
      'receiving.capacity.check': async () => {
        parser.prepare();
        return { hasRoom: await hasRoom() };
      },
    },
    steps: [
      {
        name: 'parse',
        wake: 'receiving.parse.wake',
        due: 'parse',
        batchSize: CLAIM_BATCH,
        async work() {
          if (!queue.hasRoom()) return 0;
          const claimed = await claimReceptions(database, name, CLAIM_BATCH);
          queue.add(claimed);
          return claimed.length;
        },
      },
      {
        name: 'screen-later',
        everyMs: scanners === null ? DROP_JOBS_MS : SCREEN_LATER_MS,
        batchSize: scanners === null ? DROPPED_JOBS : JOBS_BATCH,
        work: () => runScreeningJobs(context, { scanners, fault }),
      },
      {
        name: 'report-failures',
        due: 'report',
        work: () => reportFailures({ ...shared, acceptor, checkRecipient: check }),
      },
      {
        name: 'remove-old-offers',
        everyMs: REMOVE_EVERY_MS,
        batchSize: REMOVE_OFFERS_BATCH,
        work: () => removeOldOffers(database),
      },
    ],
  });

  /** A message that failed alone. */
  async function setReceptionAside(reception: Reception, error: unknown): Promise<void> {
    await setAside(context, { workspaceId: reception.workspaceId, step: 'parse', subjectId: reception.emailId, error });
    // Otherwise it would be retried when its lease expires.
    await releaseReception(database, name, reception).catch((reason: unknown) =>
      log.warn({ err: reason, emailId: reception.emailId }, 'a lease could not be given back'),
    );
  }

  async function stop(): Promise<void> {
    await Promise.all([running.stop(), Promise.race([queue.stop(), pause(STOP_MS, undefined, { ref: false })])]);
    await parser.close();
    await scanners?.stop();
    const released = releaseReceptions(database, name).catch((error: unknown) =>
      log.warn({ err: error }, 'leases could not be given back'),
    );
    await Promise.race([released, pause(RELEASE_MS, undefined, { ref: false })]);
  }
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= stop()) };
}

/** Minimum free bytes to accept a message: room for one and a half of the largest. SIZE is 15,000,000. */
const MIN_FREE_BYTES = 1.5 * 15_000_000;
/** Part of the disk that must stay free. */
const MIN_FREE_PART = 0.05;
/** How long a reply is cached; milliseconds. */
const REPLY_AGE_MS = 1_000;

/**
 * Returns a function that tells whether the disk of this directory has room for another message. With null, the data are stored elsewhere
 * and there is always room as far as this process knows. The function throws when the disk cannot be queried.
 */
export function watchCapacity(dataDirectory: string | null): () => Promise<boolean> {
  if (dataDirectory === null) return () => Promise.resolve(true);
  let askedAt = Number.NEGATIVE_INFINITY;
  let result: Promise<boolean> = Promise.resolve(true);
  return () => {
    if (performance.now() - askedAt > REPLY_AGE_MS) {
      askedAt = performance.now();
      result = statfs(dataDirectory).then((disk) => hasRoom(disk.bavail * disk.bsize, disk.blocks * disk.bsize));
    }
    return result;
  };
}

/** Whether a disk with this many free bytes still accepts mail. */
export function hasRoom(freeBytes: number, sizeBytes: number): boolean {
  return freeBytes >= Math.max(MIN_FREE_BYTES, MIN_FREE_PART * sizeBytes);
}
