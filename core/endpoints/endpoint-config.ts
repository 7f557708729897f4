import { z } from 'zod';
import { outgoingMailbox } from '../sending/outgoing-addresses.ts';
import type { AddressGuard } from '../shared/network-address.ts';
import { wellFormedValue } from '../shared/text.ts';
import { checkWebhookUrl } from './webhook-url.ts';

/** Settings of a webhook; stored as endpoint.config. Missing keys have their defaults. */
export interface WebhookConfig {
  url: string;
  /** seconds for the whole attempt, 1 to 300; at most 120 are used */
  timeout: number;
  /** retries after the first attempt, 0 to 10 */
  retryAttempts: number;
  /** custom header fields */
  headers: Record<string, string>;
  /** 64 hex digits */
  verificationToken: string;
  /** value of X-Service-Signature: the token itself, or an HMAC keyed with it */
  signatureScheme: 'token' | 'hmac';
  payload: WebhookPayloadForm;
  /** maximum bytes of a request body, 10,000 to 25,000,000; above it parts are left out (core/endpoints/webhook-payload.ts) */
  maxPayloadOctets: number;
  /** whether attachments are sent with their content if it fits, or only as links */
  attachments: 'content' | 'link';
}

/** Checked input of a user as stored; omitted keys stay missing if their default may change. */
type StoredEndpointConfig = Record<string, unknown>;

type EndpointConfigResult =
  | { config: StoredEndpointConfig; error?: undefined }
  /** the `details` beside `Invalid configuration`, and the invalid field by our name; empty when it is the whole config */
  | { error: string; field: string; config?: undefined };

export const ENDPOINT_TYPES = ['webhook', 'email', 'email_group'] as const;
export type EndpointType = (typeof ENDPOINT_TYPES)[number];

