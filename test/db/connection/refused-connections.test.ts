import { chown, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { findNativePostgresql } from '../../../db/cluster/native-postgresql.ts';
import { connectClient, openPool, retireIdleConnections } from '../../../db/connection/open-pool.ts';
import { isTransient, isUnreachable } from '../../../db/errors.ts';
import { makeCertificate } from '../../../haraka-plugins/self-made-certificate.ts';
import { freePort, onServer } from '../../support/cluster/cluster.ts';
import { copyCluster } from '../../support/cluster/data-template.ts';
import { makeServiceDirectory } from '../../support/servers/orphans.ts';

const known = makeCertificate('localhost', new Date());
const unknown = makeCertificate('localhost', new Date());
/** The longest life of these certificates is 20 years. */
const expired = makeCertificate('localhost', new Date('2001-01-01'));

let directory: string;
let cluster: EmbeddedCluster;
/** one host, with `sslmode=verify-full` */
let url: string;
const pools: pg.Pool[] = [];

beforeAll(async () => {
  directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-refused-');
  const password = await copyCluster(path.join(directory, 'cluster'));
  await writeFile(path.join(directory, 'ca.pem'), known.cert + expired.cert);
  await present(known);
  cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password,
    port: await freePort(),
  });
  await setTls('on');
  await administer(`create role guest login password 'first'`);
  url = `postgresql://guest:first@localhost:${cluster.port}/postgres?sslmode=verify-full&sslrootcert=${directory}/ca.pem`;
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Has the server present that certificate from its next start or reload on. */
async function present({ cert, key }: { cert: string; key: string }): Promise<void> {
  const { user } = await findNativePostgresql();
  for (const [name, content] of [
    ['server.crt', cert],
    ['server.key', key],
  ] as const) {
    const file = path.join(directory, 'cluster', name);
    await writeFile(file, content, { mode: 0o600 });
    if (user !== null) await chown(file, user.uid, user.gid);
  }
}

const administer = (statement: string) => onServer(cluster.url, statement);

async function setTls(value: 'on' | 'off'): Promise<void> {
  await administer(`alter system set ssl = ${value}`);
  await administer('select pg_reload_conf()');
}

async function presentNow(certificate: { cert: string; key: string }): Promise<void> {
  await present(certificate);
  await administer('select pg_reload_conf()');
}

/** What no connection is opened for any more, how, and how it is mended. */
const refusals: [what: string, refuse: () => Promise<unknown>, mend: () => Promise<unknown>][] = [
  ['a certificate of another authority', () => presentNow(unknown), () => presentNow(known)],
  ['an expired certificate', () => presentNow(expired), () => presentNow(known)],
  ['no TLS', () => setTls('off'), () => setTls('on')],
  [
    'another password',
    () => administer(`alter role guest password 'second'`),
    () => administer(`alter role guest password 'first'`),
  ],
  ['no login', () => administer('alter role guest nologin'), () => administer('alter role guest login')],
];

describe.each([
  ['one host', () => url],
  ['two hosts', () => url.replace('localhost:', `127.0.0.1:1,localhost:`)],
])('with %s in the URL', (_hosts, readUrl) => {
  test('connections are encrypted', async () => {
    const pool = open(readUrl());
    await expect
      .poll(async () => (await pool.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).rows)
      .toEqual([{ ssl: true }]);
  });

  test.each(refusals)(
    'a server that has %s is unreachable to a pool until that is mended',
    async (_what, refuse, mend) => {
      const pool = open(readUrl());
      await pool.query('select 1');
      await refuse();
      await expect
        .poll(async () => {
          await retireIdleConnections(pool);
          const error = await catchFailure(pool.query('select 1'));
          return error === null ? null : [isTransient(error), isUnreachable(error)];
        })
        .toEqual([true, true]);
      await mend();
      await expect.poll(() => catchFailure(pool.query('select 1'))).toBeNull();
    },
  );
});

test.each(refusals)('a program that starts does not wait for a server that has %s', async (_what, refuse, mend) => {
  const start = async () => (await connectClient(url)).end();
  await refuse();
  await expect.poll(() => catchFailure(start())).not.toBeNull();
  expect(isTransient(await catchFailure(start()))).toBe(false);
  await mend();
  await expect.poll(() => catchFailure(start())).toBeNull();
});

function open(to: string): pg.Pool {
  const pool = openPool(to, { max: 2 });
  pool.on('error', () => undefined);
  pools.push(pool);
  return pool;
}

async function catchFailure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}
