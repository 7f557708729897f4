import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Config, ConfigError, isLoopback, readConfig } from '../../bin/config.ts';
import { defaultDoor } from '../../haraka-plugins/settings.ts';

const key = Buffer.alloc(32, 7).toString('base64url');

test('an empty environment gives the defaults of the table', () => {
  const config = readConfig({});
  expect(config).toEqual({
    host: '127.0.0.1',
    httpPort: 3000,
    smtpPort: 2525,
    submissionPort: null,
    submissionsPort: null,
    dataDirectory: './data',
    databaseUrl: null,
    natsUrl: null,
    secretKey: null,
    previousSecretKey: null,
    smtpProcesses: 1,
    unsubscribeUrl: null,
    publicUrl: 'http://localhost:3000',
    mailHostname: 'localhost',
    dnsServers: [],
    validatingResolvers: [],
    trustedDomains: ['inbox.test', '*.inbox.test'],
    isLocalOnly: true,
    openForLocal: ['SIGN_UP', 'TRUSTED_DOMAINS', 'ALLOWED_PRIVATE_NETWORKS'],
    printsSecrets: null,
    outboundRelayUrl: null,
    outboundPort: 25,
    inboundSmtp: { host: '127.0.0.1', port: 2525 },
    allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'],
    rateLimitPerSecond: 100,
    sendLimitPerHour: 0,
    approvalDays: 7,
    agentSignUpDomain: null,
    auditDays: 400,
    auditReads: false,
    requestLog: 'on',
    streamLimitPerUser: 200,
    forwardLimitPerHour: 1_000,
    retention: { rawDays: null, bodyDays: null, metadataDays: null },
    isSignUpOpen: true,
    oidc: null,
    systemMailFrom: 'postroom@localhost',
    trustedProxies: [],
    smtpProxies: [],
    guardModel: null,
    scanners: { spam: null, virus: null },
    scansOutgoing: false,
    webhookCaFile: null,
    outboundCaFile: null,
    logLevel: 'info',
    isLogLevelChosen: false,
    logFormat: 'auto',
    parseWorkers: 1,
    mtaStsMode: 'testing',
    sendsTlsReports: false,
    smtpTls: null,
    httpConnections: 5_000,
    httpConnectionsPerAddress: 256,
    httpConnectionsPerMinute: 6_000,
    smtpLimits: {
      connections: 10_000,
      connectionsPerAddress: 50,
      commandSeconds: 60,
      unknownRecipients: 20,
      freeUnknownRecipients: 5,
    },
    door: defaultDoor,
    dmarc: { enforcement: 'off', trustedForwarders: [] },
    monitoring: { host: '127.0.0.1', port: 9464, isAskedFor: false },
    drainDelaySeconds: 0,
    tracing: null,
    allowUnsafeWrites: false,
    busSocket: null,
    fault: null,
  } satisfies Config);
});

test('an empty value counts as absent', () => {
  expect(readConfig({ HTTP_PORT: '', DATABASE_URL: '', DNS_SERVERS: '' })).toEqual(readConfig({}));
});

