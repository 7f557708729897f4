import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { DEFAULT_AUDIT_DAYS, MAX_AUDIT_DAYS } from '../core/accounts/audit.ts';
import { REQUEST_LOG_LEVELS, type RequestLogLevel } from '../core/accounts/logged-request.ts';
import { MTA_STS_MODES, type MtaStsMode } from '../core/domains/mta-sts.ts';
import { DMARC_ENFORCEMENTS, type DmarcRules } from '../core/screening/door/dmarc-enforcement.ts';
import { type ScannerOptions, VIRUS_ACTIONS } from '../core/screening/scanner-options.ts';
import { DEFAULT_APPROVAL_DAYS, MAX_APPROVAL_DAYS } from '../core/sending/approval.ts';
import { keepPreviousKey } from '../core/shared/previous-key.ts';
import { checkRetention, MAX_RETENTION_DAYS, type Retention } from '../core/upkeep/retention.ts';
import { listUrls } from '../db/connection/database-hosts.ts';
import type { LocalSetting } from '../gateway/admission/forwarded-requests.ts';
import type { ServiceProvider } from '../gateway/gateway-config.ts';
import type { DoorSettings } from '../haraka-plugins/settings.ts';
import type { Environment } from './environment.ts';
import { findProviderFault, readServiceProvider, scannerOptions } from './runner/composed-settings.ts';
import {
  addresses,
  decimal,
  groupRoles,
  hostAndPort,
  hostAndPortOrPath,
  hostName,
  isDnsServer,
  isNetwork,
  isWithin,
  listenHost,
  listNames,
  lowerHostName,
  pairs,
  port,
  readList,
  readUrl,
  refusal,
  scannerUrl,
  secretKeyText,
  share,
  whenAway,
  wholeNumber,
} from './runner/environment-values.ts';
import { readSecretFiles } from './runner/secret-files.ts';

