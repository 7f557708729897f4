import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { prepareDatabase } from '../../../bin/runner/prepare-database.ts';
import { listUrls } from '../../../db/connection/database-hosts.ts';
import { findPrimary, primaryUrl } from '../../../db/connection/failover.ts';
import { connectClient, openPool } from '../../../db/connection/open-pool.ts';
import { isTransient } from '../../../db/errors.ts';
import { freePort, onServer } from '../../support/cluster/cluster.ts';
import { ReplicatedDatabase } from '../../support/cluster/replicated-database.ts';
import { makeServiceDirectory } from '../../support/servers/orphans.ts';
import { until } from '../../support/servers/service.ts';

test.each([
  ['postgresql://u:p@db:5432/postroom', ['postgresql://u:p@db:5432/postroom']],
  ['postgresql:///postroom?host=/run/sockets', ['postgresql:///postroom?host=/run/sockets']],
  [
    'postgresql://u:p%40@one:5432,two,[::1]:6432/postroom?sslmode=require',
    [
      'postgresql://u:p%40@one:5432/postroom?sslmode=require',
      'postgresql://u:p%40@two/postroom?sslmode=require',
      'postgresql://u:p%40@[::1]:6432/postroom?sslmode=require',
    ],
  ],
  ['postgres://one,two/postroom', ['postgres://one/postroom', 'postgres://two/postroom']],
  ['postgres://u,v:p,w@one/x,y', ['postgres://u,v:p,w@one/x,y']],
])('%s names its servers', (url, expected) => {
  expect(listUrls(url)).toEqual(expected);
});