/** Payload of a webhook: our own JSON, a message for a Discord channel (`chat_a`), or for a Slack channel (`chat_b`). */
export const WEBHOOK_FORMATS = ['native', 'chat_a', 'chat_b'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Form of the JSON of webhooks: `resend` is that of the client of this name (core/endpoints/resend-payload.ts). */
export const WEBHOOK_PAYLOAD_FORMS = ['nested', 'flat', 'resend'] as const;
type WebhookPayloadForm = (typeof WEBHOOK_PAYLOAD_FORMS)[number];

interface EndpointConfigOptions {
  guard: AddressGuard;
  /** the endpoint's token: new on creation, kept when the config is replaced */
  verificationToken: string;
}

const DEFAULT_TIMEOUT_SECONDS = 30;
const DEFAULT_RETRY_ATTEMPTS = 3;
/** Fits receivers with common limits of 5 or 6 MB. */
export const DEFAULT_MAX_PAYLOAD_BYTES = 4_000_000;
export const MIN_PAYLOAD_LIMIT_BYTES = 10_000;
export const MAX_PAYLOAD_LIMIT_BYTES = 25_000_000;
const MAX_TIMEOUT_SECONDS = 300;
const MAX_RETRY_ATTEMPTS = 10;
const MAX_GROUP_EMAILS = 50;
/** RFC 5321 §4.5.3.1.3 */
const MAX_ADDRESS_LENGTH = 254;
/** Bytes of a verification token, before hex encoding. */
export const VERIFICATION_TOKEN_BYTES = 32;

/** Checks the config of an endpoint as a user gave it; drops unknown keys. A key that is null counts as missing. */
export function checkEndpointConfig(
  type: EndpointType,
  input: unknown,
  options: EndpointConfigOptions,
): EndpointConfigResult {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { error: 'Configuration must be an object', field: '' };
  const entries = Object.entries(wellFormedValue(input) as Record<string, unknown>);
  const given = Object.fromEntries(entries.filter(([, value]) => value !== null));
  switch (type) {
    case 'webhook':
      return checkWebhook(given, options);
    case 'email':
      return checkEmail(given);
    case 'email_group':
      return checkGroup(given);
  }
}

/** Parses a stored webhook config and adds defaults. Throws ZodError when it is invalid. */
export function readWebhookConfig(stored: unknown): WebhookConfig {
  return storedWebhook.parse(stored);
}

/** Settings of an endpoint that forwards, with defaults. */
interface ForwardingConfig {
  /** one for type email, up to 50 for email_group */
  addresses: string[];
  preserveHeaders: boolean;
  includeAttachments: boolean;
  subjectPrefix: string | null;
  /** on a domain of the user; null: the address that received the mail */
  fromAddress: string | null;
  senderName: string | null;
}

/** Parses a stored config of type email or email_group as the user gave it. Throws ZodError when it is invalid. */
export function readForwardingConfig(stored: unknown): ForwardingConfig {
  const { forwardTo, emails, ...config } = storedForwarding.parse(stored);
  return {
    addresses: emails ?? [forwardTo ?? ''],
    preserveHeaders: config.preserveHeaders ?? false,
    includeAttachments: config.includeAttachments ?? true,
    subjectPrefix: config.subjectPrefix ?? null,
    fromAddress: config.fromAddress ?? null,
    senderName: config.senderName ?? null,
  };
}

const storedForwarding = z
  .object({
    forwardTo: z.string().optional(),
    emails: z.array(z.string()).optional(),
    preserveHeaders: z.boolean().nullish(),
    includeAttachments: z.boolean().nullish(),
    subjectPrefix: z.string().nullish(),
    fromAddress: z.string().nullish(),
    senderName: z.string().nullish(),
  })
  .refine(({ forwardTo, emails }) => forwardTo !== undefined || emails !== undefined);

const storedWebhook = z.object({
  url: z.string(),
  timeout: z.number().default(DEFAULT_TIMEOUT_SECONDS),
  retryAttempts: z.number().default(DEFAULT_RETRY_ATTEMPTS),
  headers: z
    .record(z.string(), z.string())
    .nullish()
    .transform((headers) => headers ?? {}),
  verificationToken: z.string().default(''),
  signatureScheme: z.enum(['token', 'hmac']).default('token'),
  payload: z.enum(WEBHOOK_PAYLOAD_FORMS).default('nested'),
  maxPayloadOctets: z.number().default(DEFAULT_MAX_PAYLOAD_BYTES),
  attachments: z.enum(['content', 'link']).default('content'),
});

/** Names of all keys of a config of any type; `email` is an alias of `forwardTo`. */
export const ENDPOINT_CONFIG_FIELDS: readonly string[] = [
  ...Object.keys(storedWebhook.shape),
  ...Object.keys(storedForwarding.shape),
  'email',
];

function checkWebhook(
  given: Record<string, unknown>,
  { guard, verificationToken }: EndpointConfigOptions,
): EndpointConfigResult {
  const urlRefusal = checkWebhookUrl(given['url'], guard);
  if (urlRefusal !== null) return { error: urlRefusal, field: 'url' };
  const { timeout = DEFAULT_TIMEOUT_SECONDS, retryAttempts = DEFAULT_RETRY_ATTEMPTS } = given;
  if (!isWholeNumber(timeout, 1, MAX_TIMEOUT_SECONDS))
    return {
      error: `Timeout must be a number between 1 and ${MAX_TIMEOUT_SECONDS} seconds`,
      field: 'timeoutSeconds',
    };
  if (!isWholeNumber(retryAttempts, 0, MAX_RETRY_ATTEMPTS))
    return { error: `Retry attempts must be a number between 0 and ${MAX_RETRY_ATTEMPTS}`, field: 'retryAttempts' };
  const headersRefusal = checkCustomHeaders(given['headers']);
  if (headersRefusal !== null) return { error: headersRefusal, field: 'headers' };
  const options = checkWebhookOptions(given);
  if (options.config === undefined) return options;
  return {
    config: {
      url: given['url'],
      timeout,
      retryAttempts,
      ...(given['headers'] == null ? {} : { headers: { ...given['headers'] } }),
      verificationToken,
      ...options.config,
    },
  };
}

/** Checks the keys that stay missing unless given. */
function checkWebhookOptions(given: Record<string, unknown>): EndpointConfigResult {
  const { signatureScheme, payload, maxPayloadOctets, attachments } = given;
  if (signatureScheme !== undefined && signatureScheme !== 'token' && signatureScheme !== 'hmac')
    return { error: 'Signature scheme must be token or hmac', field: 'signatureScheme' };
  if (payload !== undefined && !WEBHOOK_PAYLOAD_FORMS.some((form) => form === payload))
    return { error: 'Payload must be nested, flat or resend', field: 'payload' };
  if (
    maxPayloadOctets !== undefined &&
    !isWholeNumber(maxPayloadOctets, MIN_PAYLOAD_LIMIT_BYTES, MAX_PAYLOAD_LIMIT_BYTES)
  )
    return {
      error: `Maximum payload must be a number between ${MIN_PAYLOAD_LIMIT_BYTES} and ${MAX_PAYLOAD_LIMIT_BYTES} bytes`,
      field: 'maxPayloadOctets',
    };
  if (attachments !== undefined && attachments !== 'content' && attachments !== 'link')
    return { error: 'Attachments must be content or link', field: 'attachments' };
  return {
    config: {
      ...(signatureScheme === undefined ? {} : { signatureScheme }),
      ...(payload === undefined ? {} : { payload }),
      ...(maxPayloadOctets === undefined ? {} : { maxPayloadOctets }),
      ...(attachments === undefined ? {} : { attachments }),
    },
  };
}

function checkEmail(given: Record<string, unknown>): EndpointConfigResult {
  // One of the published clients calls it `email`.
  const forwardTo = given['forwardTo'] ?? given['email'];
  if (!isMailAddress(forwardTo)) return { error: 'Invalid forward-to email address format', field: 'forwardTo' };
  return withForwardingKeys({ forwardTo }, given);
}

function checkGroup(given: Record<string, unknown>): EndpointConfigResult {
  const emails = given['emails'];
  if (!Array.isArray(emails) || emails.length === 0)
    return { error: 'Email group must have at least one email address', field: 'addresses' };
  if (emails.length > MAX_GROUP_EMAILS)
    return { error: `Email group cannot have more than ${MAX_GROUP_EMAILS} email addresses`, field: 'addresses' };
  const wrong: unknown = emails.find((email) => !isMailAddress(email));
  if (wrong !== undefined)
    return {
      error: `Invalid email address in group: ${typeof wrong === 'string' ? wrong : JSON.stringify(wrong)}`,
      field: 'addresses',
    };
  if (new Set(emails.map((email: string) => email.toLowerCase())).size < emails.length)
    return { error: 'Email group contains duplicate email addresses', field: 'addresses' };
  return withForwardingKeys({ emails }, given);
}

/** Checks the keys of both kinds of forwarding. */
function withForwardingKeys(config: StoredEndpointConfig, given: Record<string, unknown>): EndpointConfigResult {
  const keys = forwardingKeys.safeParse(given);
  if (!keys.success) {
    const field = keys.error.issues[0]?.path.join('.');
    return { error: `Invalid value for ${field ?? 'a field'}`, field: field ?? '' };
  }
  return { config: { ...config, ...keys.data } };
}

/** Header text of one line. */
const headerText = z
  .string()
  .max(255)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u);