/** Settings of the process, read once at start. Defaults that depend on other values are filled in. */
export interface Config {
  host: string;
  httpPort: number;
  smtpPort: number;
  /** ports on which clients submit mail, with STARTTLS and with TLS from the start; null: none */
  submissionPort: number | null;
  submissionsPort: number | null;
  dataDirectory: string;
  /** null: the runner starts the embedded PostgreSQL */
  databaseUrl: string | null;
  /** one URL or several separated by commas; null: the actors share a bus within the process */
  natsUrl: string | null;
  /** 32 bytes; null: DATA_DIR/secrets.json contains it */
  secretKey: Uint8Array | null;
  /** the key that SECRET_KEY replaces, which still decrypts; null: none */
  previousSecretKey: Uint8Array | null;
  smtpProcesses: number;
  /** without a trailing slash */
  publicUrl: string;
  /** base of links in List-Unsubscribe; null without a PUBLIC_URL that is https, or on this machine */
  unsubscribeUrl: string | null;
  mailHostname: string;
  /** `host:port` each; empty: the system's resolver */
  dnsServers: string[];
  /** `host:port` of resolvers whose DNSSEC validation is trusted, for DANE; empty: DANE is not used */
  validatingResolvers: string[];
  trustedDomains: string[];
  /**
   * Whether only this machine can reach the service: PostgreSQL is embedded, HOST and the host of PUBLIC_URL are loopback, and no
   * proxy is configured. Only then are sign-up, loopback networks and `inbox.test` open by default.
   */
  isLocalOnly: boolean;
  /** whether the first start prints the key and the link of its account, or stores them in a file; null: prints them on a terminal */
  printsSecrets: boolean | null;
  /** settings that have their open default because of that */
  openForLocal: readonly LocalSetting[];
  outboundRelayUrl: string | null;
  outboundPort: number;
  /** SMTP server that accepts mail for domains of this service */
  inboundSmtp: { host: string; port: number };
  /** private networks (CIDRs) that webhooks and outbound SMTP may reach */
  allowedPrivateNetworks: string[];
  rateLimitPerSecond: number;
  sendLimitPerHour: number;
  /** days that mail waits for approval at most */
  approvalDays: number;
  /** days that entries of the audit log are kept */
  auditDays: number;
  /** whether the audit log has who reads which email */
  auditReads: boolean;
  /** what the gateway logs of requests with API keys */
  requestLog: RequestLogLevel;
  /** open streams and waits of one user on one gateway */
  streamLimitPerUser: number;
  /** copies of received mail that one user's endpoints forward; 0: no limit */
  forwardLimitPerHour: number;
  /** retention of users without their own values */
  retention: Retention;
  /** whether every visitor of the dashboard may create an account */
  isSignUpOpen: boolean;
  agentSignUpDomain: string | null;
  /** the single sign-on of the service; null: none */
  oidc: ServiceProvider | null;
  /** sender address of the service's own mail */
  systemMailFrom: string;
  /** addresses and CIDRs of proxies whose X-Forwarded-For is trusted */
  trustedProxies: string[];
  /** connections to one gateway */
  httpConnections: number;
  /** connections of one IPv4 address or IPv6 /64 to one gateway */
  httpConnectionsPerAddress: number;
  httpConnectionsPerMinute: number;
  /** addresses and CIDRs of proxies whose SMTP connections begin with a PROXY protocol line */
  smtpProxies: string[];
  /** OpenAI-compatible interface that guard rules of type ai_prompt ask; null: there are no such rules */
  guardModel: { url: string; key: string | null; name: string } | null;
  /** rspamd and clamd; null: mail is not checked by it */
  scanners: ScannerOptions;
  /** whether clamd also checks mail that users send */
  scansOutgoing: boolean;
  /** PEM file of certificate authorities that webhook endpoints may use besides the public ones; null: the public ones only */
  webhookCaFile: string | null;
  /** PEM file of certificate authorities that mail servers and MTA-STS policy hosts may use besides the public ones */
  outboundCaFile: string | null;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** whether LOG_LEVEL is set */
  isLogLevelChosen: boolean;
  /** auto: pretty if stdout is a terminal, else json */
  logFormat: 'auto' | 'json' | 'pretty';
  /** worker threads of each parser */
  parseWorkers: number;
  /** Unix socket of the runner's bus, given by the runner to its SMTP processes; null elsewhere */
  busSocket: string | null;
  /** mode of the MTA-STS policies of all domains */
  mtaStsMode: MtaStsMode;
  /** whether other domains are told about TLS with their mail servers */
  sendsTlsReports: boolean;
  /** PEM files for STARTTLS; null: a self-signed certificate */
  smtpTls: { keyPath: string; certPath: string } | null;
  /** of one SMTP process: connections in all, from one IPv4 address or IPv6 /64, and seconds a command may take */
  smtpLimits: {
    connections: number;
    connectionsPerAddress: number;
    commandSeconds: number;
    unknownRecipients: number;
    freeUnknownRecipients: number;
  };
  /** what SMTP refuses before a message is accepted */
  door: DoorSettings;
  /** what is done about received mail that fails DMARC */
  dmarc: DmarcRules;
  /** where the process serves /metrics, /health and /ready; null: nowhere. The default port may be taken by another process */
  monitoring: { host: string; port: number; isAskedFor: boolean } | null;
  /** seconds that a stopping process keeps working while it reports that it is not ready */
  drainDelaySeconds: number;
  /** where traces go by OTLP over HTTP, without /v1/traces, and the share of them from 0 to 1; null: nowhere */
  tracing: { endpoint: string; headers: Record<string, string>; ratio: number } | null;
  /** whether PostgreSQL may run with fsync, full_page_writes or synchronous_commit off, for tests */
  allowUnsafeWrites: boolean;
  /** the point at which `fault` ends the process, for tests; null: none */
  fault: string | null;
}

