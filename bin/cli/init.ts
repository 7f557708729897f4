import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import { CommandError, EXIT } from './command-error.ts';
import { readStoredServer, storeServer } from './config-file.ts';
import { addServerOptions, DEFAULT_URL, givenIn, openServer, type ServerOptions, serverUrl } from './connect.ts';
import { addJsonOption, hint, print, printJson } from './output.ts';
import { rightsInWords, whoAmI } from './who-am-i.ts';

export function addInitCommand(program: Command): void {
  const command = program
    .command('init')
    .description('Stores the server and the API key that the other commands use, after it has checked them.');
  addJsonOption(addServerOptions(command))
    .addHelpText(
      'after',
      `
Asks for what is not given. Without a terminal it reads the key from stdin.

Examples:
  $ postroom init
  $ postroom init --url https://mail.example.com < key.txt`,
    )
    .action(init);
}

async function init({ json, ...options }: ServerOptions & { json?: true }): Promise<void> {
  const given = givenIn(options);
  const isAsking = process.stdin.isTTY;
  // A file that is not valid is replaced.
  const stored = given.url === undefined ? await readStoredServer().catch(() => null) : null;
  const proposed = stored?.url ?? DEFAULT_URL;
  const url = serverUrl(given.url ?? ((isAsking && (await ask(`Server (${proposed}): `))) || proposed));
  const key = given.key ?? (isAsking ? await askSecretly('API key: ') : (await readText(process.stdin)).trim());
  if (key === '')
    throw new CommandError('There is no API key.', {
      exitCode: EXIT.usage,
      next: 'The first start of Postroom prints one. The dashboard creates others: Settings, API keys.',
    });
  const identity = await whoAmI(openServer(url, key));
  const file = await storeServer({ url, key });
  if (json === true) return printJson({ url, file, ...identity });
  print(
    `Signed in to ${url} (Postroom ${identity.server.version}) as ${identity.account?.email ?? 'a key without read'}.`,
  );
  print(`The key has ${rightsInWords(identity)}. It is stored in ${file}, which only you can read.`);
  hint('Next: postroom inbox');
}

/** Asks on stderr, so that stdout has only the result. */
async function ask(question: string): Promise<string> {
  return readLine(createInterface({ input: process.stdin, output: process.stderr }), question);
}

/** Asks without showing what is typed. */
async function askSecretly(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await readLine(createInterface({ input: process.stdin, output: nowhere, terminal: true }), '');
  } finally {
    process.stderr.write('\n');
  }
}

async function readLine(asking: Interface, question: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  asking.once('close', () => reject(new CommandError('Nothing was stored.')));
  asking.question(question).then(resolve, reject);
  try {
    return (await promise).trim();
  } finally {
    asking.close();
  }
}
