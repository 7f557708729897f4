import { createServer } from 'node:net';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { CLUSTER_SETTINGS, startOnFreePort } from '../../../bin/runner/processes/single-machine.ts';
import { PortTakenError, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { freePort, queryOnce } from '../../support/cluster/cluster.ts';
import { copyCluster } from '../../support/cluster/data-template.ts';
import { makeServiceDirectory } from '../../support/servers/orphans.ts';

test('a cluster whose port another program took starts on another port', async () => {
  const parent = await makeServiceDirectory(inject('runDirectory'), 'postroom-port-');
  const directory = path.join(parent, 'cluster');
  const password = await copyCluster(directory);
  const taken = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(taken, '127.0.0.1', resolve));
  const tried: number[] = [];
  try {
    await expect(startEmbeddedCluster({ directory, password, port: taken })).rejects.toThrow(PortTakenError);
    const cluster = await startOnFreePort(taken, (port) => {
      tried.push(port);
      return startEmbeddedCluster({ directory, password, port });
    });
    try {
      expect(tried).toEqual([taken, cluster.port]);
      expect(await queryOnce(cluster.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      await cluster.stop();
    }
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
});

test('our own PostgreSQL runs no process that has nothing to do', async () => {
  const parent = await makeServiceDirectory(inject('runDirectory'), 'postroom-settings-');
  const directory = path.join(parent, 'cluster');
  const password = await copyCluster(directory);
  const cluster = await startEmbeddedCluster({
    directory,
    password,
    port: await freePort(),
    settings: CLUSTER_SETTINGS,
  });
  try {
    const rows = await queryOnce(
      cluster.url,
      `select distinct backend_type as type from pg_stat_activity where backend_type <> 'autovacuum worker' order by 1`,
    );
    expect(rows.map(({ type }) => type)).toEqual([
      'autovacuum launcher',
      'background writer',
      'checkpointer',
      'client backend',
      'walwriter',
    ]);
  } finally {
    await cluster.stop();
  }
});
