import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { CommandError, EXIT } from './command-error.ts';
import { forgetServer, readStoredServer, type StoredTokens, storeServer } from './config-file.ts';
import { DEFAULT_URL, givenIn, openServer, serverUrl } from './connect.ts';
import { addJsonOption, hint, oneLine, print, printJson } from './output.ts';
import { postForm, requestTokens } from './stored-tokens.ts';
import { rightsInWords, whoAmI } from './who-am-i.ts';

interface LoginOptions {
  url?: string;
  level: string;
  browser: boolean;
  json?: true;
}

const urlOption = () => new Option('--url <url>', 'the server').env('POSTROOM_URL');

export function addLoginCommands(program: Command): void {
  addJsonOption(
    program
      .command('login')
      .description('Signs in by the browser, and stores the access that the other commands use.')
      .addOption(urlOption())
      .addOption(
        new Option('--level <level>', 'what to ask for; you decide in the browser')
          .choices(['read', 'send', 'everything'])
          .default('everything'),
      )
      .option('--no-browser', 'only print the link and the code'),
  )
    .addHelpText(
      'after',
      `
Opens the browser where you sign in and choose what the command line may do. On a machine without a browser,
open the link elsewhere and enter the code.

Examples:
  $ postroom login
  $ postroom login --url https://mail.example.com --level read --no-browser`,
    )
    .action(login);
  addJsonOption(
    program.command('logout').description('Ends the access of this machine, and removes what login or init stored.'),
  )
    .addHelpText('after', '\nExample:\n  $ postroom logout')
    .action(logout);
}

const deviceBody = z.object({
  device_code: z.string(),
  user_code: z.string().max(20),
  verification_uri: z.url({ protocol: /^https?$/ }),
  verification_uri_complete: z.url({ protocol: /^https?$/ }),
  expires_in: z.number(),
  interval: z.number().default(5),
});
type Device = z.output<typeof deviceBody>;

/** What is added to the interval when the server wants fewer requests (RFC 8628 §3.5). Seconds. */
const SLOWER_SECONDS = 5;

async function login({ json, level, browser, ...options }: LoginOptions): Promise<void> {
  const given = givenIn(options);
  // A file that is not valid is replaced.
  const stored = given.url === undefined ? await readStoredServer().catch(() => null) : null;
  const url = serverUrl(given.url ?? stored?.url ?? DEFAULT_URL);
  const device = await startDevice(url, level);
  process.stderr.write(
    `Open this page, check that it shows the code, and choose what the command line may do:\n  ${oneLine(device.verification_uri_complete)}\n  Code: ${oneLine(device.user_code)}\n`,
  );
  if (browser && process.stderr.isTTY) openBrowser(device.verification_uri_complete);
  const { tokens, level: allowed } = await awaitDecision(url, device);
  const file = await storeServer({ url, tokens });
  const identity = await whoAmI(openServer(url, tokens.access));
  if (json === true) return printJson({ url, file, level: allowed, ...identity });
  print(`Signed in to ${url} as ${identity.account?.email ?? 'a member'}: ${rightsInWords(identity)}.`);
  print(`The access is stored in ${file}, which only you can read. End it with: postroom logout`);
  hint('Next: postroom inbox');
}

async function startDevice(url: string, level: string): Promise<Device> {
  const { status, body } = await postForm(url, '/oauth/device_authorization', { scope: level });
  const device = deviceBody.safeParse(body);
  if (status === 200 && device.success) return device.data;
  throw new CommandError(`${url} does not offer a sign-in for the command line (status ${status}).`, {
    exitCode: status === 429 ? EXIT.unavailable : EXIT.failure,
    next: 'Check the URL: --url or POSTROOM_URL. With an API key, run postroom init instead.',
  });
}

/** Asks the server until the person has decided. */
async function awaitDecision(url: string, device: Device): Promise<{ tokens: StoredTokens; level: string }> {
  let seconds = device.interval;
  const until = Date.now() + device.expires_in * 1_000;
  while (Date.now() < until) {
    await sleep(seconds * 1_000);
    const reply = await requestTokens(url, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device.device_code,
    });
    if (reply.tokens !== null) return reply;
    if (reply.error === 'slow_down') seconds += SLOWER_SECONDS;
    else if (reply.error !== 'authorization_pending')
      throw new CommandError(`${reply.description}.`.replace('..', '.'), { exitCode: EXIT.auth });
  }
  throw new CommandError('The code has expired.', { exitCode: EXIT.timeout, next: 'Run postroom login again.' });
}

/** Opens a page without a shell, which would read the characters of the URL. Where that fails, the link is on the terminal. */
function openBrowser(page: string): void {
  const [program, ...words] =
    process.platform === 'darwin'
      ? ['open', page]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', page]
        : ['xdg-open', page];
  const child = spawn(program, words, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

async function logout({ json }: { json?: true }): Promise<void> {
  const stored = await readStoredServer();
  if (stored === null) throw new CommandError('You are not signed in.', { exitCode: EXIT.auth });
  if ('tokens' in stored) {
    const { status } = await postForm(stored.url, '/oauth/revoke', { token: stored.tokens.refresh });
    if (status !== 200)
      throw new CommandError(`${stored.url} did not end the access (status ${status}).`, {
        exitCode: EXIT.unavailable,
        next: 'Try again, or end it in the dashboard: Settings, Security.',
      });
  }
  await forgetServer();
  const isEnded = 'tokens' in stored;
  if (json === true) return printJson({ url: stored.url, access_ended: isEnded });
  print(
    isEnded
      ? `The access to ${stored.url} has ended.`
      : `The API key for ${stored.url} was removed from this machine. It still works: revoke it in the dashboard.`,
  );
}