describe('of two servers', () => {
  let directory: string;
  let servers: ReplicatedDatabase;
  const pools: pg.Pool[] = [];

  beforeAll(async () => {
    directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-primary-');
    servers = await ReplicatedDatabase.start(directory);
    await onServer(servers.firstUrl, 'create table tally (n int)');
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await servers?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('connections go to the one that accepts writes, in either order of the URL', async () => {
    for (const url of [servers.url, servers.reversedUrl]) {
      expect(await primaryUrl(url)).toBe(servers.firstUrl);
      const client = await connectClient(url);
      expect((await client.query('insert into tally values (1) returning n')).rows).toEqual([{ n: 1 }]);
      await client.end();
      expect(await readPort(open(url))).toBe(portIn(servers.firstUrl));
    }
  });

  test('the start has no warning about a server whose commits are on another disk, too', async () => {
    expect(await listWarnings(servers.url)).toEqual([]);
  });

  test('a host that drops all packets delays only the first connection', async () => {
    const hole = await openHole();
    const url = servers.firstUrl.replace(/(127\.0\.0\.1):/, `$1:${hole.port},127.0.0.1:`);
    expect(await readPort(open(url))).toBe(portIn(servers.firstUrl));
    const visits = hole.visits();
    findPrimary(url).doubt(servers.firstUrl);
    expect(await findPrimary(url).find()).toBe(servers.firstUrl);
    expect(hole.visits(), 'it was silent a moment ago').toBe(visits);
    const unheard = new pg.Client({ host: '127.0.0.1', port: hole.port, connectionTimeoutMillis: 100 });
    expect(isTransient(await unheard.connect().catch((error: unknown) => error))).toBe(true);
    await hole.close();
  });

  test('while none accepts writes, the error says that a retry may help', async () => {
    const nowhere = `127.0.0.1:${await freePort()}`;
    const url = servers.secondUrl.replace(/(127\.0\.0\.1:\d+)/, `${nowhere},$1`);
    for (const failing of [() => open(url).query('select 1'), () => connectClient(url), () => primaryUrl(url)]) {
      const error = await failing().catch((reason: unknown) => reason);
      expect(isTransient(error), String(error)).toBe(true);
      expect(String(error)).toMatch(/^NoPrimaryError: No host of DATABASE_URL takes writes \(.*takes no writes/);
      expect(String(error)).not.toContain('postroom:');
    }
  });

  test('a wrong password is reported as such', async () => {
    const url = servers.url.replace(/postroom:[^@]*@/, 'postroom:wrong@');
    const error = await primaryUrl(url).catch((reason: unknown) => reason);
    expect((error as { code?: string }).code).toBe('28P01');
    expect(isTransient(error)).toBe(false);
  });

  test('a server that becomes read-only loses its connections', async () => {
    const pool = open(servers.url);
    await pool.query('insert into tally values (2)');
    const [client, idle] = [await pool.connect(), await pool.connect()];
    idle.release();
    await onServer(servers.firstUrl, 'alter system set default_transaction_read_only = on');
    await onServer(servers.firstUrl, 'select pg_reload_conf()');
    await until(
      'it refuses',
      () => '',
      () =>
        client.query('insert into tally values (3)').then(
          () => false,
          (error: unknown) => isTransient(error),
        ),
    );
    client.release(true);
    await expect(pool.query('insert into tally values (3)')).rejects.toThrow(/takes no writes/);
    await onServer(
      `${servers.firstUrl}?options=${encodeURIComponent('-c default_transaction_read_only=off')}`,
      'alter system reset default_transaction_read_only',
    );
    await onServer(servers.firstUrl, 'select pg_reload_conf()');
    await expect
      .poll(() =>
        pool.query('select 1').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  test('after a failover every pool goes to the promoted server, and back to the old one only if it must', async () => {
    const [busy, idle] = [open(servers.url), open(servers.url)];
    await idle.query('select 1');
    const held = await busy.connect();
    held.on('error', () => undefined);
    await servers.killFirst();
    await expect(held.query('select 1')).rejects.toThrow();
    held.release(true);
    await expect(busy.query('select 1')).rejects.toSatisfy(isTransient);
    await servers.promoteSecond();
    expect(await readPort(busy)).toBe(portIn(servers.secondUrl));
    expect(await readPort(idle)).toBe(portIn(servers.secondUrl));

    await servers.restartFirst();
    findPrimary(servers.url).doubt(servers.secondUrl);
    expect(await readPort(busy)).toBe(portIn(servers.secondUrl));
    // A process that starts now knows of no current server: both take writes, and only one was promoted.
    const asIfStarted = servers.url.replace('/postgres', '/postgres?application_name=started');
    expect(await readPort(open(asIfStarted))).toBe(portIn(servers.secondUrl));
  });

  test('the start warns when a failover could lose commits: the promoted server has no standby', async () => {
    expect(await listWarnings(servers.url)).toEqual([
      expect.stringMatching(/a failover can lose mail that was accepted/),
    ]);
    expect(await listWarnings(servers.secondUrl), 'one host fails over to nothing').toEqual([]);
  });

  function open(url: string): pg.Pool {
    const pool = openPool(url, { max: 3, connectionTimeoutMillis: 5_000 });
    pool.on('error', () => undefined);
    pools.push(pool);
    return pool;
  }
});

const secretKey = Buffer.alloc(32, 1);

async function listWarnings(url: string): Promise<string[]> {
  const warnings: string[] = [];
  await prepareDatabase({ url, secretKey, allowUnsafeWrites: false, warn: (line) => void warnings.push(line) });
  return warnings;
}

const readPort = async (pool: pg.Pool): Promise<number> =>
  (await pool.query<{ port: number }>(`select current_setting('port')::int as port`)).rows[0]?.port ?? 0;

const portIn = (url: string): number => Number(new URL(url).port);

/** A server that takes connections and says nothing, as a host does whose packets are dropped. */
async function openHole(): Promise<{ port: number; visits: () => number; close: () => Promise<void> }> {
  const sockets = new Set<{ destroy(): void }>();
  let visits = 0;
  const server: Server = createServer((socket) => {
    visits++;
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    visits: () => visits,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
