import type { Origin } from '../../../core/accounts/audit.ts';
import type { Database } from '../../connection/database.ts';
import { inTransaction, ORIGIN_SETTING } from '../../connection/transaction.ts';

/** The second factor of a person. */
export interface SecondFactorRow {
  /** of the authenticator app; see core/shared/secret-box.ts */
  secretCiphertext: string;
  /** null: it is being set up */
  confirmedAt: Date | null;
}

/** Returns the authenticator app of a person; null without one. Role postroom_auth, as below. */
export async function findSecondFactor(database: Database, personId: string): Promise<SecondFactorRow | null> {
  const { rows } = await database.pool.query<SecondFactorRow>(
    'select secret_ciphertext as "secretCiphertext", confirmed_at as "confirmedAt" from auth_totp where person_id = $1',
    [personId],
  );
  return rows[0] ?? null;
}

/** Returns how many recovery codes a person has left. */
export async function countRecoveryCodes(database: Database, personId: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'select count(*)::integer as count from auth_recovery_code where person_id = $1',
    [personId],
  );
  return rows[0]?.count ?? 0;
}

/** Begins to set an authenticator app up. Returns false when the person has one. */
export async function beginSecondFactor(
  database: Database,
  personId: string,
  secretCiphertext: string,
): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    `insert into auth_totp as t (person_id, secret_ciphertext) values ($1, $2)
     on conflict (person_id) do update set secret_ciphertext = $2, last_step = 0, created_at = now() where t.confirmed_at is null`,
    [personId, secretCiphertext],
  );
  return rowCount === 1;
}

/**
 * Turns the second factor of a person on, ends all other sessions of the person, and counts this one as signed in by it. Returns false when it
 * is on already, or the secret was replaced meanwhile.
 */
export function turnOnSecondFactor(
  database: Database,
  personId: string,
  {
    sessionId,
    secretCiphertext,
    step,
    codes,
    now,
  }: { sessionId: string; secretCiphertext: string; step: number; codes: readonly Buffer[]; now: Date },
): Promise<boolean> {
  return inTransaction(database, async (client) => {
    const { rowCount } = await client.query(
      'update auth_totp set confirmed_at = $4, last_step = $3 where person_id = $1 and secret_ciphertext = $2 and confirmed_at is null',
      [personId, secretCiphertext, step, now],
    );
    if (rowCount !== 1) return false;
    await client.query('delete from auth_recovery_code where person_id = $1', [personId]);
    await client.query('insert into auth_recovery_code (person_id, code_sha256) select $1, unnest($2::bytea[])', [
      personId,
      codes,
    ]);
    await client.query('delete from auth_session where person_id = $1 and id <> $2', [personId, sessionId]);
    await client.query('update auth_session set second_factor_at = $2, confirmed_at = $2 where id = $1', [
      sessionId,
      now,
    ]);
    return true;
  });
}

/** Replaces the recovery codes of a person with a second factor. Returns false without one. */
export function replaceRecoveryCodes(database: Database, personId: string, codes: readonly Buffer[]): Promise<boolean> {
  return inTransaction(database, async (client) => {
    const { rowCount } = await client.query(
      'select from auth_totp where person_id = $1 and confirmed_at is not null for update',
      [personId],
    );
    if (rowCount !== 1) return false;
    await client.query('delete from auth_recovery_code where person_id = $1', [personId]);
    await client.query('insert into auth_recovery_code (person_id, code_sha256) select $1, unnest($2::bytea[])', [
      personId,
      codes,
    ]);
    return true;
  });
}

/** Takes a step of an authenticator app, so that its code counts once. Returns false when it, or a later one, was used. */
export async function takeTotpStep(database: Database, personId: string, step: number): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    'update auth_totp set last_step = $2 where person_id = $1 and confirmed_at is not null and last_step < $2',
    [personId, step],
  );
  return rowCount === 1;
}

/** Takes a recovery code, so that it counts once. Returns false when there is none. */
export async function takeRecoveryCode(database: Database, personId: string, code: Buffer): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    'delete from auth_recovery_code where person_id = $1 and code_sha256 = $2',
    [personId, code],
  );
  return rowCount === 1;
}

/** Notes that the person of a session has shown the second factor. */
export async function passSecondFactor(database: Database, sessionId: string, now: Date): Promise<void> {
  await database.pool.query('update auth_session set second_factor_at = $2, confirmed_at = $2 where id = $1', [
    sessionId,
    now,
  ]);
}

/**
 * Removes the second factor of a person. Sessions by password or link no longer count as signed in by one. Sessions that wait for it end,
 * because they would open without it.
 */
export function removeSecondFactor(database: Database, personId: string): Promise<boolean> {
  return inTransaction(database, async (client) => {
    const { rows } = await client.query<{ was_on: boolean }>(
      'delete from auth_totp where person_id = $1 returning confirmed_at is not null as was_on',
      [personId],
    );
    if (rows[0]?.was_on === true)
      await client.query('delete from auth_session where person_id = $1 and second_factor_at is null', [personId]);
    await client.query('delete from auth_recovery_code where person_id = $1', [personId]);
    await client.query(
      `update auth_session set second_factor_at = null where person_id = $1 and method in ('password', 'link')`,
      [personId],
    );
    return rows.length === 1;
  });
}

/** Returns whether the members of a workspace need a second factor. */
export async function isSecondFactorRequired(database: Database, workspaceId: string): Promise<boolean> {
  const { rows } = await database.pool.query<{ required: boolean | null }>(
    'select requires_second_factor($1) as required',
    [workspaceId],
  );
  return rows[0]?.required === true;
}

/** Makes a second factor necessary for the members of a workspace, or not. */
export function requireSecondFactor(
  database: Database,
  workspaceId: string,
  isRequired: boolean,
  origin: Origin,
): Promise<void> {
  return inTransaction(database, async (client) => {
    await client.query('select set_config($1, $2, true)', [ORIGIN_SETTING, JSON.stringify(origin)]);
    await client.query('select require_second_factor($1, $2)', [workspaceId, isRequired]);
  });
}

/**
 * Removes the authenticator app and recovery codes of the person with that address (in lower case), and all sessions. `none`: the person has no
 * second factor, and nothing changes. The pool must be of the URL's own role.
 */
export function resetSecondFactor(database: Database, email: string): Promise<'reset' | 'none' | 'no account'> {
  return inTransaction(database, async (client) => {
    const found = await client.query<{ id: string }>(
      'select id from person where email = $1 and erase_at is null for update',
      [email],
    );
    const id = found.rows[0]?.id;
    if (id === undefined) return 'no account';
    const removed = await client.query('delete from auth_totp where person_id = $1', [id]);
    if (removed.rowCount === 0) return 'none';
    await client.query('delete from auth_recovery_code where person_id = $1', [id]);
    await client.query('delete from auth_session where person_id = $1', [id]);
    return 'reset';
  });
}

/** Returns whether a second factor was shown in a session. */
export async function hasShownSecondFactor(database: Database, sessionId: string): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    'select from auth_session where id = $1 and second_factor_at is not null',
    [sessionId],
  );
  return rowCount === 1;
}

/** The address of a person who is not being erased. */
export async function findPersonName(
  database: Database,
  personId: string,
): Promise<{ id: string; email: string; name: string; createdAt: Date } | null> {
  const { rows } = await database.pool.query<{ id: string; email: string; name: string; createdAt: Date }>(
    'select id, email, name, created_at as "createdAt" from person where id = $1 and erase_at is null',
    [personId],
  );
  return rows[0] ?? null;
}