/** An invalid setting. The message is one line that names the variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * Reads every variable that docs/settings.md lists, and the files of secrets. An empty value counts as absent. Values that may be secret are
 * never repeated.
 * Throws ConfigError naming each invalid variable.
 */
export function readConfig(env: Environment): Config {
  const given = Object.entries(env).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const parsed = environment.safeParse(readSecretFiles(Object.fromEntries(given), (reason) => new ConfigError(reason)));
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new ConfigError([...new Set(lines)].join('; '));
  }
  const values = parsed.data;
  const isSingleMachine = values.DATABASE_URL === undefined;
  if (!isSingleMachine && values.SECRET_KEY === undefined)
    throw new ConfigError(
      'SECRET_KEY is required with DATABASE_URL: 32 bytes in base64url, the same for every process',
    );
  if (values.SECRET_KEY_PREVIOUS !== undefined && values.SECRET_KEY === undefined)
    throw new ConfigError('SECRET_KEY_PREVIOUS needs SECRET_KEY, the key that replaces it');
  if ((values.SMTP_TLS_KEY_FILE === undefined) !== (values.SMTP_TLS_CERT_FILE === undefined))
    throw new ConfigError('SMTP_TLS_KEY_FILE and SMTP_TLS_CERT_FILE must be set together');
  if (values.INBOUND_SMTP === undefined && isWithin(values.SMTP_PROXIES, connectableHost(values.HOST)))
    throw new ConfigError(
      'INBOUND_SMTP is required because SMTP_PROXIES contains HOST: set it to the address of the proxy, which accepts mail for domains of this service',
    );
  const ports = [values.SMTP_PORT, values.SUBMISSION_PORT, values.SUBMISSIONS_PORT].filter(
    (each) => each !== undefined,
  );
  if (new Set(ports).size < ports.length)
    throw new ConfigError('SMTP_PORT, SUBMISSION_PORT and SUBMISSIONS_PORT must differ');
  const providerFault = findProviderFault(values);
  if (providerFault !== null) throw new ConfigError(providerFault);
  const publicUrl = values.PUBLIC_URL ?? `http://localhost:${values.HTTP_PORT}`;
  const isLocalOnly =
    isSingleMachine &&
    isLoopback(values.HOST) &&
    isLoopback(new URL(publicUrl).hostname) &&
    values.TRUSTED_PROXIES.length === 0 &&
    values.SMTP_PROXIES.length === 0;
  return {
    host: values.HOST,
    httpPort: values.HTTP_PORT,
    smtpPort: values.SMTP_PORT,
    submissionPort: values.SUBMISSION_PORT ?? null,
    submissionsPort: values.SUBMISSIONS_PORT ?? null,
    dataDirectory: values.DATA_DIR,
    databaseUrl: values.DATABASE_URL ?? null,
    natsUrl: values.NATS_URL ?? null,
    secretKey:
      values.SECRET_KEY === undefined ? null : keepPreviousKey(values.SECRET_KEY, values.SECRET_KEY_PREVIOUS ?? null),
    previousSecretKey: values.SECRET_KEY_PREVIOUS ?? null,
    smtpProcesses: values.SMTP_PROCESSES,
    publicUrl,
    unsubscribeUrl: findUnsubscribeUrl(values.PUBLIC_URL),
    mailHostname: values.MAIL_HOSTNAME,
    dnsServers: values.DNS_SERVERS,
    validatingResolvers: values.VALIDATING_RESOLVERS,
    trustedDomains: values.TRUSTED_DOMAINS ?? (isLocalOnly ? [FIRST_DOMAIN, `*.${FIRST_DOMAIN}`] : []),
    isLocalOnly,
    printsSecrets: values.PRINT_SECRETS === undefined ? null : values.PRINT_SECRETS === 'on',
    openForLocal: isLocalOnly ? LOCAL_SETTINGS.filter((name) => values[name] === undefined) : [],
    outboundRelayUrl: values.OUTBOUND_RELAY_URL ?? null,
    outboundPort: values.OUTBOUND_PORT,
    inboundSmtp: values.INBOUND_SMTP ?? { host: connectableHost(values.HOST), port: values.SMTP_PORT },
    allowedPrivateNetworks: values.ALLOWED_PRIVATE_NETWORKS ?? (isLocalOnly ? [...LOOPBACK_NETWORKS] : []),
    rateLimitPerSecond: values.RATE_LIMIT_PER_SECOND,
    sendLimitPerHour: values.SEND_LIMIT_PER_HOUR,
    approvalDays: values.APPROVAL_DAYS,
    auditDays: values.AUDIT_DAYS,
    auditReads: values.AUDIT_READS === 'on',
    requestLog: values.REQUEST_LOG,
    streamLimitPerUser: values.STREAM_LIMIT_PER_USER,
    forwardLimitPerHour: values.FORWARD_LIMIT_PER_HOUR,
    retention: toRetention(values),
    isSignUpOpen: values.SIGN_UP === undefined ? isLocalOnly : values.SIGN_UP === 'on',
    agentSignUpDomain: values.AGENT_SIGN_UP_DOMAIN ?? null,
    oidc: readServiceProvider(values),
    systemMailFrom: values.SYSTEM_MAIL_FROM ?? `postroom@${values.MAIL_HOSTNAME}`,
    trustedProxies: values.TRUSTED_PROXIES,
    httpConnections: values.HTTP_MAX_CONNECTIONS,
    httpConnectionsPerAddress: values.HTTP_MAX_CONNECTIONS_PER_ADDRESS,
    httpConnectionsPerMinute: values.HTTP_CONNECTIONS_PER_MINUTE,
    smtpProxies: values.SMTP_PROXIES,
    guardModel:
      values.GUARD_MODEL_URL === undefined
        ? null
        : { url: values.GUARD_MODEL_URL, key: values.GUARD_MODEL_KEY ?? null, name: values.GUARD_MODEL_NAME },
    scanners: readScanners(values),
    scansOutgoing: values.SCAN_OUTGOING === 'on',
    webhookCaFile: values.WEBHOOK_CA_FILE ?? null,
    outboundCaFile: values.OUTBOUND_CA_FILE ?? null,
    logLevel: values.LOG_LEVEL ?? 'info',
    isLogLevelChosen: values.LOG_LEVEL !== undefined,
    logFormat: values.LOG_FORMAT,
    parseWorkers: values.PARSE_WORKERS,
    busSocket: values.BUS_SOCKET ?? null,
    mtaStsMode: values.MTA_STS_MODE,
    sendsTlsReports: values.TLS_REPORTS === 'on',
    smtpTls:
      values.SMTP_TLS_KEY_FILE === undefined || values.SMTP_TLS_CERT_FILE === undefined
        ? null
        : { keyPath: values.SMTP_TLS_KEY_FILE, certPath: values.SMTP_TLS_CERT_FILE },
    smtpLimits: {
      connections: values.SMTP_MAX_CONNECTIONS,
      connectionsPerAddress: values.SMTP_MAX_CONNECTIONS_PER_ADDRESS,
      commandSeconds: values.SMTP_COMMAND_SECONDS,
      unknownRecipients: values.SMTP_MAX_UNKNOWN_RECIPIENTS,
      freeUnknownRecipients: values.SMTP_FREE_UNKNOWN_RECIPIENTS,
    },
    door: {
      trustedNetworks: values.SMTP_TRUSTED_NETWORKS,
      refusesEarlyTalkers: values.SMTP_EARLY_TALKERS === 'refuse',
      greetingDelayMs: values.SMTP_GREETING_DELAY_MS,
      refusesOwnName: values.SMTP_OWN_NAME === 'refuse',
      checksSenderDomain: values.SMTP_SENDER_DOMAIN === 'refuse',
      blockLists: values.DNS_BLOCK_LISTS,
      allowLists: values.DNS_ALLOW_LISTS,
      greylistSeconds: values.GREYLIST_SECONDS === 0 ? null : values.GREYLIST_SECONDS,
      connectionsPerMinute: values.SMTP_CONNECTIONS_PER_MINUTE,
      messagesPerMinute: values.SMTP_MESSAGES_PER_MINUTE,
      dnsServers: values.DNS_SERVERS,
    },
    dmarc: { enforcement: values.DMARC_ENFORCE, trustedForwarders: values.ARC_TRUSTED_FORWARDERS },
    monitoring:
      values.METRICS_PORT === 0
        ? null
        : {
            host: values.METRICS_HOST,
            port: values.METRICS_PORT ?? METRICS_PORT,
            isAskedFor: values.METRICS_PORT !== undefined,
          },
    drainDelaySeconds: values.DRAIN_DELAY_SECONDS,
    tracing:
      values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? null
        : {
            endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
            headers: values.OTEL_EXPORTER_OTLP_HEADERS,
            ratio: values.OTEL_TRACES_SAMPLER_ARG,
          },
    allowUnsafeWrites: values.ALLOW_UNSAFE_WRITES,
    fault: values.FAULT ?? null,
  };
}

