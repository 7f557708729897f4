import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrateInThread } from '../../../bin/runner/migrate-in-thread.ts';
import { pendingMigrations } from '../../../db/migrate.ts';
import { migrationNames } from '../../../db/migrations/names.ts';
import { databaseUrl, onServer } from '../../support/cluster/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';

let testDatabase: TestDatabase;
let name: string;
/** of a database without a schema */
let url: string;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  name = `empty_${randomBytes(6).toString('hex')}`;
  await onServer(testDatabase.url, `create database ${name}`);
  url = databaseUrl(testDatabase.url, name);
});
afterEach(async () => {
  await onServer(testDatabase.url, `drop database ${name} with (force)`);
  await testDatabase.drop();
});

test('a thread runs the pending migrations, and nothing when none is pending', async () => {
  expect(await migrateInThread(url)).toEqual([...migrationNames]);
  expect(await pendingMigrations(url)).toEqual([]);
  expect(await migrateInThread(url)).toEqual([]);
});

test('a migration that fails in the thread is reported with its name and reason', async () => {
  await onServer(url, 'create table email (id text)');
  await expect(migrateInThread(url)).rejects.toThrow(/migration 0001-initial: .*relation "email" already exists/);
  await onServer(url, 'drop table email');
  expect(await migrateInThread(url)).toEqual([...migrationNames]);
});
