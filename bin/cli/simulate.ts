import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type ServerOptions } from './connect.ts';
import { addJsonOption, hint, print, printJson } from './output.ts';

type Options = ServerOptions & {
  to: string;
  template?: string;
  raw?: string;
  from?: string;
  subject?: string;
  text?: string;
  json?: true;
};

export function addSimulateCommand(program: Command): void {
  const command = program
    .command('simulate')
    .description('Receives a test email at one of your addresses, without SMTP: guard rules and webhooks run.')
    .requiredOption('--to <address>', 'your address that receives it')
    .addOption(new Option('--template <name>', 'a prepared email, such as one-time-code').conflicts('raw'))
    .option('--raw <file>', 'a whole message (RFC 5322)')
    .option('--from <address>', 'sender of the template')
    .option('--subject <subject>', 'replaces the subject of the template')
    .option('--text <text>', 'replaces the text of the template');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  $ postroom simulate --to hello@inbox.test --template one-time-code
  $ postroom simulate --to hello@inbox.test --raw message.eml --json`,
    )
    .action(simulate);
}

async function simulate({ to, template, raw, from, subject, text, ...options }: Options): Promise<void> {
  const server = await connect(options);
  const content =
    raw === undefined ? { template: template ?? 'plain', from, subject, text } : { raw_base64: await readRaw(raw) };
  const result = await server.post<{ id: string | null; reported_email_id: string | null }>('/emails/simulate', {
    to,
    ...content,
  });
  if (options.json === true) return printJson(result);
  const id = result.id ?? result.reported_email_id ?? '';
  print(id);
  hint(`Read it: postroom read ${id}`);
}

async function readRaw(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`, { exitCode: EXIT.usage });
  });
  return bytes.toString('base64');
}
