import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { addServerOptions, connect, type Server, type ServerOptions, Unavailable } from './connect.ts';
import { parsePast, parseSeconds } from './durations.ts';
import { addJsonOption, oneLine, print, printJson } from './output.ts';

interface WaitOptions extends ServerOptions {
  address?: string;
  domain?: string;
  from?: string;
  subject?: string;
  since?: Date;
  timeout: number;
  code?: true;
  link?: true;
  json?: true;
}

const TIMEOUT_SECONDS = 60;
/** The longest wait of one request, in seconds. */
const MAX_WAIT_SECONDS = 60;

export function addWaitCommand(program: Command): void {
  const command = program
    .command('wait')
    .description('Waits for an email and prints what it is, with the codes and links in it.')
    .option('--address <address>', 'your address that receives it')
    .option('--domain <domain>', 'your domain that receives it')
    .option('--from <address>', 'address or domain of the sender')
    .option('--subject <text>', 'part of the subject')
    .option(
      '--since <time>',
      'also match mail since this time, or for so long: 5m. The default is from now on',
      parsePast,
    )
    .option('--timeout <seconds>', 'how long to wait: 90, 5m or 1h', parseSeconds, TIMEOUT_SECONDS)
    .addOption(new Option('--code', 'print only the most likely one-time code').conflicts('link'))
    .option('--link', 'print only the most relevant link');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Exits with ${EXIT.timeout} if no email arrives in time. Start it before the email is sent, or use --since.

Examples:
  $ CODE=$(postroom wait --address hello@inbox.test --since 1m --code)
  $ postroom wait --from example.com --subject 'Confirm your address' --link --timeout 5m`,
    )
    .action(waitForEmail);
}

interface Waited {
  timed_out: boolean;
  email: { id: string; from: string; subject: string; created_at: string } | null;
  codes: { code: string }[];
  links: { url: string; text: string | null; is_unsubscribe: boolean }[];
}

async function waitForEmail(options: WaitOptions): Promise<void> {
  const waited = await waitLong(await connect(options, { retries: 0 }), options);
  const { email, codes } = waited;
  if (email === null) {
    if (options.json === true) printJson(waited);
    throw new CommandError(`No such email arrived within ${options.timeout} s.`, { exitCode: EXIT.timeout });
  }
  if (options.json === true) return printJson(waited);
  if (options.code === true) return print(only(codes[0]?.code, 'code', email.id));
  const links = waited.links.filter(({ is_unsubscribe: isUnsubscribe }) => !isUnsubscribe);
  if (options.link === true) return print(only(links[0]?.url, 'link', email.id));
  print(
    [
      `${email.id}  ${oneLine(email.from)}  ${oneLine(email.subject)}`,
      ...codes.map(({ code }) => `code: ${oneLine(code)}`),
      ...links.map(({ url }) => `link: ${oneLine(url)}`),
    ].join('\n'),
  );
}

function only(found: string | undefined, what: string, id: string): string {
  if (found !== undefined) return oneLine(found);
  throw new CommandError(`The email has no ${what}.`, { next: `Read it with postroom read ${id}.` });
}

const PAUSE_MS = 500;

/**
 * Waits as long as the options say, in requests of at most a minute, which pass any proxy. A request that follows another also matches mail since the end of the one
 * before it, by the clock of the server; one that follows a lost connection, since the start. So no email is missed between them.
 */
async function waitLong(server: Server, options: WaitOptions): Promise<Waited> {
  const { address, domain, from, subject, timeout } = options;
  const startedAt = new Date();
  const deadline = startedAt.getTime() + timeout * 1_000;
  let since = options.since?.toISOString();
  for (let isFirst = true; ; isFirst = false) {
    const left = Math.max(0, deadline - Date.now()) / 1_000;
    try {
      const body = { address, domain, from, subject, since, timeout: Math.min(left, MAX_WAIT_SECONDS) };
      const response = await server.fetch('/emails/wait', { method: 'POST', body });
      const waited = (await response.json()) as Waited;
      if (!waited.timed_out || Date.now() >= deadline) return waited;
      since ??= new Date(response.headers.get('date') ?? startedAt).toISOString();
    } catch (error) {
      // A server that was never reached is a wrong URL rather than a restart.
      const isLost = error instanceof Unavailable && (error.isPassing || !isFirst);
      if (!isLost || Date.now() >= deadline) throw error;
      since ??= startedAt.toISOString();
      await pause(PAUSE_MS);
    }
  }
}
