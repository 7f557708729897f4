import { randomBytes } from 'node:crypto';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import { type Database, type DatabaseRole, openDatabase } from '../../../db/connection/database.ts';
import type { GatewayConfig } from '../../../gateway/gateway-config.ts';
import { createPayloadRunner, type PayloadRunner } from '../../../gateway/graphql/payload-runner.ts';
import { createGateway, type GatewayOptions } from '../../../gateway/server.ts';
import type { LocalSending } from '../../../operations/sending/local-sender.ts';
import type { Bus } from '../../../schema/messages.ts';
import { createTestDatabase, type TestDatabase } from '../cluster/database.ts';
import { createMailbox, type MailboxOptions, type TestMailbox } from '../rows/routing-rows.ts';

/** A gateway over a database and a bus of its own; requests are injected, no port is open. */
export interface TestGateway {
  app: FastifyInstance;
  /** role postroom_actor, to put rows in and look at them */
  actor: Database;
  /** the database's owner */
  owner: Database;
  /** the gateway's own */
  database: Database;
  url: string;
  bus: Bus;
  /** lines that the gateway logged */
  logged: Record<string, unknown>[];
  /** an account with a domain, an address and a key */
  mailbox: (options?: Partial<MailboxOptions>) => Promise<TestMailbox>;
  call: (
    key: string | null,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>;
  /** builds payloads as the delivery actor does */
  payloads: PayloadRunner;
  graphql: (key: string, query: string, variables?: Record<string, unknown>) => Promise<LightMyRequestResponse>;
  /** Opens another gateway over the same database and bus; the caller closes it, before this one. */
  beside: () => Promise<Pick<TestGateway, 'app' | 'call'>>;
  close: () => Promise<void>;
}

export interface TestGatewayOptions {
  config?: Partial<GatewayConfig>;
  now?: () => Date;
  /** under which the gateway connects; postroom_actor takes the wall of row-level security away */
  role?: DatabaseRole;
  /** the port through which the gateway reaches PostgreSQL, instead of the server's own */
  databasePort?: (server: { host: string; port: number }) => Promise<number>;
  /** throws where the process would be killed */
  fault?: NonNullable<GatewayOptions['fault']>;
  /** where the gateway finds a sending actor of this process */
  localSending?: LocalSending;
  /** time limit of a request; milliseconds, a minute by default */
  respondWithinMs?: number;
  /** checks outgoing mail, as with SCAN_OUTGOING */
  scanOutgoing?: NonNullable<GatewayOptions['scanOutgoing']>;
}

export async function openTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const testDatabase = await createTestDatabase();
  const actor = testDatabase.open('postroom_actor');
  const owner = testDatabase.open(null);
  const database = await openGatewayDatabase(testDatabase, options);
  const bus = createInProcessBus();
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const gatewayOptions: GatewayOptions = {
    database,
    authDatabase: testDatabase.open('postroom_auth'),
    bus,
    log,
    ...(options.now === undefined ? {} : { now: options.now }),
    ...(options.localSending === undefined ? {} : { localSending: options.localSending }),
    ...(options.scanOutgoing === undefined ? {} : { scanOutgoing: options.scanOutgoing }),
    ...(options.fault === undefined ? {} : { fault: options.fault }),
    // On a machine with other work every request may take ten times as long. Where PostgreSQL fails, the limit itself is what is tested.
    ...(options.databasePort === undefined ? { respondWithinMs: options.respondWithinMs ?? 60_000 } : {}),
    config: testConfig(options.config),
  };
  const app = await createGateway(gatewayOptions);
  const call = readCaller(app);
  let mailboxes = 0;

  return {
    app,
    actor,
    owner,
    database,
    url: testDatabase.url,
    bus,
    logged,
    mailbox: (given = {}) => {
      const domain = given.domain ?? `box${mailboxes++}.test`;
      return createMailbox(owner, { address: `hello@${domain}`, ...given, domain });
    },
    call,
    payloads: createPayloadRunner({ ...gatewayOptions, random: randomBytes }),
    graphql: (key, query, variables) => call(key, 'POST', '/graphql', { query, variables }),
    async beside() {
      const other = await createGateway({
        ...gatewayOptions,
        database: testDatabase.open(options.role ?? 'postroom_gateway'),
        authDatabase: testDatabase.open('postroom_auth'),
      });
      return { app: other, call: readCaller(other) };
    },
    async close() {
      const closed = app.close();
      // Otherwise it waits up to 72 s for a client that keeps its connection.
      app.server.closeAllConnections();
      await closed;
      await bus.close();
      if (options.databasePort !== undefined) await database.close();
      await testDatabase.drop();
    },
  };
}

function testConfig(given: Partial<GatewayConfig> = {}): GatewayConfig {
  return {
    publicUrl: 'http://postroom.test',
    unsubscribeUrl: 'https://postroom.test',
    mailHostname: 'mx.postroom.test',
    smtp: { host: 'smtp.postroom.test', port: 2525 },
    version: '1.2.3',
    trustedDomains: ['inbox.test', 'second.test'],
    secretKey: randomBytes(32),
    rateLimitPerSecond: 0,
    requestLimitStore: 'memory',
    sendLimitPerHour: 0,
    streamLimitPerUser: 200,
    // Its lists would change with every request of a test.
    requestLog: 'off',
    hasGuardModel: false,
    hasSpamFilter: true,
    allowedPrivateNetworks: ['127.0.0.0/8'],
    ownPorts: [2525],
    isSignUpOpen: true,
    systemMailFrom: 'postroom@mx.postroom.test',
    trustedProxies: [],
    ...given,
  };
}

/** A gateway that reaches no database: for its routes and its OpenAPI document. */
export async function openRoutesOnly(): Promise<FastifyInstance> {
  const url = 'postgresql://nobody@127.0.0.1:1/nothing';
  const database = openDatabase({ url, role: null, poolSize: 1, applicationName: 'test', onError: () => undefined });
  const log = pino({ level: 'silent' });
  return createGateway({ database, authDatabase: database, bus: createInProcessBus(), log, config: testConfig() });
}

function readCaller(app: FastifyInstance): TestGateway['call'] {
  return (key, method, path, body, headers = {}) =>
    app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: path.startsWith('/graphql') ? path : `/api/e2${path}`,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
}

async function openGatewayDatabase(testDatabase: TestDatabase, options: TestGatewayOptions): Promise<Database> {
  const { role = 'postroom_gateway' } = options;
  if (options.databasePort === undefined) return testDatabase.open(role);
  const url = new URL(testDatabase.readUrl(role));
  const host = url.searchParams.get('host') ?? url.hostname;
  url.port = String(await options.databasePort({ host, port: Number(url.port) }));
  return openDatabase({
    url: url.href,
    role,
    poolSize: 6,
    applicationName: 'test',
    onError: () => undefined,
  });
}
