import type { Command } from 'commander';
import { addServerOptions, connect, type ServerOptions } from './connect.ts';
import { addJsonOption, type Column, hint, print, printJson, table } from './output.ts';

interface Decision {
  id: string;
  approval: 'approved' | 'rejected';
  send_at: string | null;
  changed: boolean;
}

interface Waiting {
  id: string;
  from: string;
  to: string[];
  subject: string;
}

/** Adds `approve` and `reject`, which decide on mail that waits for approval; without ID, `approve` lists it. */
export function addApprovalCommands(program: Command): void {
  const approve = program
    .command('approve')
    .description('Sends an email that waits for approval. Without ID, lists the emails that wait.')
    .argument('[id]', 'ID of an email (em_...)');
  addJsonOption(addServerOptions(approve))
    .addHelpText(
      'after',
      `
Read an email before you approve it. The key needs the scope approve, and cannot approve what it sent.

Examples:
  $ postroom approve
  $ postroom read em_01a2...
  $ postroom approve em_01a2...`,
    )
    .action((id: string | undefined, options: Options) =>
      id === undefined ? list(options) : decide('approve', id, options),
    );
  const reject = program
    .command('reject')
    .description('Rejects an email that waits for approval. It is never sent.')
    .argument('<id>', 'ID of an email (em_...)')
    .option('--reason <text>', 'why; it is shown with the email');
  addJsonOption(addServerOptions(reject))
    .addHelpText('after', "\nExamples:\n  $ postroom reject em_01a2... --reason 'Wrong price'")
    .action((id: string, options: Options) => decide('reject', id, options));
}

type Options = ServerOptions & { json?: true; reason?: string };

async function decide(verb: 'approve' | 'reject', id: string, options: Options): Promise<void> {
  const server = await connect(options);
  const body = options.reason === undefined ? {} : { reason: options.reason };
  const decision = await server.post<Decision>(`/emails/${encodeURIComponent(id)}/${verb}`, body);
  if (options.json === true) return printJson(decision);
  print(`${decision.id} ${decision.approval}${decision.changed ? '' : ' before'}`);
}

const COLUMNS: readonly Column<Waiting>[] = [
  { title: 'ID', text: ({ id }) => id, style: () => 'dim' },
  { title: 'From', text: ({ from }) => from, isFlexible: true },
  { title: 'To', text: ({ to }) => to.join(', '), isFlexible: true },
  { title: 'Subject', text: ({ subject }) => subject, isFlexible: true },
];

async function list(options: Options): Promise<void> {
  const server = await connect(options);
  const { data } = await server.get<{ data: Waiting[] }>('/emails', {
    status: 'awaiting_approval',
    time_range: 'all',
    limit: 100,
  });
  if (options.json === true) return printJson({ data });
  if (data.length === 0) return print('No email waits for approval.');
  print(table(data, COLUMNS));
  hint('Read one: postroom read ID. Then: postroom approve ID, or postroom reject ID.');
}