test.each<[Record<string, string>, Partial<Config>]>([
  [{ HTTP_PORT: '8080' }, { httpPort: 8080, publicUrl: 'http://localhost:8080' }],
  [{ PUBLIC_URL: 'https://mail.example.com/' }, { publicUrl: 'https://mail.example.com' }],
  [{ DNS_SERVERS: '127.0.0.1:5353, [::1]:53' }, { dnsServers: ['127.0.0.1:5353', '[::1]:53'] }],
  [{ SMTP_PROXIES: '192.0.2.1, 2001:db8::/32' }, { smtpProxies: ['192.0.2.1', '2001:db8::/32'] }],
  [{ TRUSTED_DOMAINS: 'a.test,*.b.test' }, { trustedDomains: ['a.test', '*.b.test'] }],
  [{ HOST: '0.0.0.0' }, { host: '0.0.0.0', allowedPrivateNetworks: [] }],
  [{ HOST: '0.0.0.0', ALLOWED_PRIVATE_NETWORKS: '10.0.0.0/8' }, { allowedPrivateNetworks: ['10.0.0.0/8'] }],
  [{ HOST: '0.0.0.0', SMTP_PORT: '25' }, { inboundSmtp: { host: '127.0.0.1', port: 25 } }],
  [{ INBOUND_SMTP: 'smtp.internal:2525' }, { inboundSmtp: { host: 'smtp.internal', port: 2525 } }],
  [{ INBOUND_SMTP: '[::1]:25' }, { inboundSmtp: { host: '::1', port: 25 } }],
  [{ HOST: '::1' }, { allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'] }],
  [{ MAIL_HOSTNAME: 'MX.Example.com' }, { mailHostname: 'mx.example.com' }],
  [
    { RATE_LIMIT_PER_SECOND: '0', SEND_LIMIT_PER_HOUR: '50', STREAM_LIMIT_PER_USER: '10000' },
    { rateLimitPerSecond: 0, sendLimitPerHour: 50, streamLimitPerUser: 10_000 },
  ],
  [{ SECRET_KEY: key }, { secretKey: Buffer.alloc(32, 7) }],
  [
    { DATABASE_URL: 'postgresql://u:p@db/postroom', SECRET_KEY: key },
    { databaseUrl: 'postgresql://u:p@db/postroom', trustedDomains: [], allowedPrivateNetworks: [] },
  ],
  [
    { DATABASE_URL: 'postgresql://u:p@one:5432,two/postroom', SECRET_KEY: key },
    { databaseUrl: 'postgresql://u:p@one:5432,two/postroom' },
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' },
    { tracing: { endpoint: 'http://collector:4318', headers: {}, ratio: 1 } },
  ],
  [
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc==,x-scope=1',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
    },
    {
      tracing: {
        endpoint: 'https://collector/otlp',
        headers: { authorization: 'Bearer abc==', 'x-scope': '1' },
        ratio: 0.05,
      },
    },
  ],
  [
    { NATS_URL: 'nats://127.0.0.1:4222' },
    { natsUrl: 'nats://127.0.0.1:4222', trustedDomains: ['inbox.test', '*.inbox.test'] },
  ],
])('%j is read', (environment, expected) => {
  expect(readConfig(environment)).toMatchObject(expected);
});

test.each([
  ['HOST', 'not a host'],
  ['HTTP_PORT', '0'],
  ['HTTP_PORT', '65536'],
  ['SMTP_PORT', 'smtp'],
  ['DATABASE_URL', 'mysql://db'],
  ['DATABASE_URL', 'postgresql://u:p@one:5432,/postroom'],
  ['DATABASE_URL', 'postgresql://u:p@one:5432,two:port/postroom'],
  ['NATS_URL', '127.0.0.1:4222'],
  ['SECRET_KEY', 'short'],
  ['SMTP_PROCESSES', '0'],
  ['RETENTION_RAW_DAYS', '0'],
  ['RETENTION_BODIES_DAYS', 'for ever'],
  ['PUBLIC_URL', 'mail.example.com'],
  ['MAIL_HOSTNAME', 'mail example'],
  ['DNS_SERVERS', 'dns.example.com:53'],
  ['DNS_SERVERS', '127.0.0.1:99999'],
  ['TRUSTED_DOMAINS', 'ok.test,not ok'],
  ['OUTBOUND_RELAY_URL', 'http://relay'],
  ['OUTBOUND_PORT', '-1'],
  ['ALLOWED_PRIVATE_NETWORKS', '10.0.0.0/33'],
  ['RATE_LIMIT_PER_SECOND', '1.5'],
  ['SEND_LIMIT_PER_HOUR', 'many'],
  ['STREAM_LIMIT_PER_USER', '0'],
  ['STREAM_LIMIT_PER_USER', '10001'],
  ['LOG_LEVEL', 'loud'],
  ['LOG_FORMAT', 'color'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=%zz'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['PARSE_WORKERS', '0'],
  ['SMTP_TLS_KEY_FILE', 'key.pem'],
])('%s=%s is refused in one line that names the variable', (name, value) => {
  const read = () => readConfig({ [name]: value });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(name);
  expect(read).not.toThrow(/\n/);
});

test('a secret is read from the file that NAME_FILE names, and a file that cannot be used is refused', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'postroom-secrets-'));
  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  try {
    const files = {
      SECRET_KEY_FILE: write('key', `${key}\n`),
      DATABASE_URL_FILE: write('url', 'postgresql://db/postroom\r\n'),
    };
    const { secretKey, databaseUrl } = readConfig(files);
    expect(Buffer.from(secretKey ?? []).toString('base64url')).toBe(key);
    expect(databaseUrl).toBe('postgresql://db/postroom');
    expect(() => readConfig({ ...files, SECRET_KEY: key })).toThrow('SECRET_KEY and SECRET_KEY_FILE are both set');
    expect(() => readConfig({ SECRET_KEY_FILE: folder })).toThrow(/^SECRET_KEY_FILE: \S+ cannot be read \(EISDIR\)$/);
    expect(() => readConfig({ SECRET_KEY_FILE: write('empty', '\n') })).toThrow(/^SECRET_KEY_FILE: \S+ is empty$/);
    expect(() => readConfig({ SECRET_KEY_FILE: write('short', 'tooshort') })).toThrow(/^SECRET_KEY must be 32 bytes/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const OPEN = {
  isLocalOnly: true,
  isSignUpOpen: true,
  allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'],
  trustedDomains: ['inbox.test', '*.inbox.test'],
};
const CLOSED = { isLocalOnly: false, isSignUpOpen: false, allowedPrivateNetworks: [], trustedDomains: [] };

test.each<Record<string, string>>([
  {},
  { HOST: '127.0.0.2' },
  { HOST: '::1', PUBLIC_URL: 'http://[::1]:3000' },
  { HOST: 'localhost', PUBLIC_URL: 'https://localhost:8443' },
  { PUBLIC_URL: 'http://127.0.0.1:3000/' },
  { MAIL_HOSTNAME: 'mx.example.com' },
])('%j is reached by this machine only, and its defaults are open', (environment) => {
  expect(readConfig(environment)).toMatchObject(OPEN);
});

test.each<Record<string, string>>([
  { HOST: '0.0.0.0' },
  { HOST: '::' },
  { HOST: '192.0.2.1' },
  { PUBLIC_URL: 'https://mail.example.com' },
  { PUBLIC_URL: 'http://localhost.example.com' },
  { PUBLIC_URL: 'http://127.0.0.1.example.com' },
  { PUBLIC_URL: 'http://192.0.2.1:3000' },
  { TRUSTED_PROXIES: '127.0.0.1' },
  { TRUSTED_PROXIES: '::1' },
  { SMTP_PROXIES: '10.0.0.0/8' },
  { PUBLIC_URL: 'https://mail.example.com', TRUSTED_PROXIES: '127.0.0.1' },
  { DATABASE_URL: 'postgresql://u:p@db/postroom', SECRET_KEY: key },
])('%j is reached by other machines, and its defaults are closed', (environment) => {
  expect(readConfig(environment)).toMatchObject(CLOSED);
});

test('an explicit setting applies even if other machines reach the service', () => {
  const chosen = { SIGN_UP: 'on', ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8', TRUSTED_DOMAINS: 'inbox.test' };
  expect(readConfig({ ...chosen, TRUSTED_PROXIES: '127.0.0.1' })).toMatchObject({
    isLocalOnly: false,
    isSignUpOpen: true,
    allowedPrivateNetworks: ['127.0.0.0/8'],
    trustedDomains: ['inbox.test'],
  });
  expect(readConfig({ SIGN_UP: 'off' })).toMatchObject({
    isLocalOnly: true,
    isSignUpOpen: false,
    openForLocal: ['TRUSTED_DOMAINS', 'ALLOWED_PRIVATE_NETWORKS'],
  });
});

test('an external database requires SECRET_KEY', () => {
  expect(() => readConfig({ DATABASE_URL: 'postgresql://u:p@db/postroom' })).toThrow(/^SECRET_KEY is required/);
});

test("an SMTP proxy on this machine requires INBOUND_SMTP, because the service's own mail goes through it", () => {
  for (const proxies of ['127.0.0.1', '10.1.2.3,127.0.0.0/8'])
    expect(() => readConfig({ SMTP_PROXIES: proxies })).toThrow(/^INBOUND_SMTP is required/);
  expect(readConfig({ SMTP_PROXIES: '127.0.0.1', INBOUND_SMTP: '127.0.0.1:25' }).inboundSmtp.port).toBe(25);
  expect(readConfig({ SMTP_PROXIES: '10.0.0.0/8' }).smtpProxies).toEqual(['10.0.0.0/8']);
});

test('the error for a possibly secret value does not repeat it', () => {
  expect(() => readConfig({ SECRET_KEY: 'hunter2' })).not.toThrow(/hunter2/);
  expect(() => readConfig({ DATABASE_URL: 'mysql://u:hunter2@db' })).not.toThrow(/hunter2/);
});

test.each([
  ['127.0.0.1', true],
  ['127.8.9.1', true],
  ['::1', true],
  ['[::1]', true],
  ['::ffff:127.0.0.1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['localhost.example.com', false],
])('isLoopback(%s) is %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

const PROVIDER = {
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_CLIENT_ID: 'postroom',
  OIDC_CLIENT_SECRET: 'secret',
  OIDC_DOMAINS: 'example.com',
};

test('reads which groups of the provider of the service have which role in which workspace', () => {
  expect(readConfig(PROVIDER).oidc).toMatchObject({ joins: null });
  const more = { OIDC_WORKSPACE: 'Boss@example.com', OIDC_GROUP_ROLES: 'cn=ops=admin, Support staff =agent' };
  expect(readConfig({ ...PROVIDER, ...more }).oidc?.joins).toEqual({
    ownerEmail: 'boss@example.com',
    groupRoles: [
      { group: 'cn=ops', role: 'admin' },
      { group: 'Support staff', role: 'agent' },
    ],
  });
});

test.each<[Record<string, string>, RegExp]>([
  [{ ...PROVIDER, OIDC_WORKSPACE: 'boss@example.com' }, /OIDC_WORKSPACE and OIDC_GROUP_ROLES must be set together/],
  [{ ...PROVIDER, OIDC_GROUP_ROLES: 'a=admin' }, /OIDC_WORKSPACE and OIDC_GROUP_ROLES must be set together/],
  [
    { OIDC_WORKSPACE: 'boss@example.com', OIDC_GROUP_ROLES: 'a=admin' },
    /OIDC_GROUP_ROLES needs OIDC_ISSUER, OIDC_CLIENT_ID/,
  ],
  [
    { ...PROVIDER, OIDC_WORKSPACE: 'boss@example.com', OIDC_GROUP_ROLES: 'a=owner' },
    /with the roles admin, developer, agent, viewer/,
  ],
  [{ ...PROVIDER, OIDC_WORKSPACE: 'boss', OIDC_GROUP_ROLES: 'a=admin' }, /address of the owner/],
  [{ OIDC_REQUIRED: 'on' }, /OIDC_REQUIRED needs OIDC_ISSUER/],
  [{ OIDC_ISSUER: 'https://id.example.com' }, /must be set together; OIDC_CLIENT_ID/],
])('refuses %o', (environment, message) => {
  expect(() => readConfig(environment)).toThrow(message);
});
