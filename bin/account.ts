import { z } from 'zod';
import { signInLinkUrl } from '../core/auth-secret.ts';
import type { Database } from '../db/database.ts';
import { createAccount, type NewAccount } from '../db/queries/account.ts';
import { makeSignInLink } from '../db/queries/sign-in-link.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { asOwner, onDatabase } from './runner/on-database.ts';

const emailShape = z.email('EMAIL must be an address such as you@example.com').max(254).toLowerCase();

const { words, options } = readArguments({
  words: 2,
  options: { password: { type: 'string' }, key: { type: 'string' } },
  usage: `Usage: npx node bin/account.ts create EMAIL [--password P] [--key K]
       npx node bin/account.ts sign-in-link EMAIL

create makes an account and prints JSON {"userId","email","apiKey"}. The key is shown this once.
sign-in-link prints a link that signs that account in to the dashboard once, within 24 hours.

  --password P   for signing in, 8 to 128 characters
  --key K        the API key to give it, 32 to 128 characters of A-Z a-z 0-9 _ -; then the
                 command may be repeated: the account answers to that key afterwards

Both work beside a running service and without one. They find the database by DATABASE_URL,
else by DATA_DIR (default ./data); links begin with PUBLIC_URL.`,
});

const work = readCommand();
const config = readConfigOrRefuse();

try {
  const line = await onDatabase(config, 'account', ({ url }) => asOwner(url, 'account', work));
  process.stdout.write(`${line}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}

/** What a command does on the database, and the line that it prints. */
type Work = (database: Database) => Promise<string>;

function create(account: NewAccount): Work {
  return async (database) => {
    const created = await createAccount(database, account);
    switch (created.outcome) {
      case 'created':
      case 'kept':
        return JSON.stringify({ userId: created.userId, email: account.email, apiKey: created.apiKey });
      case 'email taken':
        throw new Error(`${account.email} has an account already; --key gives it another key`);
      case 'key taken':
      case 'domain taken':
        throw new Error('That key belongs to another account or was revoked');
    }
  };
}

function linkFor(email: string): Work {
  return async (database) => {
    const token = await makeSignInLink(database, email);
    if (token === null) throw new Error(`There is no account ${email}; npx node bin/account.ts create makes it`);
    return signInLinkUrl(config.publicUrl, token);
  };
}

function readCommand(): Work {
  const [command] = words;
  if (command === 'create') return create(readAccount());
  if (command !== 'sign-in-link') return refuseUsage(`Unknown command '${command}'`);
  const unfit = Object.keys(options)[0];
  if (unfit !== undefined) return refuseUsage(`--${unfit} is for create`);
  const email = emailShape.safeParse(words[1]);
  return email.success ? linkFor(email.data) : refuseUsage(email.error.issues[0]?.message ?? '');
}

function readAccount(): NewAccount {
  const [, email] = words;
  const shape = z.object({
    email: emailShape,
    password: z
      .string()
      .min(8, '--password needs 8 characters or more')
      .max(128, '--password takes 128 characters at most')
      .optional(),
    key: z
      .string()
      .regex(/^[A-Za-z0-9_-]{32,128}$/, '--key takes 32 to 128 characters of A-Z a-z 0-9 _ -')
      .optional(),
  });
  const parsed = shape.safeParse({ email, password: options['password'], key: options['key'] });
  if (!parsed.success) return refuseUsage(parsed.error.issues.map((issue) => issue.message).join('; '));
  const { data } = parsed;
  return { email: data.email, password: data.password ?? null, apiKey: data.key ?? null, mailbox: null };
}
