import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { prepareDatabase } from '../../../bin/runner/prepare-database.ts';
import { keepPreviousKey } from '../../../core/shared/previous-key.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import {
  ensureLogins,
  findLoginFaults,
  loginRoles,
  loginUrl,
  readLoginName,
  withoutLogin,
} from '../../../db/connection/logins.ts';
import { openPool, retireIdleConnections } from '../../../db/connection/open-pool.ts';
import { migrate, pendingMigrations } from '../../../db/migrate.ts';
import { migrationNames } from '../../../db/migrations/names.ts';
import { databaseUrl, freePort, onServer, queryOnce } from '../../support/cluster/cluster.ts';
import { copyCluster } from '../../support/cluster/data-template.ts';
import { runToEnd } from '../../support/runner.ts';
import { makeServiceDirectory } from '../../support/servers/orphans.ts';

const key = randomBytes(32);

describe('the URL of a login', () => {
  test.each([
    [
      'postgresql://u:p%40@one:5432,two/postroom?sslmode=require',
      'postgresql://one:5432,two/postroom?sslmode=require',
      'u',
    ],
    ['postgresql://one/postroom', 'postgresql://one/postroom', null],
    ['postgres://a%40b@%2Frun%2Fpg:5433/postroom', 'postgres://%2Frun%2Fpg:5433/postroom', 'a@b'],
  ])('keeps servers and database of %s', (url, bare, user) => {
    expect(withoutLogin(url)).toBe(bare);
    expect(readLoginName(url)).toBe(user);
    for (const role of loginRoles) {
      const login = loginUrl(url, role, key);
      expect(readLoginName(login)).toBe(role);
      expect(withoutLogin(login)).toBe(bare);
      expect(loginUrl(bare, role, key)).toBe(login);
    }
  });

  test('has another password for each role and each SECRET_KEY, and the same one each time', () => {
    const url = 'postgresql://one/postroom';
    const urls = [key, randomBytes(32)].flatMap((secret) => loginRoles.map((role) => loginUrl(url, role, secret)));
    expect(new Set(urls.map((login) => login.replace(/^.*?:\/\/[^:]*:/, ''))).size).toBe(6);
  });
});

test('a pool refuses a role whose login is not in its URL', () => {
  const options = { poolSize: 1, applicationName: 'test', onError: () => undefined };
  const open = () =>
    openDatabase({ ...options, url: 'postgresql://postroom:x@127.0.0.1/postroom', role: 'postroom_actor' });
  expect(open).toThrow('The URL of a pool of postroom_actor names another user');
});