const forwardingKeys = z.object({
  preserveHeaders: z.boolean().default(false),
  includeAttachments: z.boolean().optional(),
  subjectPrefix: headerText.optional(),
  fromAddress: z.string().max(MAX_ADDRESS_LENGTH).regex(z.regexes.html5Email).optional(),
  senderName: headerText.optional(),
});

function isWholeNumber(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

/** Returns whether a copy can be sent to the address. */
function isMailAddress(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    z.regexes.html5Email.test(value) &&
    outgoingMailbox({ name: null, address: value }) !== null
  );
}

/** RFC 9110 §5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 §5.5: visible characters, spaces and tabs; obs-text as Latin-1 */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Limits of the reference service for header fields. */
const MAX_HEADERS = 50;
const MAX_NAME_LENGTH = 126;
const MAX_VALUE_LENGTH = 998;

/** Fields that frame the request or the connection (RFC 9110 §7.6.1, RFC 9112 §6); only the HTTP client sets them. */
const FRAMING_FIELDS = new Set([
  'host',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'http2-settings',
]);

/** Our own fields that receivers rely on, by name. */
const OWN_FIELDS = new Set([
  'x-endpoint-id',
  'x-email-id',
  'x-message-id',
  'x-inbound-signature',
  'x-test-request',
  'x-postroom-test',
]);
/** Our own fields by prefix. */
const OWN_PREFIXES = ['x-service-', 'x-webhook-', 'webhook-'];

/** Returns whether the name of a custom header is reserved: for framing or for one of our own fields. The name is in lower case. */
function isReservedHeader(name: string): boolean {
  return FRAMING_FIELDS.has(name) || OWN_FIELDS.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Checks `headers` of a webhook config; returns the error for the user, or null when they are valid. Missing and null are valid. */
function checkCustomHeaders(headers: unknown): string | null {
  if (headers === undefined || headers === null) return null;
  if (typeof headers !== 'object' || Array.isArray(headers)) return 'Headers must be an object of strings';
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return `Headers cannot be more than ${MAX_HEADERS}`;
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (name.length > MAX_NAME_LENGTH || !TOKEN.test(name) || lower === '__proto__')
      return `Invalid header name: ${JSON.stringify(name.slice(0, MAX_NAME_LENGTH))}`;
    if (isReservedHeader(lower)) return `Header cannot be set: ${name}`;
    if (seen.has(lower)) return `Header is given twice: ${name}`;
    seen.add(lower);
    if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH || !FIELD_VALUE.test(value))
      return `Invalid value for header: ${name}`;
  }
  return null;
}
