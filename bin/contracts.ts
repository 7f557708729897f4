import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { introspectionFromSchema, lexicographicSortSchema, printSchema } from 'graphql';
import type { OpenAPIV3_1 } from 'openapi-types';
import { pino } from 'pino';
import { createInProcessBus } from '../actors/bus/in-process.ts';
import { openDatabase } from '../db/connection/database.ts';
import { writeParityPage } from '../gateway/openapi/parity-table.ts';
import { createGateway } from '../gateway/server.ts';
import { schema } from '../schema/graphql/schema.ts';
import { writeCapabilityCommands } from './runner/capability-commands.ts';
import { readArguments } from './runner/command-line.ts';

readArguments({
  usage: `Usage: npm run contracts

Writes openapi.json, schema.graphql, docs/parity.md, the schema types of the dashboard, and the commands of the CLI that
are made from capabilities. Commit them with the change
that caused them; the checks fail if they differ.`,
});

const root = path.resolve(import.meta.dirname, '..');
// Nothing connects: the documents come from the routes and the schema alone.
const database = openDatabase({
  url: 'postgresql://none@127.0.0.1:1/nothing',
  role: null,
  poolSize: 1,
  applicationName: 'contracts',
  onError: () => undefined,
});
const app = await createGateway({
  database,
  authDatabase: database,
  bus: createInProcessBus(),
  log: pino({ level: 'silent' }),
  config: {
    publicUrl: 'http://localhost:3000',
    mailHostname: 'localhost',
    smtp: { host: 'localhost', port: 2525 },
    version: '0.0.0',
    trustedDomains: [],
    secretKey: randomBytes(32),
    rateLimitPerSecond: 100,
    requestLimitStore: 'memory',
    sendLimitPerHour: 0,
    streamLimitPerUser: 200,
    hasGuardModel: false,
    hasSpamFilter: false,
    allowedPrivateNetworks: [],
    ownPorts: [],
    isSignUpOpen: true,
    systemMailFrom: 'postroom@localhost',
    trustedProxies: [],
  },
});
await app.ready();
const document = app.swagger();
await writeFile(path.join(root, 'openapi.json'), `${JSON.stringify(document, null, 2)}\n`);
await writeFile(path.join(root, 'docs/parity.md'), writeParityPage(document as OpenAPIV3_1.Document));
await writeFile(path.join(root, 'schema.graphql'), `${printSchema(lexicographicSortSchema(schema))}\n`);
const introspection = minifyIntrospection(
  introspectionFromSchema(lexicographicSortSchema(schema), { descriptions: false }),
);
const types = outputIntrospectionFile(introspection, { fileType: '.d.ts', shouldPreprocess: true });
await writeFile(path.join(root, 'gateway/dashboard/graphql-env.d.ts'), types);
await writeFile(path.join(root, 'bin/cli/capability-commands.ts'), writeCapabilityCommands());
await app.close();
process.exit(0);
