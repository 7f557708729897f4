import type { Command } from 'commander';
import { addServerOptions, connect, type ServerOptions } from './connect.ts';
import { onlySender } from './only-sender.ts';
import {
  addOutgoingOptions,
  idempotencyHeader,
  type OutgoingOptions,
  outgoingBody,
  printAccepted,
} from './outgoing-options.ts';
import { addJsonOption } from './output.ts';

export function addSendCommand(program: Command): void {
  const command = program
    .command('send')
    .description('Sends an email, or schedules it.')
    .option('--from <address>', 'sender, on one of your verified domains; the default is your only address');
  addJsonOption(addServerOptions(addOutgoingOptions(command)))
    .addHelpText(
      'after',
      `
Examples:
  $ postroom send --from hello@inbox.test --to ada@example.com --subject Hello --text 'Hello Ada'
  $ postroom send --from hello@inbox.test --to ada@example.com --subject Report --attach report.pdf < text.txt
  $ postroom send --from hello@inbox.test --to ada@example.com --subject Later --text Hi --at 'tomorrow at 9am'`,
    )
    .action(send);
}

async function send(options: OutgoingOptions & ServerOptions): Promise<void> {
  const server = await connect(options);
  const body = await outgoingBody({ ...options, from: options.from ?? (await onlySender(server)) });
  printAccepted(await server.post('/emails', body, { headers: idempotencyHeader(options) }), options);
}
