import type { Command } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions } from './connect.ts';
import {
  addOutgoingOptions,
  idempotencyHeader,
  type OutgoingOptions,
  outgoingBody,
  printAccepted,
} from './outgoing-options.ts';
import { addJsonOption } from './output.ts';

export function addReplyCommand(program: Command): void {
  const command = program
    .command('reply')
    .description('Replies to an email, or to the latest email of a thread.')
    .argument('<id>', 'ID of an email (em_...) or a thread (th_...)')
    .option('--from <address>', 'sender; the default is the address that received the email')
    .option('--all', 'also reply to the other recipients');
  addJsonOption(addServerOptions(addOutgoingOptions(command)))
    .addHelpText(
      'after',
      `
Recipients and subject are those of a reply unless you give others.

Examples:
  $ postroom reply em_01a2... --text 'Thank you.'
  $ fortune | postroom reply th_01a2... --all`,
    )
    .action(reply);
}

type ReplyOptions = OutgoingOptions & ServerOptions & { all?: true };

async function reply(id: string, options: ReplyOptions): Promise<void> {
  const server = await connect(options);
  const from = options.from ?? (await readReceiver(server, id));
  const body = { ...(await outgoingBody({ ...options, from })), reply_all: options.all };
  const headers = idempotencyHeader(options);
  printAccepted(await server.post(`/emails/${encodeURIComponent(id)}/reply`, body, { headers }), options);
}

interface ThreadShape {
  messages: { id: string; type: 'inbound' | 'outbound' }[];
}

/** Returns the address that received an email, or the latest received email of a thread. Throws CommandError when there is none. */
async function readReceiver(server: Server, id: string): Promise<string> {
  const emailId = id.startsWith('th_') ? await latestReceived(server, id) : id;
  const email =
    emailId === undefined
      ? null
      : await server.get<{ envelope_recipient: string | null }>(`/emails/${encodeURIComponent(emailId)}`);
  if (typeof email?.envelope_recipient === 'string') return email.envelope_recipient;
  throw new CommandError(`None of your addresses received ${id}.`, {
    exitCode: EXIT.usage,
    next: 'Give the sender with --from.',
  });
}

async function latestReceived(server: Server, threadId: string): Promise<string | undefined> {
  const { messages } = await server.get<ThreadShape>(`/mail/threads/${encodeURIComponent(threadId)}`);
  return messages.findLast(({ type }) => type === 'inbound')?.id;
}
