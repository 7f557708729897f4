import { createWriteStream } from 'node:fs';
import { Argument, type Command } from 'commander';
import { CommandError } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import { type FoundMessage, MAIL_FORMATS, type MailFiles, type MailFormat, openMailFiles } from './mail-files.ts';
import { addJsonOption, print, toJson } from './output.ts';

interface ImportOptions extends ServerOptions {
  address: string;
  webhooks?: true;
  read?: true;
  report?: string;
  json?: true;
}

/** One request has at most so many messages and bytes; a message that is larger goes alone. */
const BATCH_MESSAGES = 50;
const BATCH_BYTES = 4_000_000;
/** Requests in flight. */
const REQUESTS = 3;
/** For a minute. An import that ends can be repeated, but has to read everything again. */
const RETRIES = 8;
/** Refused messages that are printed; the file of --report has all of them. */
const PRINTED = 20;

export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description('Imports mail of another system as received mail, with its dates, threads and read flags.')
    .addArgument(
      new Argument('<format>', 'mbox: one file; maildir: a folder with cur and new; eml: a file or a folder').choices(
        MAIL_FORMATS,
      ),
    )
    .argument('<path>', 'the file or folder')
    .requiredOption('--address <address>', 'your address that receives the mail')
    .option('--webhooks', 'route the mail like new mail: guard rules, endpoints and webhooks')
    .option('--read', 'mark all of it as read')
    .option('--report <file>', 'write each message that was refused to a file, as JSON lines');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
The key needs the scope manage. Interrupted imports can be repeated: mail that is there already is not added again.

