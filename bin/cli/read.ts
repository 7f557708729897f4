import type { Command } from 'commander';
import { sizeInWords } from '../runner/progress.ts';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import { addJsonOption, harmless, oneLine, paint, print, printJson } from './output.ts';
import { saveAttachments } from './save-attachments.ts';

interface ReadOptions extends ServerOptions {
  raw?: true;
  html?: true;
  attachments?: string;
  markRead?: true;
  json?: true;
}

export function addReadCommand(program: Command): void {
  const command = program
    .command('read')
    .description('Shows an email, or all emails of a thread, oldest first.')
    .argument('<id>', 'ID of an email (em_...) or a thread (th_...)')
    .option('--raw', 'print the message as it was received, byte for byte')
    .option('--html', 'print the HTML body as its sender wrote it')
    .option('--attachments <directory>', 'save the attachments there; existing files are kept')
    .option('--mark-read', 'mark it as read. Without it, reading changes nothing');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  $ postroom read em_01a2...
  $ postroom read th_01a2... --mark-read
  $ postroom read em_01a2... --attachments ./files
  $ postroom read em_01a2... --raw > message.eml`,
    )
    .action(read);
}

async function read(id: string, options: ReadOptions): Promise<void> {
  const isThread = id.startsWith('th_');
  if (isThread && (options.raw === true || options.html === true))
    throw new CommandError('--raw and --html show one email, not a thread.', {
      exitCode: EXIT.usage,
      next: `Find the ID of the email with postroom read ${id}.`,
    });
  const server = await connect(options);
  if (options.raw === true) return printRaw(server, id);
  const shown = isThread ? await readThread(server, id) : await readEmail(server, id);
  const saved = await saveAll(server, shown.messages, options.attachments);
  if (options.markRead === true) await markRead(server, shown.messages);
  if (options.json === true)
    return printJson(options.attachments === undefined ? shown.body : { ...shown.body, saved });
  if (options.html === true) return printHtml(id, shown.messages[0]?.html ?? null);
  if (options.attachments !== undefined) return print(saved.length === 0 ? 'No attachments.' : saved.join('\n'));
  print((await Promise.all(shown.messages.map(inWords))).join(`\n${paint('dim', '─'.repeat(ruleWidth()))}\n`));
}

async function printRaw(server: Server, id: string): Promise<void> {
  const response = await server.fetch(`/emails/${encodeURIComponent(id)}/raw`);
  const bytes = Buffer.from(await response.arrayBuffer());
  // A terminal would obey the escape sequences of the sender.
  process.stdout.write(process.stdout.isTTY ? harmless(bytes.toString('utf8')) : bytes);
}

function printHtml(id: string, html: string | null): void {
  if (html === null) throw new CommandError(`${id} has no HTML.`, { next: `Read its text with postroom read ${id}.` });
  process.stdout.write(process.stdout.isTTY ? `${harmless(html)}\n` : html);
}

/** What is shown of an email. */
interface Message {
  id: string;
  isReceived: boolean;
  isRead: boolean;
  fields: [name: string, value: string][];
  /** what the reader should know about the sender */
  warnings: string[];
  text: string | null;
  html: string | null;
  attachments: { filename: string; size: number }[];
}

interface Shown {
  /** the response, for --json */
  body: Record<string, unknown>;
  messages: Message[];
}

interface AttachmentBody {
  filename: string;
  size: number;
}

interface EmailBody {
  id: string;
  type: string;
  from: string;
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  status: string;
  created_at: string;
  scheduled_at: string | null;
  thread_id: string | null;
  is_read: boolean;
  metadata: unknown;
  text: string | null;
  html: string | null;
  attachments: AttachmentBody[];
  recipients: { address: string; status: string; last_response: string | null }[];
  sender_verdict: { verdict: string; text: string } | null;
  security_warnings: { text: string }[];
}

async function readEmail(server: Server, id: string): Promise<Shown> {
  const body = await server.get<EmailBody>(`/emails/${encodeURIComponent(id)}`);
  const isReceived = body.type === 'received';
  const message: Message = {
    id: body.id,
    isReceived,
    isRead: body.is_read,
    fields: [
      ['From', body.from],
      ['To', body.to.join(', ')],
      ['Cc', body.cc.join(', ')],
      ['Bcc', body.bcc.join(', ')],
      ['Date', inZone(body.scheduled_at ?? body.created_at)],
      ['Subject', body.subject],
      ['Thread', body.thread_id ?? ''],
      ['Sender', body.sender_verdict?.text ?? ''],
      ['Metadata', body.metadata === null ? '' : JSON.stringify(body.metadata)],
      ...(isReceived ? [] : statusFields(body)),
    ],
    warnings: body.security_warnings.map(({ text }) => text),
    text: body.text,
    html: body.html,
    attachments: body.attachments,
  };
  return { body: body as unknown as Record<string, unknown>, messages: [message] };
}

function statusFields({ status, recipients }: EmailBody): [string, string][] {
  return [
    ['Status', status],
    ...recipients.map(({ address, status: each, last_response: response }): [string, string] => [
      '',
      `${address}: ${each}${response === null ? '' : ` (${response})`}`,
    ]),
  ];
}

interface ThreadBody {
  thread: { id: string };
  messages: {
    id: string;
    type: 'inbound' | 'outbound';
    from: string;
    to: string[];
    cc: string[];
    subject: string;
    date: string;
    status: string;
    is_read: boolean;
    text_body: string | null;
    html_body: string | null;
    attachments: AttachmentBody[];
  }[];
}

async function readThread(server: Server, id: string): Promise<Shown> {
  const body = await server.get<ThreadBody>(`/mail/threads/${encodeURIComponent(id)}`);
  const messages = body.messages.map((message): Message => {
    const isReceived = message.type === 'inbound';
    return {
      id: message.id,
      isReceived,
      isRead: message.is_read,
      fields: [
        ['Email', message.id],
        ['From', message.from],
        ['To', message.to.join(', ')],
        ['Cc', message.cc.join(', ')],
        ['Date', inZone(message.date)],
        ['Subject', message.subject],
        ['Status', isReceived ? '' : message.status],
      ],
      warnings: [],
      text: message.text_body,
      html: message.html_body,
      attachments: message.attachments,
    };
  });
  return { body: body as unknown as Record<string, unknown>, messages };
}

async function inWords({ fields, warnings, text, html, attachments, isReceived, isRead }: Message): Promise<string> {
  const shown = fields.filter(([, value]) => value !== '');
  const lines = shown.map(([name, value]) => {
    const label = paint('dim', (name === '' ? '' : `${name}: `).padEnd(LABEL_WIDTH));
    const words = oneLine(value);
    return `${label}${name === 'Subject' ? paint('bold', words) : words}`;
  });
  const body = text?.trim() ? text : await readText(html);
  return [
    ...lines,
    ...(isReceived && !isRead ? [paint('yellow', 'Unread')] : []),
    ...warnings.map((warning) => paint('red', `Warning: ${oneLine(warning)}`)),
    '',
    harmless(body).trim(),
    ...(attachments.length === 0 ? [] : ['', ...attachments.map(attachmentLine)]),
  ].join('\n');
}

async function readText(html: string | null): Promise<string> {
  if (html === null) return '';
  // Half of what the program loads; only mail without a text needs it.
  const { textOfHtml } = await import('../../core/html/text-of-html.ts');
  return textOfHtml(html) ?? '';
}

const LABEL_WIDTH = 'Subject:'.length + 1;

function attachmentLine({ filename, size }: AttachmentBody): string {
  return `${paint('dim', 'Attached:')} ${oneLine(filename)} (${sizeInWords(size)})`;
}

/** The date in the time zone of the reader. */
function inZone(at: string): string {
  return new Date(at).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short' });
}

const MAX_RULE_WIDTH = 72;

function ruleWidth(): number {
  return Math.min(process.stdout.isTTY ? process.stdout.columns : MAX_RULE_WIDTH, MAX_RULE_WIDTH);
}

async function saveAll(server: Server, messages: readonly Message[], directory: string | undefined): Promise<string[]> {
  if (directory === undefined) return [];
  const saved: string[] = [];
  for (const { id, attachments } of messages)
    saved.push(...(await saveAttachments(server, id, attachments, directory)));
  return saved;
}

/** Emails of one request. */
const MARKED_AT_ONCE = 100;

async function markRead(server: Server, messages: readonly Message[]): Promise<void> {
  const emailIds = messages.filter(({ isReceived, isRead }) => isReceived && !isRead).map(({ id }) => id);
  for (let at = 0; at < emailIds.length; at += MARKED_AT_ONCE)
    await server.post('/mail/bulk', { emailIds: emailIds.slice(at, at + MARKED_AT_ONCE), updates: { isRead: true } });
}
