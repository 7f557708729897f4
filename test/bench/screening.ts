import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { screenMessage } from '../../actors/screening/screen-message.ts';
import { screenMail } from '../../core/screening/screen-mail.ts';
import type { ScreenedMail } from '../../core/screening/screened-mail.ts';
import {
  type RealFilter,
  type RealVirusScanner,
  startRealFilter,
  startRealVirusScanner,
} from '../support/servers/real-scanners.ts';
import { openTestScanners } from '../support/servers/scanners.ts';
import type { Contestant } from './contestants.ts';
import { onGround } from './ground.ts';
import { openReceivingStage, type ReceivingRound, receive, withReceiver } from './receiving.ts';
import { computeRatio, type Extent, type PartOutcome, type Row } from './rows.ts';
import { inTurn, median } from './statistics.ts';

export const help = `Measures what the screening of a message costs: the rules for text that is aimed at agents, on 10 KB; and, where rspamd, redis-server and
clamd are installed, a question to both scanners about a message of 4 KB, alone and 16 at the same time, and mail in by SMTP with both beside
mail in without. No module of rspamd asks the network.

  --rounds N   of mail in, default 3; 0: none
  --count N    messages of a round, default 1000`;

const PARAGRAPH =
  'Hello Mira, the delivery note for order 5518 is attached, and the next one follows on Tuesday. Please tell me whether the address is right. ';
const ROUNDS = 1_000;
const SCANNED = 200;
const AT_ONCE = 16;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: 'string', default: '3' }, count: { type: 'string', default: '1000' } },
  });
  const mail = { subject: 'Order 5518', text: null, html: null, fileNames: [] };
  const html = `<p style="color:#333">${PARAGRAPH}<a href="https://shop.example.com/x?id=77">Open</a></p>`;
  report('rules, 10 KB of text', timeRules({ ...mail, text: fill(PARAGRAPH, 10_240) }));
  report('rules, 10 KB of HTML', timeRules({ ...mail, html: fill(html, 10_240) }));
  if (!isInstalled()) return console.log('scanners: rspamd, redis-server and clamd are not all installed');
  const [filter, viruses] = await Promise.all([startRealFilter(), startRealVirusScanner()]);
  try {
    await askScanners(filter, viruses);
    if (Number(values.rounds) === 0) return;
    const rows = listRows(
      await measureScanners(Number(values.rounds), Number(values.count), makeSettings(filter, viruses)),
    );
    for (const row of rows)
      console.log(
        `${row.work}: ${median(row.ours).toFixed(0)} messages/s, ratio to without ${computeRatio(row)?.toFixed(2)}`,
      );
  } finally {
    await Promise.all([filter.stop(), viruses.stop()]);
  }
}

const fill = (text: string, size: number) => text.repeat(Math.ceil(size / text.length)).slice(0, size);

/** Measures questions to both scanners, one at a time and several at once. */
async function askScanners(filter: RealFilter, viruses: RealVirusScanner): Promise<void> {
  const scanners = openTestScanners({
    filter: { url: filter.url, controllerUrl: filter.controllerUrl },
    virus: { address: viruses.address },
  });
  try {
    const bytes = Buffer.from(`From: ann@elsewhere.test\r\nSubject: Order 5518\r\n\r\n${fill(PARAGRAPH, 4_000)}\r\n`);
    const ask = () => screenMessage(scanners, REQUEST, bytes);
    for (let n = 0; n < 20; n++) await ask();
    const alone: number[] = [];
    for (let n = 0; n < SCANNED; n++) alone.push(await timed(ask));
    report('both scanners, 4 KB, one at a time', alone);
    const startedAt = performance.now();
    const crowded: number[] = [];
    let left = SCANNED;
    const work = async () => {
      while (left-- > 0) crowded.push(await timed(ask));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    report(`both scanners, 4 KB, ${AT_ONCE} at a time`, crowded);
    console.log(`  ${((SCANNED / (performance.now() - startedAt)) * 1_000).toFixed(0)} messages per second`);
  } finally {
    await scanners.stop();
  }
}

interface ScannerRounds {
  with: ReceivingRound[];
  without: ReceivingRound[];
}

/** Measures mail in with both scanners and without, in turn. */
function measureScanners(rounds: number, count: number, settings: Record<string, string>): Promise<ScannerRounds> {
  return onGround(async (ground) => {
    const stage = await openReceivingStage(ground);
    const results: ScannerRounds = { with: [], without: [] };
    const order = { sizeBytes: 4_096, isReusingConnections: false, count };
    const measure = (contestant: Contestant) => receive(stage, contestant, order);
    for (let round = 0; round < rounds; round++)
      for (const name of inTurn(['without', 'with'] as const, round)) {
        const environment = name === 'with' ? settings : {};
        const result = await withReceiver(stage, 'postroom', undefined, measure, environment);
        results[name].push(result);
        console.log(`round ${round + 1}, ${name} scanners: ${result.acceptPerSecond.toFixed(0)} messages/s to the 250`);
      }
    return results;
  });
}

function makeSettings(filter: RealFilter, { address }: RealVirusScanner): Record<string, string> {
  return {
    RSPAMD_URL: filter.url,
    RSPAMD_CONTROLLER_URL: filter.controllerUrl,
    CLAMD_ADDRESS: `${address.host}:${address.port}`,
  };
}

/** The rows of docs/benchmarks.md about scanners; none where they are not installed. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  if (!isInstalled()) return { rows: [], foreignPercents: [], problems: [] };
  const [filter, viruses] = await Promise.all([startRealFilter(), startRealVirusScanner()]);
  try {
    const isFull = extent === 'full';
    const results = await measureScanners(isFull ? 3 : 1, isFull ? 1_000 : 50, makeSettings(filter, viruses));
    const foreignPercents = [...results.with, ...results.without].map(({ foreignPercent }) => foreignPercent);
    return { rows: listRows(results), foreignPercents, problems: [] };
  } finally {
    await Promise.all([filter.stop(), viruses.stop()]);
  }
}

function listRows(results: ScannerRounds): Row[] {
  return (
    [
      ['250', 'to the 250', ({ acceptPerSecond }: ReceivingRound) => acceptPerSecond],
      ['webhook', 'to the webhook', ({ donePerSecond }: ReceivingRound) => donePerSecond],
    ] as const
  ).map(([id, what, pick]) => ({
    id: `screening.${id}`,
    work: `4 KB ${what}, with rspamd and clamd`,
    unit: 'messages/s',
    better: 'higher',
    ours: results.with.map(pick),
    peer: { name: 'without scanners', values: results.without.map(pick) },
  }));
}

const REQUEST = {
  reversePath: 'ann@elsewhere.test',
  recipients: [
    {
      recipient: 'hello@inbox.test',
      ownAddress: 'hello@inbox.test',
      workspaceId: 'usr_1',
      addressId: null,
      domainId: 'dom_1',
    },
  ],
  remoteAddress: '192.0.2.1',
  helo: 'elsewhere.test',
  isTls: false,
  traceFields: '',
} as unknown as Parameters<typeof screenMessage>[1];

function timeRules(mail: ScreenedMail): number[] {
  for (let n = 0; n < ROUNDS / 2; n++) screenMail(mail);
  return Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    screenMail(mail);
    return performance.now() - startedAt;
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function report(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
  console.log(`${what}: median ${at(0.5)} ms, 95 % within ${at(0.95)} ms`);
}

function isInstalled(): boolean {
  try {
    for (const program of ['rspamd', 'redis-server', 'clamd'])
      execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
