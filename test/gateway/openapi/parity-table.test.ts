import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { OpenAPIV3_1 } from 'openapi-types';
import { expect, test } from 'vitest';
import { writeCapabilityCommands } from '../../../bin/runner/capability-commands.ts';
import { tools } from '../../../gateway/mcp/tools.ts';
import { operationNames, writeParityPage } from '../../../gateway/openapi/parity-table.ts';
import { schema } from '../../../schema/graphql/schema.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const document = JSON.parse(await readFile(path.join(root, 'openapi.json'), 'utf8')) as OpenAPIV3_1.Document;

test('the table of operations names every REST operation once', () => {
  const served = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.values(item ?? {}).flatMap((operation) => (operation as { operationId?: string }).operationId ?? []),
  );
  expect(operationNames.flatMap(({ rest }) => rest).toSorted()).toEqual(served.toSorted());
});

test('the table of operations names every root field of GraphQL once', () => {
  const queries = Object.keys(schema.getQueryType()?.getFields() ?? {});
  const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
  const subscriptions = Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
  // `events` is a query and a subscription.
  const served = [
    ...queries,
    ...mutations,
    ...subscriptions.map((name) => (queries.includes(name) ? `Subscription.${name}` : name)),
  ];
  expect(operationNames.flatMap(({ graphql }) => graphql).toSorted()).toEqual(served.toSorted());
});

test('the table of operations names every MCP tool once', () => {
  expect(operationNames.flatMap(({ mcp }) => mcp).toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
});

test('an operation that REST or GraphQL lacks says what to use instead', () => {
  const silent = operationNames.filter(
    ({ rest, graphql, difference }) => (rest.length === 0 || graphql.length === 0) && (difference ?? '') === '',
  );
  expect(silent).toEqual([]);
});

test('docs/parity.md is the page that npm run contracts writes', async () => {
  const page = await readFile(path.join(root, 'docs/parity.md'), 'utf8');
  expect(page).toBe(writeParityPage(document));
});

test('bin/cli/capability-commands.ts is the file that npm run contracts writes', async () => {
  const file = await readFile(path.join(root, 'bin/cli/capability-commands.ts'), 'utf8');
  expect(file).toBe(writeCapabilityCommands());
});
