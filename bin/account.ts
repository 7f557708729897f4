import { z } from 'zod';
import { signInLinkUrl } from '../core/accounts/auth-secret.ts';
import { newPasswordFault } from '../core/accounts/password.ts';
import { checkRetention, MAX_RETENTION_DAYS, type Retention } from '../core/upkeep/retention.ts';
import type { Database } from '../db/connection/database.ts';
import { openEntityStore } from '../db/entities/store.ts';
import { createAccount, findAccount, type NewAccount } from '../db/queries/accounts/account.ts';
import { resetSecondFactor } from '../db/queries/accounts/second-factor.ts';
import { makeSignInLink } from '../db/queries/accounts/sign-in-link.ts';
import { readRetention, writeRetention } from '../db/queries/upkeep/retention.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { eraseAccount } from './runner/erase-account.ts';
import { exportToDirectory } from './runner/export-account.ts';
import { asOwner, onDatabase, type ReachedDatabase } from './runner/reach-database.ts';

const emailShape = z.email('EMAIL must be an email address such as you@example.com').max(254).toLowerCase();

/** Options of each command. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  create: ['password', 'key'],
  'sign-in-link': [],
  'reset-second-factor': [],
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
       npx node bin/account.ts reset-second-factor EMAIL
       npx node bin/account.ts retention EMAIL [--raw-days N] [--body-days N] [--metadata-days N] [--default]
       npx node bin/account.ts export EMAIL DIRECTORY [--with-secrets]
       npx node bin/account.ts erase EMAIL --yes

create creates a person with a workspace, and prints JSON {"userId","email","apiKey"}. userId is the ID
of the workspace. The key is shown only once. The person can invite others to the workspace.
sign-in-link prints a link that signs the person in to the dashboard once, within 24 hours.
reset-second-factor removes the authenticator app and the recovery codes of a person who lost them,
ends all sessions of the person, and writes it to the audit log. Make sure who asks for it.
retention, export and erase are for the workspace that the person owns.
retention prints how long its mail is kept. With an option it sets all three values:
omitted values mean no limit. Older mail is permanently removed within the hour.
export writes all its data to a directory, which must be empty or not exist.
erase closes the workspace and permanently removes all its data. Members of no other workspace are
erased with it. If it is interrupted, run it again.

  --password P   password for the dashboard, 10 to 128 characters
  --key K        API key, 32 to 128 characters of A-Z a-z 0-9 _ -. With a key the command can be
                 repeated: it adds the key to the account if needed
  --raw-days N   raw messages and attachments, 1 to 36500 days, or "ever"; at most --body-days
  --body-days N  texts and their search index; at most --metadata-days
  --metadata-days N   all other data of an email
  --default      use the service defaults (RETENTION_RAW_DAYS and so on)
  --with-secrets include webhook secrets and private DKIM keys, unencrypted
  --yes          skip the confirmation

The commands work whether or not the service runs. They use the database of DATABASE_URL,
or else of DATA_DIR (default ./data). Links start with PUBLIC_URL.`,
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

/** Runs a command on the database and returns the line to print. */
type Work = (database: Database, reached: ReachedDatabase, begin: () => void) => Promise<string>;

function create(account: NewAccount): Work {
  return async (database) => {
    const created = await createAccount(database, account);
    switch (created.outcome) {
      case 'created':
      case 'kept':
        return JSON.stringify({ userId: created.workspaceId, email: account.email, apiKey: created.apiKey });
      case 'email taken':
        throw new Error(`${account.email} already has an account. Use --key to add another key`);
      case 'no workspace':
        throw new Error(ownsNone(account.email));
      case 'key taken':
      case 'domain taken':
        throw new Error('That key belongs to another account or was revoked');
    }
  };
}

function linkFor(email: string): Work {
  return async (database) => {
    const token = await makeSignInLink(database, email);
    if (token === null)
      throw new Error(`Account ${email} does not exist. Create it with npx node bin/account.ts create`);
    return signInLinkUrl(config.publicUrl, token);
  };
}

function planReset(email: string): Work {
  return async (database) => {
    const outcome = await resetSecondFactor(database, email);
    if (outcome === 'no account')
      throw new Error(`Account ${email} does not exist. Create it with npx node bin/account.ts create`);
    if (outcome === 'none') throw new Error(`${email} has no second factor`);
    return JSON.stringify({ email, secondFactor: 'removed', sessions: 'ended' });
  };
}

function ownsNone(email: string): string {
  return `${email} owns no workspace. Name its owner`;
}

