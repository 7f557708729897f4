import { parentPort, workerData } from 'node:worker_threads';
import { type Authentication, undecided } from '../../core/mime/authentication.ts';
import { type MailReport, readMailReport } from '../../core/mime/parse-bounce.ts';
import { loadScreening, type ParsedMessage, parseMessage, scanHeaders } from '../../core/mime/parse-message.ts';
import { isReturnAddress } from '../../core/smtp/return-address.ts';
import { publicSuffixes } from '../../operations/emails/public-suffixes.ts';
import { createDnsResolver } from '../network/dns-resolver.ts';
import { releaseMemoryWhenIdle } from '../work/release-memory.ts';
import { readThreadNumber } from '../work/thread-time.ts';
import { authenticateMessage } from './authenticate-message.ts';
import { readDmarcAttachment } from './dmarc-attachment.ts';
import {
  CURRENT,
  IS_ASIDE,
  type ParseOutcome,
  PROGRESS,
  THREAD_NUMBER,
  type WorkerSettings,
  type WorkItem,
  type WorkResult,
} from './parse-messages.ts';

// The worker program of parse-pool.ts. It parses one message at a time, so that the pool knows which one brought a thread down. Checks that
// wait for DNS run in parallel.

// Stack traces never leave this thread, and for mail of a domain without records each lookup throws some: they cost as much as the checks.
Error.stackTraceLimit = 0;

/** Growth of the heap after which an idle thread collects garbage. Bytes. */
const LEAST_GROWTH_BYTES = 12 * 1024 * 1024;

const settings = workerData as WorkerSettings;
const state = new Int32Array(settings.state);
Atomics.store(state, THREAD_NUMBER, readThreadNumber());
const dns = createDnsResolver({ servers: settings.dnsServers });
let turn: Promise<unknown> = Promise.resolve();

parentPort?.on('message', (items: WorkItem[]) => {
  turn = turn.then(() => work(items));
});
// Otherwise the first message would wait for it.
void loadScreening().then(() => parentPort?.postMessage('ready'));
releaseMemoryWhenIdle({ leastGrowthBytes: LEAST_GROWTH_BYTES });

/** Resolves when all are parsed; each result is posted when its message is checked as well, so that none waits for the DNS of another one. */
async function work(items: readonly WorkItem[]): Promise<void> {
  for (const item of items) {
    // One of them may hang, before the current one is checked.
    if (Atomics.load(state, IS_ASIDE) === 1) return;
    const bytes = Buffer.from(item.bytes.buffer, item.bytes.byteOffset, item.bytes.byteLength);
    Atomics.store(state, CURRENT, item.key);
    const message = await parse(bytes);
    const isAtReturnAddress = item.emails?.some(({ recipient }) => isReturnAddress(recipient.toLowerCase())) === true;
    const report = message.holdsReport || isAtReturnAddress ? await readReport(bytes, isAtReturnAddress) : null;
    const dmarcReport = await readDmarcAttachment(bytes, message.attachments);
    Atomics.store(state, CURRENT, 0);
    Atomics.add(state, PROGRESS, 1);
    void check(item, bytes, { message, report, dmarcReport }).then((result) => parentPort?.postMessage(result));
  }
}

async function parse(bytes: Buffer): Promise<ParsedMessage> {
  try {
    return await parseMessage(bytes, publicSuffixes);
  } catch (error) {
    return scanHeaders(bytes, error instanceof Error ? error.message : String(error));
  }
}

/** An unreadable report is mail like any other. */
async function readReport(bytes: Buffer, isAtReturnAddress: boolean): Promise<MailReport | null> {
  try {
    return await readMailReport(bytes, { isAtReturnAddress });
  } catch {
    return null;
  }
}

async function check(
  item: WorkItem,
  bytes: Buffer,
  read: Pick<ParseOutcome, 'message' | 'report' | 'dmarcReport'>,
): Promise<WorkResult> {
  const { message } = read;
  let authentication: Authentication | null = null;
  if (message.parseError === null && item.isOriginKnown !== true) {
    try {
      authentication = await authenticateMessage(bytes, message, item, dns);
    } catch {
      // A message that the verifier cannot read proves nothing about its origin.
      authentication = undecided(message.hasSeveralFromFields);
    }
  }
  Atomics.add(state, PROGRESS, 1);
  return { key: item.key, outcome: { emailId: item.emailId, ...read, authentication } };
}