Examples:
  $ postroom import mbox mail.mbox --address hello@inbox.test
  $ postroom import maildir ~/Maildir --address hello@inbox.test --report refused.jsonl`,
    )
    .action(runImport);
}

interface Refusal {
  source: string;
  reason: string;
}

interface ImportTotals {
  imported: number;
  duplicates: number;
  refused: Refusal[];
}

async function runImport(format: MailFormat, path: string, options: ImportOptions): Promise<void> {
  const server = await connect(options, { retries: RETRIES });
  const files = await openMailFiles(format, path);
  const startedTick = performance.now();
  const totals: ImportTotals = { imported: 0, duplicates: 0, refused: [] };
  const progress = showProgress(process.stderr, files.totalBytes);
  try {
    await sendAll(server, files, options, (batch, outcomes) => {
      count(totals, batch, outcomes);
      const { imported, duplicates, refused } = totals;
      progress.step(imported + duplicates + refused.length, batch.at(-1)?.bytesSoFar ?? 0);
    });
  } finally {
    progress.end();
  }
  if (options.report !== undefined) await writeReport(options.report, totals.refused);
  const seconds = (performance.now() - startedTick) / 1_000;
  const skipped = files.skipped();
  print((options.json === true ? asJson(totals, skipped, seconds) : asText(totals, skipped, seconds)).trimEnd());
}

type Outcome = { status: 'imported' | 'duplicate' | 'refused'; reason: string | null };

const TOO_BIG = '552 5.3.4 Message size exceeds the limit';

/** Sends batches, several at a time, and reports each one when it is stored. */
async function sendAll(
  server: Server,
  { messages }: MailFiles,
  { address, webhooks = false, read = false }: { address: string; webhooks?: boolean; read?: boolean },
  done: (batch: readonly FoundMessage[], outcomes: readonly Outcome[]) => void,
): Promise<void> {
  const batches = listBatches(messages);
  const send = async (batch: readonly FoundMessage[]): Promise<void> => {
    const fitting = batch.flatMap(({ raw, isRead, receivedAt }) =>
      raw === null ? [] : [{ raw: raw.toString('base64'), is_read: isRead || read, received_at: receivedAt }],
    );
    const reply =
      fitting.length === 0
        ? { data: [] }
        : await server.post<{ data: Outcome[] }>('/emails/import', { address, webhooks, messages: fitting });
    const outcomes = reply.data.values();
    done(
      batch,
      batch.map(({ raw }) => {
        const outcome = raw === null ? undefined : outcomes.next().value;
        return outcome ?? { status: 'refused', reason: TOO_BIG };
      }),
    );
  };
  const worker = async (): Promise<void> => {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) await send(next.value);
  };
  await Promise.all(Array.from({ length: REQUESTS }, worker));
}

async function* listBatches(messages: AsyncIterable<FoundMessage>): AsyncGenerator<FoundMessage[]> {
  let batch: FoundMessage[] = [];
  let bytes = 0;
  for await (const message of messages) {
    const size = message.raw?.length ?? 0;
    if (batch.length === BATCH_MESSAGES || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    // A message without bytes would be refused for its form; the server would refuse the whole request.
    batch.push(size === 0 && message.raw !== null ? { ...message, raw: Buffer.from('\r\n') } : message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function count(totals: ImportTotals, batch: readonly FoundMessage[], outcomes: readonly Outcome[]): void {
  for (const [at, { status, reason }] of outcomes.entries()) {
    if (status === 'imported') totals.imported += 1;
    else if (status === 'duplicate') totals.duplicates += 1;
    else totals.refused.push({ source: batch[at]?.source ?? '', reason: reason ?? '' });
  }
}

interface ProgressBar {
  step(messages: number, bytes: number): void;
  end(): void;
}

const BAR_WIDTH = 24;
const TERMINAL_INTERVAL_MS = 200;
const LINE_INTERVAL_MS = 5_000;

/** A bar that is redrawn on a terminal, else a line every few seconds. `tick` returns the monotonic time in milliseconds. */
export function showProgress(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
  totalBytes: number,
  tick: () => number = () => performance.now(),
): ProgressBar {
  const startedTick = tick();
  const interval = stream.isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS;
  let toldTick = startedTick;
  let farthest = 0;
  let hasDrawn = false;
  return {
    step(messages, bytes) {
      farthest = Math.max(farthest, bytes);
      const now = tick();
      const share = totalBytes === 0 ? 1 : farthest / totalBytes;
      if (now - toldTick < interval && !(stream.isTTY && share >= 1)) return;
      toldTick = now;
      const seconds = (now - startedTick) / 1_000;
      const left = (seconds * (1 - share)) / Math.max(share, 1e-9);
      const rate = `${messages} messages, ${Math.round(messages / seconds)}/s, ${clock(left)} left`;
      const line = `${Math.floor(share * 100)} %  ${rate}`;
      if (!stream.isTTY) return void stream.write(`${line}\n`);
      const filled = Math.round(share * BAR_WIDTH);
      stream.write(`\r[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${line}\u001b[K`);
      hasDrawn = true;
    },
    end() {
      if (hasDrawn) stream.write('\n');
    },
  };
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  return `${minutes}:${String(whole % 60).padStart(2, '0')}`;
}

function asText({ imported, duplicates, refused }: ImportTotals, skipped: number, seconds: number): string {
  const rate = Math.round((imported + duplicates) / Math.max(seconds, 0.001));
  return [
    `Imported ${imported}, already there ${duplicates}, refused ${refused.length}, skipped ${skipped} (deleted or drafts); ${seconds.toFixed(1)} s, ${rate}/s`,
    ...refused.slice(0, PRINTED).map(({ source, reason }) => `refused: ${source}: ${reason}`),
    ...(refused.length > PRINTED ? [`and ${refused.length - PRINTED} more; --report FILE lists all`] : []),
    '',
  ].join('\n');
}

function asJson({ imported, duplicates, refused }: ImportTotals, skipped: number, seconds: number): string {
  return `${toJson({ imported, duplicates, refused, skipped, seconds: Number(seconds.toFixed(3)) })}\n`;
}

/** Throws CommandError when the file cannot be written. */
async function writeReport(file: string, refused: readonly Refusal[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const stream = createWriteStream(file);
  stream.on('error', (error) => reject(new CommandError(`${file}: ${error.message}`)));
  stream.end(refused.map((each) => `${toJson(each)}\n`).join(''), () => resolve(undefined));
  await promise;
}