function readScanners(values: z.infer<typeof environment>): ScannerOptions {
  if (values.CLAMD_ADDRESS === undefined && values.SCAN_OUTGOING === 'on')
    throw new ConfigError('SCAN_OUTGOING needs CLAMD_ADDRESS: without clamd, no mail is checked for viruses');
  return scannerOptions(values);
}

/** RFC 8058 §3.1 demands https. On this machine, http is for trying it out. */
function findUnsubscribeUrl(publicUrl: string | undefined): string | null {
  if (publicUrl === undefined) return null;
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'https:' || isLoopback(hostname) ? publicUrl : null;
}

function toRetention(values: z.infer<typeof environment>): Retention {
  const retention = {
    rawDays: values.RETENTION_RAW_DAYS ?? null,
    bodyDays: values.RETENTION_BODIES_DAYS ?? null,
    metadataDays: values.RETENTION_METADATA_DAYS ?? null,
  };
  const fault = checkRetention(retention);
  if (fault !== null)
    throw new ConfigError(`RETENTION_RAW_DAYS, RETENTION_BODIES_DAYS, RETENTION_METADATA_DAYS: ${fault}`);
  return retention;
}

/** Exit status of a process killed by signal 9, so that an injected fault looks like a real one. */
const KILLED_STATUS = 137;

