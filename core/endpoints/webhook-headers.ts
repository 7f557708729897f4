/** RFC 9110 §5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110 §5.5: visible characters, spaces and tabs; obs-text as Latin-1 */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Bounds of the reference service for header fields. */
const MAX_HEADERS = 50;
const MAX_NAME_LENGTH = 126;
const MAX_VALUE_LENGTH = 998;

/** Fields that frame the request or the connection (RFC 9110 §7.6.1, RFC 9112 §6); only the client may set them. */
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

/** Fields of ours that a receiver relies on, by exact name. */
const OWN_FIELDS = new Set([
  'x-endpoint-id',
  'x-email-id',
  'x-message-id',
  'x-inbound-signature',
  'x-test-request',
  'x-postroom-test',
]);
/** ... and by prefix. */
const OWN_PREFIXES = ['x-service-', 'x-webhook-', 'webhook-'];

/** Whether custom headers of a webhook may bear the name: neither framing nor one of ours. The name is in lower case. */
export function isReservedHeader(name: string): boolean {
  return FRAMING_FIELDS.has(name) || OWN_FIELDS.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Checks `headers` of a webhook config; null when they may be sent, else the text for the user. Absent and null are fine. */
export function checkCustomHeaders(headers: unknown): string | null {
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
