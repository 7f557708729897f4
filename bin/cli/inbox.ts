import { type Command, InvalidArgumentError, Option } from 'commander';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import { addJsonOption, type Column, hint, print, printJson, shortDate, table } from './output.ts';

interface InboxOptions extends ServerOptions {
  emails?: true;
  unread?: true;
  sent?: true;
  search?: string;
  address?: string;
  limit: number;
  cursor?: string;
  json?: true;
}

const LIMIT = 20;
const MAX_LIMIT = 100;

export function addInboxCommand(program: Command): void {
  const command = program
    .command('inbox')
    .description('Lists threads, or emails, newest first. * marks those with unread mail.')
    .addOption(new Option('--emails', 'list received emails instead of threads'))
    .addOption(new Option('--sent', 'list sent emails with their status').conflicts(['emails', 'unread']))
    .option('--unread', 'only with unread mail')
    .option('--search <text>', 'only what matches: words, parts of subjects and addresses, operators such as from:ann')
    .option('--address <address>', 'only mail of this address, yours or that of a correspondent')
    .option('--limit <count>', `length of the list, up to ${MAX_LIMIT}`, countUpTo(MAX_LIMIT), LIMIT)
    .option('--cursor <cursor>', 'continue after a list: its next_cursor');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  $ postroom inbox --unread
  $ postroom inbox --emails --search 'from:ann invoice' --limit 5
  $ postroom inbox --sent --json`,
    )
    .action(showInbox);
}

/** Parses a whole number from 1. */
function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`Use a whole number from 1 to ${most}.`);
  };
}

async function showInbox(options: InboxOptions): Promise<void> {
  const server = await connect(options);
  const isEmails = options.emails === true || options.sent === true;
  const { rows, nextCursor, lines } = await (isEmails ? listEmails(server, options) : listThreads(server, options));
  if (options.json === true) return printJson({ data: rows, next_cursor: nextCursor });
  if (rows.length === 0) return print('No mail here.');
  print(lines);
  if (nextCursor !== null) hint(`More: add --cursor ${nextCursor}`);
}

interface List {
  rows: readonly unknown[];
  nextCursor: string | null;
  lines: string;
}

interface ThreadRow {
  id: string;
  participant_emails: string[];
  participant_names: string[];
  message_count: number;
  last_message_at: string;
  has_unread: boolean;
  latest_message: { subject: string } | null;
  normalized_subject: string;
}

async function listThreads(server: Server, { unread, search, address, limit, cursor }: InboxOptions): Promise<List> {
  const { threads, pagination } = await server.get<{
    threads: ThreadRow[];
    pagination: { next_cursor: string | null };
  }>('/mail/threads', { limit, cursor, search, address, unread });
  const now = new Date();
  const columns: Column<ThreadRow>[] = [
    { title: '', text: ({ has_unread: isUnread }) => (isUnread ? '*' : ''), style: () => 'yellow' },
    { title: 'ID', text: ({ id }) => id, style: () => 'dim' },
    {
      title: 'With',
      text: (row) => listParticipants(row),
      style: boldIf(({ has_unread: is }) => is),
      isFlexible: true,
    },
    {
      title: 'Subject',
      text: (row) => row.latest_message?.subject ?? row.normalized_subject,
      style: boldIf(({ has_unread: is }) => is),
      isFlexible: true,
    },
    { title: 'Mails', text: ({ message_count: count }) => String(count) },
    { title: 'Latest', text: ({ last_message_at: at }) => shortDate(new Date(at), now) },
  ];
  return { rows: threads, nextCursor: pagination.next_cursor, lines: table(threads, columns) };
}

/** The names of those who take part, or their addresses. */
const listParticipants = ({ participant_names: names, participant_emails: emails }: ThreadRow) =>
  (names.length > 0 ? names.map((name) => name.replace(/ <[^<>]*>$/, '')) : emails).join(', ');

interface EmailRow {
  id: string;
  from: string;
  from_name: string | null;
  to: string[];
  subject: string;
  status: string;
  created_at: string;
  is_read: boolean;
}

async function listEmails(server: Server, options: InboxOptions): Promise<List> {
  const { unread, sent, search, address, limit, cursor } = options;
  const { data, has_more: hasMore } = await server.get<{ data: EmailRow[]; has_more: boolean }>('/emails', {
    type: sent === true ? 'sent' : 'received',
    time_range: 'all',
    limit,
    after: cursor,
    search,
    address,
    status: unread === true ? 'unread' : undefined,
  });
  const now = new Date();
  const isNew = ({ is_read: isRead }: EmailRow) => !isRead && sent !== true;
  const columns: Column<EmailRow>[] = [
    { title: '', text: (row) => (isNew(row) ? '*' : ''), style: () => 'yellow' },
    { title: 'ID', text: ({ id }) => id, style: () => 'dim' },
    sent === true
      ? { title: 'To', text: ({ to }) => to.join(', '), isFlexible: true }
      : { title: 'From', text: (row) => row.from_name ?? row.from, style: boldIf(isNew), isFlexible: true },
    { title: 'Subject', text: ({ subject }) => subject, style: boldIf(isNew), isFlexible: true },
    ...(sent === true ? [{ title: 'Status', text: ({ status }: EmailRow) => status, style: statusStyle }] : []),
    { title: 'Date', text: ({ created_at: at }) => shortDate(new Date(at), now) },
  ];
  return { rows: data, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null, lines: table(data, columns) };
}

function boldIf<Row>(holds: (row: Row) => boolean): (row: Row) => 'bold' | null {
  return (row) => (holds(row) ? 'bold' : null);
}

function statusStyle({ status }: EmailRow): 'green' | 'red' | 'yellow' {
  if (status === 'delivered') return 'green';
  return status === 'bounced' || status === 'failed' ? 'red' : 'yellow';
}
