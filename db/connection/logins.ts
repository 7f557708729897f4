import { createHash, createHmac, hkdfSync, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { acceptedKeys, withoutPreviousKey } from '../../core/shared/previous-key.ts';
import { isChangedMeanwhile, isForbidden } from '../errors.ts';
import { forgetPreviousPasswords, keepPreviousPassword, WRONG_PASSWORD } from './login-passwords.ts';
import { connectClient } from './open-pool.ts';

/** A login role of the service. None is a superuser, has BYPASSRLS or owns anything (docs/decisions/0048). */
export type LoginRole = 'postroom_gateway' | 'postroom_actor' | 'postroom_auth';

export const loginRoles: readonly LoginRole[] = ['postroom_gateway', 'postroom_actor', 'postroom_auth'];

/** The role that a transaction of a key limited to one domain takes. Only the gateway's login may take it. */
export const DOMAIN_ROLE = 'postroom_domain';

/** All roles with grants in the schema. Roles belong to the server, so neither a dump nor a template contains them. */
export const schemaRoles: readonly string[] = [...loginRoles, DOMAIN_ROLE];

/** A difference between a role and what the service expects. */
export interface LoginFault {
  role: string;
  /** the end of a sentence that begins with the role */
  reason: string;
  /** SQL that repairs it, run by a role that may manage roles; null: the operator must decide */
  statement: string | null;
}

/** The login roles cannot be set up; the message is one line for the operator. */
export class LoginsRefused extends Error {
  override name = 'LoginsRefused';
}

/**
 * Returns the URL of a role: the same servers and database, with the name and password of the role. The password is derived from
 * SECRET_KEY, so none has to be chosen, stored or distributed. That of the key that it replaces works, too.
 */
export function loginUrl(url: string, role: LoginRole, secretKey: Uint8Array): string {
  const { scheme, rest } = findParts(url);
  const [password = '', previous] = acceptedKeys(secretKey).map((key) => loginPassword(role, key));
  if (previous !== undefined) keepPreviousPassword(password, previous);
  return `${scheme}${role}:${password}@${rest}`;
}

/** Returns the URL without user and password, for processes that use loginUrl. */
export function withoutLogin(url: string): string {
  const { scheme, rest } = findParts(url);
  return `${scheme}${rest}`;
}

/** Returns the user of the URL; null when it has none. */
export function readLoginName(url: string): string | null {
  const { login } = findParts(url);
  return login === null ? null : decodeURIComponent(login.replace(/:.*$/s, ''));
}

function findParts(url: string): { scheme: string; login: string | null; rest: string } {
  const [, scheme = '', authority = '', rest = ''] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/is.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  return { scheme, login: at < 0 ? null : authority.slice(0, at), rest: `${authority.slice(at + 1)}${rest}` };
}

/** Returns the password of the role. */
function loginPassword(role: LoginRole, secretKey: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `postroom database login ${role}`, 32)).toString('base64url');
}

/** Two services that start at the same time on one server change the same catalog rows; one of them retries. */
const MAX_ROUNDS = 5;

/**
 * Enables the three login roles, and revokes every right that the schema does not grant. Changes nothing when all is correct; otherwise
 * the URL's role must be able to manage roles. Passwords that follow from the previous key stay: replaceLoginPasswords ends that. Throws
 * LoginsRefused.
 */
export async function ensureLogins(url: string, secretKey: Uint8Array): Promise<void> {
  const client = await connectClient(url);
  try {
    for (let round = 1; ; round++) {
      const faults = await findLoginFaults(client, url, secretKey);
      if (faults.length === 0) return;
      const hard = faults.filter(({ statement }) => statement === null);
      if (hard.length > 0 || round > MAX_ROUNDS)
        throw new LoginsRefused(describeFaults(hard.length > 0 ? hard : faults));
      await repair(client, faults);
    }
  } finally {
    await client.end();
  }
}

/** Sets the passwords that follow from SECRET_KEY, when every process knows it. Throws LoginsRefused. */
export function replaceLoginPasswords(url: string, secretKey: Uint8Array): Promise<void> {
  forgetPreviousPasswords();
  return ensureLogins(url, withoutPreviousKey(secretKey));
}

/** Returns the faults as text for the end of a line. */
export function describeFaults(faults: readonly LoginFault[]): string {
  return faults.map(({ role, reason }) => `${role} ${reason}`).join(', ');
}

async function repair(client: pg.Client, faults: readonly LoginFault[]): Promise<void> {
  try {
    await client.query(`begin; ${faults.map(({ statement }) => statement).join('; ')}; commit`);
  } catch (error) {
    await client.query('rollback');
    if (isForbidden(error))
      throw new LoginsRefused(
        `${describeFaults(faults)}, and the role of DATABASE_URL may not change that (${(error as Error).message}): as superuser, run what npx node bin/migrate.ts --logins prints`,
        { cause: error },
      );
    if (!isChangedMeanwhile(error)) throw error;
  }
}

/** Returns the faults of the roles. Tries to log in as each one, once. */
export async function findLoginFaults(
  client: pg.ClientBase,
  url: string,
  secretKey: Uint8Array,
): Promise<LoginFault[]> {
  const { rows } = await client.query<RoleRow>(ROLES_SQL, [schemaRoles]);
  const faults: LoginFault[] = [];
  for (const row of rows) {
    faults.push(...faultsOfRole(row));
    const role = loginRoles.find((name) => name === row.role);
    if (role === undefined || row.can_log_in === null) continue;
    const password = `password '${scramVerifier(loginPassword(role, secretKey), row.iterations)}'`;
    if (!row.can_log_in) {
      faults.push({ role, reason: 'may not log in', statement: `alter role ${role} login ${password}` });
      continue;
    }
    const refusal = await findRefusal(loginUrl(url, role, secretKey));
    if (refusal !== null) faults.push(faultOfLogin(row, refusal, `alter role ${role} ${password}`));
  }
  return faults;
}