describe('on a server', () => {
  let directory: string;
  let cluster: EmbeddedCluster;
  let url: string;
  let owner: pg.Client;

  beforeAll(async () => {
    directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-logins-');
    const password = await copyCluster(path.join(directory, 'cluster'));
    cluster = await startEmbeddedCluster({
      directory: path.join(directory, 'cluster'),
      password,
      port: await freePort(),
    });
    url = databaseUrl(cluster.url, 'postroom');
    // Of the template; a server serves one service.
    await onServer(url, 'drop database postgres');
  });
  afterAll(async () => {
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    owner = new pg.Client({ connectionString: url });
    await owner.connect();
  });
  afterEach(() => owner.end());

  const reasons = async () =>
    (await findLoginFaults(owner, url, key)).map(({ role, reason }) => `${role} ${reason}`).toSorted();
  const whoAmI = async (login: string) => queryOnce(login, 'select session_user as user');

  test('roles that the migrations made may log in once their logins are set', async () => {
    await owner.query(`
      grant postroom_gateway, postroom_actor, postroom_auth, postroom_domain to postroom;
      alter role postroom_gateway inherit`);
    const login = loginUrl(url, 'postroom_gateway', key);
    await expect(whoAmI(login)).rejects.toMatchObject({ code: expect.stringMatching(/^28/) });
    await ensureLogins(url, key);
    expect(await reasons()).toEqual([]);
    for (const role of loginRoles) expect(await whoAmI(loginUrl(url, role, key))).toEqual([{ user: role }]);
    for (const role of ['postroom_gateway', 'postroom_actor'] as const)
      expect(await pendingMigrations(loginUrl(url, role, key))).toEqual([]);
  });

  test('a role that cannot see the migrations yet takes every one for pending', async () => {
    await owner.query('revoke select on migration from postroom_gateway');
    expect(await pendingMigrations(loginUrl(url, 'postroom_gateway', key))).toEqual([...migrationNames]);
    await owner.query('grant select on migration to postroom_gateway');
  });

  test('while the key is replaced, processes of both keys log in, and then those that know the new one', async () => {
    const next = randomBytes(32);
    const pair = keepPreviousKey(Buffer.from(next), key);
    const [old, both] = [loginUrl(url, 'postroom_actor', key), loginUrl(url, 'postroom_actor', pair)];
    const pool = openPool(both, { max: 2 });
    const asActor = async () => (await pool.query('select session_user as user')).rows;
    for (const secretKey of [key, pair]) await prepareDatabase({ url, secretKey, allowUnsafeWrites: true });
    expect(await findLoginFaults(owner, url, pair)).toEqual([]);
    expect(await Promise.all([asActor(), asActor()])).toEqual([
      [{ user: 'postroom_actor' }],
      [{ user: 'postroom_actor' }],
    ]);
    expect(await whoAmI(old)).toEqual([{ user: 'postroom_actor' }]);

    const environment = {
      DATABASE_URL: url,
      SECRET_KEY: next.toString('base64url'),
      SECRET_KEY_PREVIOUS: key.toString('base64url'),
    };
    expect(await runToEnd(['bin/rotate-secret.ts'], environment)).toMatchObject({ status: 0, stderr: '' });
    await retireIdleConnections(pool);
    expect(await asActor()).toEqual([{ user: 'postroom_actor' }]);
    expect(await pendingMigrations(both)).toEqual([]);
    await expect(whoAmI(old)).rejects.toMatchObject({ code: '28P01' });
    await pool.end();
    await ensureLogins(url, key);
  });

  test('additional rights of a role are revoked', async () => {
    await owner.query(`
      alter role postroom_gateway superuser bypassrls inherit; alter role postroom_actor createrole createdb replication;
      alter role postroom_domain login; alter role postroom_auth nologin; grant postroom_domain to postroom_gateway with inherit true`);
    expect(await reasons()).toEqual([
      'postroom_actor has CREATEROLE, CREATEDB, REPLICATION',
      'postroom_auth may not log in',
      'postroom_domain may log in',
      'postroom_gateway has SUPERUSER, BYPASSRLS',
      'postroom_gateway inherits what it is a member of',
    ]);
    await ensureLogins(url, key);
    expect(await reasons()).toEqual([]);
    await onServer(loginUrl(url, 'postroom_gateway', key), 'set role postroom_domain');
  });

  test('a role that is a member of another, or owns something, is left to the operator', async () => {
    await owner.query(
      'create role strong; grant strong to postroom_actor; create table kept (id int); alter table kept owner to postroom_auth',
    );
    await expect(ensureLogins(url, key)).rejects.toThrow(
      /^postroom_auth owns something, postroom_actor is a member of strong$/,
    );
    await owner.query('drop role strong; drop table kept');
    await ensureLogins(url, key);
  });

  test('another SECRET_KEY sets new passwords, unless another database of the server needs the present ones', async () => {
    const other = randomBytes(32);
    await ensureLogins(url, other);
    await expect(whoAmI(loginUrl(url, 'postroom_actor', key))).rejects.toMatchObject({ code: '28P01' });
    await ensureLogins(url, key);
    await owner.query('create database second');
    const second = databaseUrl(url, 'second');
    await migrate(second);
    await ensureLogins(second, key);
    await expect(ensureLogins(second, other)).rejects.toThrow(
      /postroom_gateway logs in with another SECRET_KEY, for the database postroom of the same server/,
    );
    expect(await whoAmI(loginUrl(url, 'postroom_actor', key))).toEqual([{ user: 'postroom_actor' }]);
    await owner.query('drop database second with (force)');
  });

  test('statements contain a SCRAM verifier instead of the password', async () => {
    await owner.query('alter role postroom_auth nologin');
    const faults = await findLoginFaults(owner, url, key);
    expect(faults.map(({ statement }) => statement)).toEqual([
      expect.stringMatching(/^alter role postroom_auth login password 'SCRAM-SHA-256\$\d+:/),
    ]);
    await ensureLogins(url, key);
  });

  test('an owner that may not manage roles gets the commands for a superuser, and these suffice', async () => {
    await owner.query(
      `create role plain login password 'plain'; alter role postroom_auth nologin; alter role postroom_actor password null`,
    );
    const plain = new URL(url);
    [plain.username, plain.password] = ['plain', 'plain'];
    await expect(ensureLogins(plain.href, key)).rejects.toThrow(
      /^postroom_auth may not log in, postroom_actor does not log in with this SECRET_KEY, and the role of DATABASE_URL may not change that/,
    );
    const environment = { DATABASE_URL: plain.href, SECRET_KEY: key.toString('base64url') };
    const printed = await runToEnd(['bin/migrate.ts', '--logins'], environment);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    await owner.query(printed.stdout);
    expect(await reasons()).toEqual([]);
    expect(await runToEnd(['bin/migrate.ts', '--logins'], environment)).toMatchObject({ status: 0, stdout: '' });
  });

  test('two concurrent starts both succeed', async () => {
    await owner.query(
      'alter role postroom_auth nologin; alter role postroom_actor nologin; alter role postroom_gateway nologin',
    );
    await Promise.all(Array.from({ length: 4 }, () => ensureLogins(url, key)));
    expect(await reasons()).toEqual([]);
  });
});

test.each([
  ['bin/gateway.ts', 'postroom_gateway'],
  ['bin/actor.ts sending', 'postroom_actor'],
])(
  '%s does not start with the URL of the owner',
  async (program, role) => {
    const environment = {
      DATABASE_URL: inject('clusterUrl'),
      NATS_URL: 'nats://127.0.0.1:1',
      SECRET_KEY: key.toString('base64url'),
    };
    expect(await runToEnd(program.split(' '), environment)).toEqual({
      status: 1,
      stdout: '',
      stderr: `Remove the user postroom and the password from DATABASE_URL: this process logs in as ${role}. Only bin/migrate.ts and the operator programs log in as the owner\n`,
    });
  },
  240_000,
);