async function requireWorkspaceId(database: Database, email: string): Promise<string> {
  const found = await findAccount(database.pool, email);
  if (found === null) throw new Error(`Account ${email} does not exist. Create it with npx node bin/account.ts create`);
  if (found.workspaceId === null) throw new Error(ownsNone(email));
  return found.workspaceId;
}

function toRetention(email: string, chosen: Retention | 'default' | null): Work {
  return async (database) => {
    const workspaceId = await requireWorkspaceId(database, email);
    if (chosen !== null) {
      const retention = chosen === 'default' ? null : chosen;
      await openEntityStore(database).asWorkspace(workspaceId, (unit) =>
        writeRetention(unit, workspaceId, retention, new Date()),
      );
    }
    const own = await readRetention(database.kysely, workspaceId);
    return JSON.stringify({ email, ...(own ?? config.retention), isDefault: own === null });
  };
}

function planExport(email: string, directory: string): Work {
  return async (database, { secretKey }, begin) => {
    const workspaceId = await requireWorkspaceId(database, email);
    begin();
    const isWithSecrets = options['with-secrets'] !== undefined;
    const counts = await exportToDirectory(database, {
      workspaceId,
      directory,
      secretKey: isWithSecrets ? secretKey : null,
    });
    return JSON.stringify({ email, directory, ...counts });
  };
}

function planErasure(email: string): Work {
  return async (database, { isServed }) => {
    const workspaceId = await requireWorkspaceId(database, email);
    const rows = await eraseAccount(database, { workspaceId, email, isServed: isServed !== false });
    return JSON.stringify({ email, erasedRows: rows });
  };
}

function readCommand(): Work {
  const [command = '', given, directory] = words;
  const known = COMMANDS[command];
  if (known === undefined) return refuseUsage(`Unknown command '${command}'`);
  const unfit = Object.keys(options).find((name) => !known.includes(name));
  if (unfit !== undefined) return refuseUsage(`--${unfit} does not apply to ${command}`);
  if (directory !== undefined && command !== 'export') return refuseUsage(`Unexpected argument '${directory}'`);
  if (command === 'create') return create(readAccount());
  const email = emailShape.safeParse(given);
  if (!email.success) return refuseUsage(email.error.issues[0]?.message ?? '');
  if (command === 'sign-in-link') return linkFor(email.data);
  if (command === 'reset-second-factor') return planReset(email.data);
  if (command === 'retention') return toRetention(email.data, readChoice());
  if (command === 'export')
    return directory === undefined ? refuseUsage('DIRECTORY is missing') : planExport(email.data, directory);
  return options['yes'] === undefined
    ? refuseUsage('erase permanently removes all data and requires --yes')
    : planErasure(email.data);
}

function readChoice(): Retention | 'default' | null {
  const isDefault = options['default'] !== undefined;
  if (isDefault && Object.keys(options).length > 1) return refuseUsage('--default excludes all other options');
  if (isDefault) return 'default';
  if (Object.keys(options).length === 0) return null;
  const choice = {
    rawDays: parseDays('raw-days'),
    bodyDays: parseDays('body-days'),
    metadataDays: parseDays('metadata-days'),
  };
  const fault = checkRetention(choice);
  return fault === null ? choice : refuseUsage(fault);
}

function parseDays(name: string): number | null {
  const given = options[name];
  if (given === undefined || given === 'ever') return null;
  const days = /^\d{1,5}$/.test(given) ? Number(given) : 0;
  return days >= 1 && days <= MAX_RETENTION_DAYS
    ? days
    : refuseUsage(`--${name} must be 1 to ${MAX_RETENTION_DAYS} days, or "ever"`);
}

function readAccount(): NewAccount {
  const [, email] = words;
  const shape = z.object({
    email: emailShape,
    password: z
      .string()
      .superRefine((text, context) => {
        const fault = newPasswordFault(text);
        if (fault !== null) context.addIssue({ code: 'custom', message: `--password ${fault}` });
      })
      .optional(),
    key: z
      .string()
      .regex(/^[A-Za-z0-9_-]{32,128}$/, '--key must have 32 to 128 characters of A-Z a-z 0-9 _ -')
      .optional(),
  });
  const parsed = shape.safeParse({ email, password: options['password'], key: options['key'] });
  if (!parsed.success) return refuseUsage(parsed.error.issues.map((issue) => issue.message).join('; '));
  const { data } = parsed;
  return { email: data.email, password: data.password ?? null, apiKey: data.key ?? null, mailbox: null };
}
