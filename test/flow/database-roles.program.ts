import { existsSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSecrets } from '../../db/cluster/data-directory.ts';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { type LoginRole, loginRoles, loginUrl } from '../../db/connection/logins.ts';
import { isQuick } from '../support/chaos-figures.ts';
import { runToEnd } from '../support/runner.ts';
import { Service, type ServiceMode, until } from '../support/servers/service.ts';

const LIMIT_MS = 240_000;

/** The programs whose sessions are ours to judge: those of the service. */
const APPLICATIONS: Readonly<Record<ServiceMode, Readonly<Record<string, LoginRole>>>> = {
  single: {
    'postroom mail, actor': 'postroom_actor',
    'postroom gateway, actor': 'postroom_actor',
    'postroom gateway, gateway': 'postroom_gateway',
    'postroom gateway, auth': 'postroom_auth',
  },
  split: {
    'postroom gateway': 'postroom_gateway',
    'postroom auth': 'postroom_auth',
    ...Object.fromEntries(
      ['receiving', 'threading', 'delivery', 'sending', 'scheduling'].map((name) => [
        `postroom ${name}`,
        'postroom_actor',
      ]),
    ),
  },
};

// Both modes have the same roles; `npm test` looks at the processes of one.
describe.each<ServiceMode>(isQuick ? ['single'] : ['single', 'split'])(
  'the sessions of the running service (%s)',
  (mode) => {
    let service: Service;
    let owner: pg.Client;
    const pools = new Map<LoginRole, Database>();

    beforeAll(async () => {
      service = await Service.start(mode);
      owner = new pg.Client({ connectionString: await service.databaseUrl() });
      await owner.connect();
      // Rows of users to look for, a key of theirs and an account.
      const account = await service.createAccount();
      const sent = await account.call('POST', '/emails', {
        from: `hello@${account.domain}`,
        to: `hello@${account.domain}`,
        subject: 'To be hidden',
        text: 'Body',
      });
      expect(sent.status).toBe(200);
      // A sign-in, so that the pool of better-auth is in use as well.
      const origin = { 'content-type': 'application/json', origin: service.url };
      await fetch(`${service.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: origin,
        body: JSON.stringify({ email: 'nobody@example.com', password: 'a long password' }),
      });
      const url = await service.databaseUrl();
      const secretKey = await readSecretKey(service);
      for (const role of loginRoles)
        pools.set(
          role,
          openDatabase({
            url: loginUrl(url, role, secretKey),
            role,
            poolSize: 1,
            applicationName: 'escape',
            onError: () => undefined,
          }),
        );
    }, LIMIT_MS);
    afterAll(async () => {
      for (const pool of pools.values()) await pool.close();
      await owner?.end();
      await service?.stop();
    }, LIMIT_MS);

    test('log in as the role of their part, and none as the owner of the database', async () => {
      const sessions = async () => {
        const { rows } = await owner.query<{ name: string; user: string }>(
          `select distinct application_name as name, usename as user from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'escape' and backend_type = 'client backend'`,
        );
        return Object.fromEntries(rows.map(({ name, user }) => [name, user]));
      };
      await until(
        'every pool has a session, and programs that started the service have none',
        () => '',
        async () => {
          const names = Object.keys(await sessions()).toSorted();
          return JSON.stringify(names) === JSON.stringify(Object.keys(APPLICATIONS[mode]).toSorted());
        },
      );
      expect(await sessions()).toEqual(APPLICATIONS[mode]);
    });

    test('have no right beside those that the schema grants, own nothing, and are only in the role of keys of one domain', async () => {
      const { rows } = await owner.query(
        `select r.rolname as role, r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolinherit as excess,
         array(select g.rolname::text || case when m.inherit_option or m.admin_option then ' with more' else '' end
           from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid) as roles,
         exists (select from pg_shdepend s where s.refclassid = 'pg_authid'::regclass and s.refobjid = r.oid and s.deptype = 'o') as owns,
         has_schema_privilege(r.oid, 'public', 'create') or has_database_privilege(r.oid, current_database(), 'create') as makes
       from pg_roles r where r.rolname = any ($1) order by 1`,
        [loginRoles],
      );
      const none = { excess: false, roles: [], owns: false, makes: false };
      expect(rows).toEqual([
        { role: 'postroom_actor', ...none },
        { role: 'postroom_auth', ...none },
        { role: 'postroom_gateway', ...none, roles: ['postroom_domain'] },
      ]);
    });

    describe.each(loginRoles)('%s', (role) => {
      const ask = async (text: string) => {
        const database = pools.get(role);
        if (database === undefined) throw new Error(`${role} has no pool`);
        const client = await database.pool.connect();
        try {
          return (await client.query(text)).rows;
        } finally {
          client.release();
        }
      };

      test.each(['set role none', 'reset role', 'reset session authorization', 'reset all'])(
        'keeps its role after %s',
        async (way) => {
          const database = pools.get(role);
          const client = await database?.pool.connect();
          try {
            await client?.query(way);
            const response = await client?.query('select session_user as session, current_user as user');
            expect(response?.rows).toEqual([{ session: role, user: role }]);
            if (role !== 'postroom_gateway') return;
            expect(await rowsOfUsers(owner, async (text) => (await client?.query(text))?.rows[0])).toEqual([]);
          } finally {
            client?.release(true);
          }
        },
      );

      test('takes neither the role of the owner nor one of another pool', async () => {
        const { rows } = await owner.query<{ name: string }>(
          `select rolname as name from pg_roles where rolname <> $1 and not ($1 = 'postroom_gateway' and rolname = 'postroom_domain')
           and rolname <> 'pg_database_owner'`,
          [role],
        );
        expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['postroom', 'pg_read_all_data']));
        for (const { name } of rows) {
          await expect(ask(`set role "${name}"`), name).rejects.toMatchObject({ code: '42501' });
          await expect(ask(`set session authorization "${name}"`), name).rejects.toMatchObject({ code: '42501' });
          await expect(ask(`grant "${name}" to ${role}`), name).rejects.toMatchObject({ code: '42501' });
        }
      });

      test('runs no command, reads and writes no file of the server, and changes no role and no table', async () => {
        const trace = path.join(service.directory, `trace-${role}`);
        for (const statement of [
          `copy (select 1) to program 'touch ${trace}'`,
          `copy (select 1) to '${trace}'`,
          `create temporary table t (line text); copy t from program 'id'`,
          `select pg_read_file('PG_VERSION')`,
          `select lo_import('/etc/hostname')`,
          `alter role ${role} superuser`,
          `alter role ${role} bypassrls`,
          'create role of_mine',
          'alter table email disable row level security',
          'drop policy email_of_workspace on email',
          'create table public.of_mine (id int)',
          'create function public.postroom_now(text) returns text language sql return $1',
          'alter system set fsync = off',
          'set session_replication_role = replica',
          'update migration set needs = null',
          'delete from secret_canary',
        ])
          await expect(ask(statement), statement).rejects.toMatchObject({ code: '42501' });
        expect(existsSync(trace)).toBe(false);
      });
    });

    // One process holds all roles on a single machine, and migrates by itself.
    if (mode === 'split')
      test(
        'begin once the owner has run the migrations and created the logins',
        async () => {
          const said = async (text: string) =>
            until(
              text,
              () => service.output.slice(-3000),
              async () => service.output.includes(text),
              LIMIT_MS,
            );
          await owner.query('alter role postroom_actor nologin; revoke select on migration from postroom_actor');
          service.startProcess('scheduling-2');
          await said('"event":"database.login"');
          expect(await runToEnd(['bin/migrate.ts'], service.ownerEnvironment)).toMatchObject({ status: 0 });
          await said('"event":"database.pending"');
          const before = service.output.length;
          await owner.query('grant select on migration to postroom_actor');
          await until(
            'the process is ready',
            () => service.output.slice(-3000),
            async () => service.output.slice(before).includes('"event":"process.ready"'),
            LIMIT_MS,
          );
        },
        LIMIT_MS,
      );

    test('of the gateway and of better-auth show no row of a user that was not named', async () => {
      for (const role of ['postroom_gateway', 'postroom_auth'] as const) {
        const count = async (text: string) => (await pools.get(role)?.pool.query(text))?.rows[0];
        expect(await rowsOfUsers(owner, count)).toEqual([]);
      }
    });
  },
);

/** Tables under row-level security of which the session sees rows. Those that it may not read at all do not count. */
async function rowsOfUsers(
  owner: pg.Client,
  ask: (text: string) => Promise<{ count: number } | undefined>,
): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relrowsecurity order by 1`,
  );
  const filled = await owner.query<{ count: number }>('select count(*)::int as count from email');
  expect(rows.length).toBeGreaterThan(20);
  expect(filled.rows[0]?.count).toBeGreaterThan(0);
  const seen: string[] = [];
  for (const { name } of rows) {
    const response = await ask(`select count(*)::int as count from ${name}`).catch((error: { code?: string }) => {
      if (error.code !== '42501') throw error;
      return { count: 0 };
    });
    if (response === undefined || response.count > 0) seen.push(name);
  }
  return seen;
}

async function readSecretKey({ environment, directory }: Service): Promise<Uint8Array> {
  const given = environment['SECRET_KEY'];
  if (given !== undefined) return Buffer.from(given, 'base64url');
  const secrets = await readSecrets(path.join(directory, 'data'));
  if (secrets === null) throw new Error('the service has no secrets');
  return secrets.secretKey;
}
