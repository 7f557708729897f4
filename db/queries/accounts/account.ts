import { createHash, randomBytes } from 'node:crypto';
import { hashPassword } from '@better-auth/utils/password';
import type pg from 'pg';
import { keyHint } from '../../../core/accounts/key-hint.ts';
import type { DkimKey } from '../../../core/domains/dkim-key.ts';
import { IDENTIFIER_RANDOM_BYTES, makeIdentifier } from '../../../core/shared/identifiers.ts';
import { type Database } from '../../connection/database.ts';
import { inTransaction } from '../../connection/transaction.ts';

export interface NewAccount {
  /** lower case */
  email: string;
  password: string | null;
  /** the API key that the account gets; null generates one */
  apiKey: string | null;
  /** a trusted domain, verified at once, and addresses on it, in lower case, the oldest first; null for none */
  mailbox: { domain: string; addresses: string[]; dkimKey: DkimKey } | null;
}

export type CreatedAccount =
  | { outcome: 'created' | 'kept'; workspaceId: string; apiKey: string }
  /** the address has an account already, and no key was given that it could get */
  | { outcome: 'email taken' }
  /** the key belongs to another account, or was revoked */
  | { outcome: 'key taken' }
  /** the person owns no workspace that the key could be of */
  | { outcome: 'no workspace' }
  /** another account has the domain */
  | { outcome: 'domain taken' };

/** Whether an account has the address, which is in lower case. The pool must be of the URL's own role. */
export async function hasAccount(database: Database, email: string): Promise<boolean> {
  const { rowCount } = await database.pool.query(`select from person where email = $1`, [email]);
  return rowCount === 1;
}

/** Returns whether there is any account. The pool must be of the URL's own role. */
export async function hasAnyAccount(database: Database): Promise<boolean> {
  const { rowCount } = await database.pool.query('select from person limit 1');
  return rowCount === 1;
}

/** A person with an address. */
export interface FoundAccount {
  personId: string;
  /** the workspace that the person owns, the first one if there are several; null: the person owns none */
  workspaceId: string | null;
}

/** Returns the person with that address, which is in lower case; null when there is none. A closed person has the workspace of the same ID. */
export async function findAccount(client: Pick<pg.ClientBase, 'query'>, email: string): Promise<FoundAccount | null> {
  const { rows } = await client.query<FoundAccount>(
    `select u.id as "personId", coalesce((
       select m.workspace_id from workspace_member m where m.person_id = u.id and m.role = 'owner'
       order by m.workspace_id = u.id desc, m.joined_at limit 1), case when u.erase_at is not null then u.id end) as "workspaceId"
     from person u where u.email = $1`,
    [email],
  );
  return rows[0] ?? null;
}

/**
 * Creates an account and its API key. With a key chosen by the caller it may be repeated: the account then gets that key (and the password,
 * if one is given). The pool must be of the URL's own role. Only the SHA-256 of a key is stored.
 */
export async function createAccount(database: Database, account: NewAccount): Promise<CreatedAccount> {
  const passwordHash = account.password === null ? null : await hashPassword(account.password);
  try {
    return await inTransaction(database, async (client): Promise<CreatedAccount> => {
      const made = await client.query<{ id: string }>(
        // The operator vouches for the address.
        `insert into person (id, email, name, email_verified) values ($1, $2, $3, true) on conflict (email) do nothing returning id`,
        [identifier('user'), account.email, account.email.split('@', 1)[0]],
      );
      if (made.rowCount === 0 && account.apiKey === null) throw new Taken('email taken');
      const found = await findAccount(client, account.email);
      if (found === null) throw new Error('the account went away while a key was made for it');
      const { personId, workspaceId } = found;
      if (passwordHash !== null) await setPassword(client, personId, passwordHash);
      if (workspaceId === null) throw new Taken('no workspace');
      const apiKey = account.apiKey ?? randomBytes(32).toString('base64url');
      await addKey(client, workspaceId, apiKey);
      if (account.mailbox !== null) await addMailbox(client, workspaceId, account.mailbox);
      return { outcome: made.rowCount === 0 ? 'kept' : 'created', workspaceId, apiKey };
    });
  } catch (error) {
    if (error instanceof Taken) return { outcome: error.what };
    throw error;
  }
}

/** Rolls the transaction back; createAccount turns it into an outcome. */
class Taken extends Error {
  readonly what: Exclude<CreatedAccount['outcome'], 'created' | 'kept'>;
  constructor(what: Taken['what']) {
    super(what);
    this.what = what;
  }
}

async function addMailbox(
  client: pg.PoolClient,
  workspaceId: string,
  { domain, addresses, dkimKey }: NonNullable<NewAccount['mailbox']>,
): Promise<void> {
  const domainId = identifier('domain');
  const claimed = await client.query(
    `insert into verified_domain_name (name, workspace_id, domain_id) values ($1, $2, $3) on conflict do nothing`,
    [domain, workspaceId, domainId],
  );
  if (claimed.rowCount === 0) throw new Taken('domain taken');
  // Its name would be the local part of the person's address, and "owner" reads as a role.
  await client.query('update workspace set name = $2 where id = $1', [workspaceId, domain]);
  await client.query(
    `insert into domain (workspace_id, id, name, status, is_trusted, verified_at) values ($1, $2, $3, 'verified', true, now())`,
    [workspaceId, domainId, domain],
  );
  await client.query(
    `insert into dkim_key (workspace_id, domain_id, selector, private_key_ciphertext, public_key) values ($1, $2, $3, $4, $5)`,
    [workspaceId, domainId, dkimKey.selector, dkimKey.privateKeyCiphertext, dkimKey.publicKey],
  );
  for (const [at, address] of addresses.entries()) {
    const addressId = identifier('emailAddress');
    await client.query(
      `insert into email_address (workspace_id, id, domain_id, address, created_at) values ($1, $2, $3, $4, now() + $5 * interval '1 ms')`,
      [workspaceId, addressId, domainId, address, at],
    );
    await client.query(`insert into email_address_name (address, workspace_id, address_id) values ($1, $2, $3)`, [
      address,
      workspaceId,
      addressId,
    ]);
  }
}

/** In the form in which better-auth stores it and checks it at sign-in. */
async function setPassword(client: pg.PoolClient, personId: string, passwordHash: string): Promise<void> {
  await client.query(
    `insert into auth_credential (id, person_id, account_id, provider_id, password) values ($1, $2, $2, 'credential', $3)
     on conflict (person_id, provider_id) do update set password = excluded.password, updated_at = now()`,
    [identifier('credential'), personId, passwordHash],
  );
  // Ends sessions that signed in with the previous password.
  await client.query(`delete from auth_session where person_id = $1`, [personId]);
}

async function addKey(client: pg.PoolClient, workspaceId: string, apiKey: string): Promise<void> {
  const secret = createHash('sha256').update(apiKey).digest();
  await client.query(
    `insert into api_key (id, workspace_id, name, secret_sha256, secret_hint) values ($1, $2, 'first key', $3, $4)
     on conflict (secret_sha256) do nothing`,
    [identifier('apiKey'), workspaceId, secret, keyHint(apiKey)],
  );
  const { rowCount } = await client.query(
    `select from api_key where secret_sha256 = $1 and workspace_id = $2 and revoked_at is null`,
    [secret, workspaceId],
  );
  if (rowCount === 0) throw new Taken('key taken');
}

function identifier(kind: 'user' | 'credential' | 'apiKey' | 'domain' | 'emailAddress'): string {
  return makeIdentifier(kind, new Date(), randomBytes(IDENTIFIER_RANDOM_BYTES));
}
