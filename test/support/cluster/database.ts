import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type Database, type DatabaseRole, openDatabase } from '../../../db/connection/database.ts';
import { loginUrl, withoutLogin } from '../../../db/connection/logins.ts';
import { keepLog } from '../kept-logs.ts';
import { clusterSecretKey, databaseUrl, onServer } from './cluster.ts';

export interface TestDatabase {
  /** of the owner */
  url: string;
  /** DATABASE_URL and SECRET_KEY of processes of the service */
  environment: { DATABASE_URL: string; SECRET_KEY: string };
  readUrl(role: DatabaseRole): string;
  open(role: DatabaseRole): Database;
  drop(): Promise<void>;
}

/** SECRET_KEY of the services on the cluster of the run. */
const secretKey = Buffer.from(clusterSecretKey, 'base64url');

/** A fresh clone of the migrated template; drop it in afterAll. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const clusterUrl = inject('clusterUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(clusterUrl, `create database ${name} template postroom_template strategy file_copy`);
  const opened: Database[] = [];
  const url = databaseUrl(clusterUrl, name);
  const readUrl = (role: DatabaseRole) => (role === null ? url : loginUrl(url, role, secretKey));
  return {
    url,
    environment: { DATABASE_URL: withoutLogin(url), SECRET_KEY: clusterSecretKey },
    readUrl,
    open(role) {
      const database = openDatabase({
        url: readUrl(role),
        role,
        poolSize: 6,
        applicationName: 'test',
        onError: () => undefined,
        // For hangs, not for slowness: a machine with other work may be ten times as slow.
        statementTimeoutMs: 120_000,
      });
      opened.push(database);
      return database;
    },
    async drop() {
      await Promise.all(opened.map((database) => database.close()));
      await keepDeadRows(url, name);
      await onServer(clusterUrl, `drop database if exists ${name} with (force)`);
    },
  };
}

/** What is noted of work that failed is shown to operators like a log. */
async function keepDeadRows(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ line: string }>('select row_to_json(dead_row)::text as line from dead_row');
  if (rows.length > 0) keepLog(`dead-rows-${name}`, rows.map(({ line }) => `${line}\n`).join(''));
  await client.end();
}