/** Returns a function that exits the process at the point that FAULT names, and otherwise does nothing. */
export function makeFault(config: Config): (point: string) => void {
  return (point) => {
    if (config.fault === point) process.exit(KILLED_STATUS);
  };
}

const LOCAL_SETTINGS = ['SIGN_UP', 'TRUSTED_DOMAINS', 'ALLOWED_PRIVATE_NETWORKS'] as const satisfies LocalSetting[];
/** First domain of a new account on a local-only machine. */
export const FIRST_DOMAIN = 'inbox.test';
const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128'];

/** Returns whether only this machine reaches that host, which is a name or an address, with the brackets that URLs put around IPv6 or without. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** Default port of /metrics, a Prometheus exporter convention. */
const METRICS_PORT = 9_464;

/** Returns the host by which this machine reaches a listener on `host`. */
export function connectableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

const environment = z.object({
  HOST: listenHost.default('127.0.0.1'),
  HTTP_MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(5_000),
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(1, 100_000).default(256),
  HTTP_CONNECTIONS_PER_MINUTE: wholeNumber(0, 1_000_000).default(6_000),
  HTTP_PORT: port.default(3000),
  SMTP_PORT: port.default(2525),
  SUBMISSION_PORT: port.optional(),
  SUBMISSIONS_PORT: port.optional(),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: z
    .string()
    .refine((value) => listUrls(value).every((url) => readUrl('postgresql:', 'postgres:').safeParse(url).success), {
      error:
        'must be a URL that begins with postgresql:// or postgres://; separate several hosts by commas: one:5432,two:5432',
    })
    .optional(),
  NATS_URL: z
    .string()
    .refine((value) => value.split(',').every((url) => readUrl('nats:', 'tls:').safeParse(url).success), {
      error: 'must be a comma-separated list of URLs that begin with nats:// or tls://',
    })
    .optional(),
  SECRET_KEY: secretKeyText.optional(),
  SECRET_KEY_PREVIOUS: secretKeyText.optional(),
  SMTP_PROCESSES: wholeNumber(1, 64).default(1),
  PUBLIC_URL: readUrl('http:', 'https:')
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  MAIL_HOSTNAME: lowerHostName.default('localhost'),
  DNS_SERVERS: readList(isDnsServer, 'host:port, each host an IP address').default([]),
  VALIDATING_RESOLVERS: readList(isDnsServer, 'host:port, each host an IP address').default([]),
  TRUSTED_DOMAINS: readList(
    (item) => hostName.test(item.replace(/^\*\./, '')),
    'domains in lower case, or *.example.com for every name one label below',
  ).optional(),
  OUTBOUND_RELAY_URL: readUrl('smtp:', 'smtps:').optional(),
  OUTBOUND_PORT: port.default(25),
  INBOUND_SMTP: hostAndPort.optional(),
  ALLOWED_PRIVATE_NETWORKS: readList(isNetwork, 'networks such as 10.0.0.0/8').optional(),
  RATE_LIMIT_PER_SECOND: wholeNumber(0, 1_000_000).default(100),
  SEND_LIMIT_PER_HOUR: wholeNumber(0, 100_000_000).default(0),
  REQUEST_LOG: z.enum(REQUEST_LOG_LEVELS, `must be ${REQUEST_LOG_LEVELS.join(', ')}`).default('on'),
  AUDIT_DAYS: wholeNumber(1, MAX_AUDIT_DAYS).default(DEFAULT_AUDIT_DAYS),
  AUDIT_READS: z.enum(['on', 'off'], 'must be on or off').default('off'),
  APPROVAL_DAYS: wholeNumber(1, MAX_APPROVAL_DAYS).default(DEFAULT_APPROVAL_DAYS),
  STREAM_LIMIT_PER_USER: wholeNumber(1, 10_000).default(200),
  FORWARD_LIMIT_PER_HOUR: wholeNumber(0, 100_000_000).default(1_000),
  RETENTION_RAW_DAYS: wholeNumber(1, MAX_RETENTION_DAYS).optional(),
  RETENTION_BODIES_DAYS: wholeNumber(1, MAX_RETENTION_DAYS).optional(),
  RETENTION_METADATA_DAYS: wholeNumber(1, MAX_RETENTION_DAYS).optional(),
  SIGN_UP: z.enum(['on', 'off'], { error: 'must be on or off' }).optional(),
  AGENT_SIGN_UP_DOMAIN: lowerHostName.optional(),
  OIDC_ISSUER: readUrl('http:', 'https:')
    .refine((value) => value.startsWith('https:') || isLoopback(new URL(value).hostname), {
      error: 'must be an https URL; http is permitted for localhost only',
    })
    .optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_DOMAINS: readList((item) => hostName.test(item), 'domains in lower case').optional(),
  OIDC_TRUST_ADDRESSES: z.enum(['on', 'off'], { error: 'must be on or off' }).default('off'),
  OIDC_REQUIRED: z.enum(['on', 'off'], { error: 'must be on or off' }).default('off'),
  OIDC_WORKSPACE: z.email('must be the address of the owner of a workspace').toLowerCase().optional(),
  OIDC_GROUP_ROLES: groupRoles.optional(),
  SYSTEM_MAIL_FROM: z.email('must be an address such as postroom@example.com').max(254).optional(),
  TRUSTED_PROXIES: addresses.default([]),
  SMTP_EARLY_TALKERS: refusal.default('refuse'),
  SMTP_GREETING_DELAY_MS: wholeNumber(0, 6_000).default(0),
  SMTP_OWN_NAME: refusal.default('refuse'),
  SMTP_SENDER_DOMAIN: refusal.default('accept'),
  SMTP_CONNECTIONS_PER_MINUTE: wholeNumber(0, 1_000_000).default(600),
  SMTP_MESSAGES_PER_MINUTE: wholeNumber(0, 1_000_000).default(1_200),
  DNS_BLOCK_LISTS: listNames.default([]),
  DNS_ALLOW_LISTS: listNames.default([]),
  DMARC_ENFORCE: z.enum(DMARC_ENFORCEMENTS, { error: 'must be off, quarantine or reject' }).default('off'),
  ARC_TRUSTED_FORWARDERS: readList((item) => hostName.test(item), 'host names in lower case').default([]),
  GREYLIST_SECONDS: wholeNumber(0, 86_400).default(0),
  SMTP_PROXIES: addresses.default([]),
  SMTP_TRUSTED_NETWORKS: addresses.default([]),
  GUARD_MODEL_URL: readUrl('http:', 'https:')
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  GUARD_MODEL_KEY: z.string().optional(),
  GUARD_MODEL_NAME: z.string().default('gpt-4o-mini'),
  RSPAMD_URL: scannerUrl.optional(),
  RSPAMD_CONTROLLER_URL: scannerUrl.optional(),
  RSPAMD_CONTROLLER_KEY: z.string().optional(),
  SPAM_REJECT_SCORE: decimal(-1_000, 1_000).optional(),
  SPAM_WHEN_AWAY: whenAway.default('accept'),
  CLAMD_ADDRESS: hostAndPortOrPath.optional(),
  CLAMD_WHEN_AWAY: whenAway.default('accept'),
  VIRUS_ACTION: z.enum(VIRUS_ACTIONS, 'must be refuse or quarantine').default('refuse'),
  SCAN_OUTGOING: z.enum(['on', 'off'], 'must be on or off').default('off'),
  SCAN_TIMEOUT_SECONDS: wholeNumber(1, 15).default(10),
  WEBHOOK_CA_FILE: z.string().optional(),
  OUTBOUND_CA_FILE: z.string().optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .optional(),
  PRINT_SECRETS: z.enum(['on', 'off'], { error: 'must be on or off' }).optional(),
  LOG_FORMAT: z.enum(['auto', 'json', 'pretty'], { error: 'must be auto, json or pretty' }).default('auto'),
  PARSE_WORKERS: wholeNumber(1, 64).default(1),
  SMTP_MAX_CONNECTIONS: wholeNumber(1, 100_000).default(10_000),
  SMTP_MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(1, 100_000).default(50),
  SMTP_MAX_UNKNOWN_RECIPIENTS: wholeNumber(0, 100_000).default(20),
  SMTP_FREE_UNKNOWN_RECIPIENTS: wholeNumber(0, 100_000).default(5),
  SMTP_COMMAND_SECONDS: wholeNumber(1, 3_600).default(60),
  TLS_REPORTS: z.enum(['on', 'off'], { error: 'must be on or off' }).default('off'),
  MTA_STS_MODE: z.enum(MTA_STS_MODES).default('testing'),
  SMTP_TLS_KEY_FILE: z.string().optional(),
  SMTP_TLS_CERT_FILE: z.string().optional(),
  METRICS_HOST: listenHost.default('127.0.0.1'),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  DRAIN_DELAY_SECONDS: wholeNumber(0, 60).default(0),
  OTEL_EXPORTER_OTLP_ENDPOINT: readUrl('http:', 'https:')
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.default({}),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  ALLOW_UNSAFE_WRITES: z.stringbool({ error: 'must be true or false' }).default(false),
  BUS_SOCKET: z.string().optional(),
  FAULT: z.string().optional(),
});
