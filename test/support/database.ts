import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type Database, type DatabaseRole, openDatabase } from '../../db/database.ts';
import { databaseUrl, onServer } from './cluster.ts';

export interface TestDatabase {
  url: string;
  open(role: DatabaseRole): Database;
  drop(): Promise<void>;
}

/** A fresh clone of the migrated template; drop it in afterAll. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const clusterUrl = inject('clusterUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(clusterUrl, `create database ${name} template postroom_template strategy file_copy`);
  const opened: Database[] = [];
  const url = databaseUrl(clusterUrl, name);
  return {
    url,
    open(role) {
      const database = openDatabase({ url, role, poolSize: 6, applicationName: 'test', onError: () => undefined });
      opened.push(database);
      return database;
    },
    async drop() {
      await Promise.all(opened.map((database) => database.close()));
      await onServer(clusterUrl, `drop database if exists ${name} with (force)`);
    },
  };
}