interface RoleRow {
  role: string;
  /** null: the role does not exist */
  can_log_in: boolean | null;
  inherits: boolean;
  /** forbidden attributes, as named in CREATE ROLE */
  excess: string[];
  /** roles that it is a member of without need */
  memberships: string[];
  owns: boolean;
  /** whether it is a member of the domain role, and whether it inherits that role's rights */
  takes_domain: boolean;
  has_domain: boolean;
  /** another database of the server whose schema grants to the role */
  elsewhere: string | null;
  version: number;
  iterations: number;
}

const ROLES_SQL = `
  select n.role, r.rolcanlogin as can_log_in, coalesce(r.rolinherit, false) as inherits,
    array_remove(array[case when r.rolsuper then 'superuser' end, case when r.rolbypassrls then 'bypassrls' end,
      case when r.rolcreaterole then 'createrole' end, case when r.rolcreatedb then 'createdb' end,
      case when r.rolreplication then 'replication' end], null) as excess,
    array(select g.rolname::text from pg_auth_members m join pg_roles g on g.oid = m.roleid
      where m.member = r.oid and not (n.role = 'postroom_gateway' and g.rolname = '${DOMAIN_ROLE}') order by 1) as memberships,
    exists (select from pg_shdepend s where s.refclassid = 'pg_authid'::regclass and s.refobjid = r.oid and s.deptype = 'o') as owns,
    coalesce(pg_has_role(r.oid, d.oid, 'member'), false) as takes_domain, coalesce(pg_has_role(r.oid, d.oid, 'usage'), false) as has_domain,
    (select b.datname::text from pg_shdepend s join pg_database b on b.oid = s.dbid
      where s.refclassid = 'pg_authid'::regclass and s.refobjid = r.oid and b.datname <> current_database() order by 1 limit 1) as elsewhere,
    current_setting('server_version_num')::int as version,
    coalesce((select setting::int from pg_settings where name = 'scram_iterations'), 4096) as iterations
  from unnest($1::text[]) with ordinality as n(role, place)
  left join pg_roles r on r.rolname = n.role
  left join pg_roles d on d.rolname = '${DOMAIN_ROLE}'
  order by n.place desc`;

/** Since this version each membership has its own INHERIT option; before, the member role has it. */
const GRANTS_WITH_OPTIONS = 160_000;

function faultsOfRole(row: RoleRow): LoginFault[] {
  const { role } = row;
  const fault = (reason: string, statement: string | null): LoginFault => ({ role, reason, statement });
  if (row.can_log_in === null) return [fault('is not there', `create role ${role} nologin noinherit`)];
  const faults: LoginFault[] = [];
  if (row.excess.length > 0) {
    const without = row.excess.map((right) => `no${right}`).join(' ');
    faults.push(fault(`has ${row.excess.join(', ').toUpperCase()}`, `alter role ${role} ${without}`));
  }
  if (row.inherits) faults.push(fault('inherits what it is a member of', `alter role ${role} noinherit`));
  if (row.memberships.length > 0) faults.push(fault(`is a member of ${row.memberships.join(', ')}`, null));
  if (row.owns) faults.push(fault('owns something', null));
  if (role === DOMAIN_ROLE && row.can_log_in) faults.push(fault('may log in', `alter role ${role} nologin`));
  if (role === 'postroom_gateway' && (!row.takes_domain || row.has_domain) && !row.excess.includes('superuser')) {
    const options = row.version >= GRANTS_WITH_OPTIONS ? ' with inherit false, set true' : '';
    const reason = row.takes_domain ? `has the rights of ${DOMAIN_ROLE}` : `may not take ${DOMAIN_ROLE}`;
    // In older versions the previous statement covers this.
    if (options !== '' || !row.takes_domain)
      faults.push(fault(reason, `grant ${DOMAIN_ROLE} to postroom_gateway${options}`));
  }
  return faults;
}

function faultOfLogin({ role, elsewhere }: RoleRow, refusal: Error, statement: string): LoginFault {
  // The other codes of the class come from pg_hba.conf.
  if ((refusal as { code?: unknown }).code !== WRONG_PASSWORD)
    return { role, reason: `is not let in (${refusal.message}): pg_hba.conf needs a line for it`, statement: null };
  if (elsewhere === null) return { role, reason: 'does not log in with this SECRET_KEY', statement };
  const reason = `logs in with another SECRET_KEY, for the database ${elsewhere} of the same server: give each service a server of its own`;
  return { role, reason, statement: null };
}

/** Returns why the login is refused; null when it works. Throws other errors. */
async function findRefusal(url: string): Promise<Error | null> {
  try {
    await (await connectClient(url)).end();
    return null;
  } catch (error) {
    if (isLoginRefused(error)) return error as Error;
    throw error;
  }
}

/** Returns whether PostgreSQL refuses the role: NOLOGIN, a different password, or no line in pg_hba.conf. */
export function isLoginRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('28') === true;
}

/** Returns what PostgreSQL stores for a password (RFC 5803), so that no statement or log contains the password. */
function scramVerifier(password: string, iterations: number): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
