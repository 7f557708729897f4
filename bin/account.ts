import { z } from 'zod';
import { signInLinkUrl } from '../core/accounts/auth-secret.ts';
import { faultOfRetention, MOST_RETENTION_DAYS, type Retention } from '../core/upkeep/retention.ts';
import type { Database } from '../db/connection/database.ts';
import { createAccount, findAccountId, type NewAccount } from '../db/queries/accounts/account.ts';
import { makeSignInLink } from '../db/queries/accounts/sign-in-link.ts';
import { readRetention, writeRetention } from '../db/queries/upkeep/retention.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { eraseAccount } from './runner/erase-account.ts';
import { exportAccount } from './runner/export-account.ts';
import { asOwner, onDatabase, type ReachedDatabase } from './runner/on-database.ts';

const emailShape = z.email('EMAIL must be an address such as you@example.com').max(254).toLowerCase();

/** The options of each command. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  create: ['password', 'key'],
  'sign-in-link': [],
  retention: ['raw-days', 'body-days', 'metadata-days', 'default'],
  export: ['with-secrets'],
  erase: ['yes'],
};

const { words, options } = readArguments({
  words: 3,
  optionalWords: 1,
  options: {
    password: { type: 'string' },
    key: { type: 'string' },
    'raw-days': { type: 'string' },
    'body-days': { type: 'string' },
    'metadata-days': { type: 'string' },
    default: { type: 'boolean' },
    'with-secrets': { type: 'boolean' },
    yes: { type: 'boolean' },
  },
  usage: `Usage: npx node bin/account.ts create EMAIL [--password P] [--key K]
       npx node bin/account.ts sign-in-link EMAIL
       npx node bin/account.ts retention EMAIL [--raw-days N] [--body-days N] [--metadata-days N] [--default]
       npx node bin/account.ts export EMAIL DIRECTORY [--with-secrets]
       npx node bin/account.ts erase EMAIL --yes

create makes an account and prints JSON {"userId","email","apiKey"}. The key is shown this once.
sign-in-link prints a link that signs that account in to the dashboard once, within 24 hours.
retention says how long mail of the account is kept, and with an option changes all three at once:
what is left out is kept for ever. Older mail is removed, within the hour and for good.
export writes everything that the account has into a directory, which must be empty or absent.
erase closes the account and removes everything that it has, for good. Cut, it may be repeated.

  --password P   for signing in, 8 to 128 characters
  --key K        the API key to give it, 32 to 128 characters of A-Z a-z 0-9 _ -; then the
                 command may be repeated: the account answers to that key afterwards
  --raw-days N   raw messages and attachments, 1 to 36500 days, or "ever"; not longer than bodies
  --body-days N  texts, and what searches find in them; not longer than metadata
  --metadata-days N   all that is known of a mail
  --default      no choice of its own any more: RETENTION_RAW_DAYS and so on hold for it
  --with-secrets secrets of webhooks and private keys of domains, too, in clear
  --yes          it is meant

All work beside a running service and without one. They find the database by DATABASE_URL,
else by DATA_DIR (default ./data); links begin with PUBLIC_URL.`,
});

const work = readCommand();
const config = readConfigOrRefuse();

try {
  const line = await onDatabase(config, 'account', (reached, begin) =>
    asOwner(reached.url, 'account', (database) => work(database, reached, begin), 'unlimited'),
  );
  process.stdout.write(`${line}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}

/** What a command does on the database, and the line that it prints. */
type Work = (database: Database, reached: ReachedDatabase, begin: () => void) => Promise<string>;

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

async function accountOf(database: Database, email: string): Promise<string> {
  const userId = await findAccountId(database, email);
  if (userId === null) throw new Error(`There is no account ${email}; npx node bin/account.ts create makes it`);
  return userId;
}

function retentionOf(email: string, chosen: Retention | 'default' | null): Work {
  return async (database) => {
    const userId = await accountOf(database, email);
    if (chosen !== null) await writeRetention(database.kysely, userId, chosen === 'default' ? null : chosen);
    const own = await readRetention(database.kysely, userId);
    return JSON.stringify({ email, ...(own ?? config.retention), isDefault: own === null });
  };
}

function exportOf(email: string, directory: string): Work {
  return async (database, { secretKey }, begin) => {
    const userId = await accountOf(database, email);
    begin();
    const isWithSecrets = options['with-secrets'] !== undefined;
    const counts = await exportAccount(database, { userId, directory, secretKey: isWithSecrets ? secretKey : null });
    return JSON.stringify({ email, directory, ...counts });
  };
}

function erasureOf(email: string): Work {
  return async (database, { isServed }) => {
    const userId = await accountOf(database, email);
    const rows = await eraseAccount(database, { userId, email, isServed: isServed !== false });
    return JSON.stringify({ email, erasedRows: rows });
  };
}

function readCommand(): Work {
  const [command = '', given, directory] = words;
  const known = COMMANDS[command];
  if (known === undefined) return refuseUsage(`Unknown command '${command}'`);
  const unfit = Object.keys(options).find((name) => !known.includes(name));
  if (unfit !== undefined) return refuseUsage(`--${unfit} is not for ${command}`);
  if (directory !== undefined && command !== 'export') return refuseUsage(`Unexpected argument '${directory}'`);
  if (command === 'create') return create(readAccount());
  const email = emailShape.safeParse(given);
  if (!email.success) return refuseUsage(email.error.issues[0]?.message ?? '');
  if (command === 'sign-in-link') return linkFor(email.data);
  if (command === 'retention') return retentionOf(email.data, readChoice());
  if (command === 'export')
    return directory === undefined ? refuseUsage('DIRECTORY is missing') : exportOf(email.data, directory);
  return options['yes'] === undefined
    ? refuseUsage('erase removes everything for good, and takes --yes')
    : erasureOf(email.data);
}

function readChoice(): Retention | 'default' | null {
  const isDefault = options['default'] !== undefined;
  if (isDefault && Object.keys(options).length > 1) return refuseUsage('--default stands alone');
  if (isDefault) return 'default';
  if (Object.keys(options).length === 0) return null;
  const choice = { rawDays: daysOf('raw-days'), bodyDays: daysOf('body-days'), metadataDays: daysOf('metadata-days') };
  const fault = faultOfRetention(choice);
  return fault === null ? choice : refuseUsage(fault);
}

function daysOf(name: string): number | null {
  const given = options[name];
  if (given === undefined || given === 'ever') return null;
  const days = /^\d{1,5}$/.test(given) ? Number(given) : 0;
  return days >= 1 && days <= MOST_RETENTION_DAYS
    ? days
    : refuseUsage(`--${name} takes 1 to ${MOST_RETENTION_DAYS} days, or "ever"`);
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
