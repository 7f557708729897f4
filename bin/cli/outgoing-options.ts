import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { hint, print, printJson } from './output.ts';

/** The options with which `send` and `reply` describe an email. */
export interface OutgoingOptions {
  from?: string;
  to?: string[];
  cc?: string[];
  bcc?: string[];
  subject?: string;
  text?: string;
  textFile?: string;
  html?: string;
  htmlFile?: string;
  attach?: string[];
  metadata?: Record<string, unknown>;
  at?: string;
  timezone?: string;
  idempotencyKey?: string;
  json?: true;
}

export function addOutgoingOptions(command: Command): Command {
  return command
    .option('--to <address>', 'recipient; repeat it, or separate several with commas', collect)
    .option('--cc <address>', 'recipient of a copy', collect)
    .option('--bcc <address>', 'recipient of a copy that the others do not see', collect)
    .option('--subject <subject>', 'subject')
    .option('--text <text>', 'text')
    .option('--text-file <file>', 'file with the text. Without text and HTML, the text is read from stdin')
    .option('--html <html>', 'HTML')
    .option('--html-file <file>', 'file with the HTML')
    .option('--attach <file>', 'file to attach; repeat it for several', collect)
    .option(
      '--metadata <json>',
      'JSON object that is kept with the email, and that replies carry; recipients do not see it',
      readMetadata,
    )
    .option('--at <time>', "when to send: 2027-01-31T09:00, or 'tomorrow at 9am'")
    .option('--timezone <zone>', 'time zone of --at; the default is that of this machine')
    .option(
      '--idempotency-key <key>',
      'for 24 hours, a second run with this key sends nothing and prints the first result',
    );
}

function readMetadata(value: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    parsed = null;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new InvalidArgumentError(`It is not a JSON object, such as '{"order": 4711}'.`);
  return parsed as Record<string, unknown>;
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Returns the body of the request. Reads files, and stdin if there is no other text. Throws CommandError. */
export async function outgoingBody(options: OutgoingOptions): Promise<Record<string, unknown>> {
  const { from, to, cc, bcc, subject, metadata, at, timezone, attach = [] } = options;
  const html = options.html ?? (options.htmlFile === undefined ? undefined : await readTextFile(options.htmlFile));
  const written = options.text ?? (options.textFile === undefined ? undefined : await readTextFile(options.textFile));
  const text = written ?? (html === undefined ? await readStdin() : undefined);
  return {
    from,
    to,
    cc,
    bcc,
    subject,
    text,
    html,
    metadata,
    ...(at === undefined
      ? {}
      : { scheduled_at: at, timezone: timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone }),
    ...(attach.length === 0 ? {} : { attachments: await Promise.all(attach.map(readAttachment)) }),
  };
}

async function readStdin(): Promise<string> {
  hint('Write the text. Ctrl-D on an empty line sends it, Ctrl-C cancels.');
  const text = await readText(process.stdin);
  if (text.trim() !== '') return text;
  throw new CommandError('The email has no text.', {
    exitCode: EXIT.usage,
    next: 'Use --text, --text-file, --html or --html-file, or write the text to stdin.',
  });
}

async function readTextFile(file: string): Promise<string> {
  return (await readBytes(file)).toString('utf8');
}

async function readAttachment(file: string): Promise<{ filename: string; content: string }> {
  return { filename: path.basename(file), content: (await readBytes(file)).toString('base64') };
}

function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${error.message}`;
    throw new CommandError(`${file} ${reason}.`, { exitCode: EXIT.usage });
  });
}

/** Without a key of the user each run has its own, so that a repetition after a broken connection sends nothing twice. */
export function idempotencyHeader({ idempotencyKey }: OutgoingOptions): Record<string, string> {
  return { 'idempotency-key': idempotencyKey ?? randomUUID() };
}

interface Accepted {
  id: string;
  status: string;
  scheduled_at?: string;
}

/** Prints what became of an email that the server accepted. */
export function printAccepted(accepted: Accepted, { json }: OutgoingOptions): void {
  if (json === true) return printJson(accepted);
  const { id, status, scheduled_at: at } = accepted;
  print(
    at === undefined
      ? `${id} ${status}`
      : `${id} ${status} for ${new Date(at).toLocaleString('en-CA', { hour12: false })}`,
  );
  hint(`See what becomes of it: postroom read ${id}`);
}
