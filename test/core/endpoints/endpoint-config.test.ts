import { expect, test } from 'vitest';
import { checkEndpointConfig, readWebhookConfig } from '../../../core/endpoints/endpoint-config.ts';
import { createAddressGuard } from '../../../core/shared/network-address.ts';

const strict = createAddressGuard({ allowedPrivateNetworks: [], ownPorts: [] });
const loopback = createAddressGuard({ allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'], ownPorts: [3000] });
const verificationToken = 'f'.repeat(64);

function checkWebhook(config: Record<string, unknown>, guard = strict) {
  return checkEndpointConfig(
    'webhook',
    { url: 'https://hooks.example.com/in', ...config },
    { guard, verificationToken },
  );
}

test('a webhook needs only its URL; timeout and retryAttempts get their defaults', () => {
  expect(checkWebhook({}).config).toEqual({
    url: 'https://hooks.example.com/in',
    timeout: 30,
    retryAttempts: 3,
    verificationToken,
  });
});

test('keeps every key of a webhook config, but not unknown keys or a token from the user', () => {
  const given = {
    timeout: 300,
    retryAttempts: 10,
    headers: { 'X-Mine': 'a' },
    signatureScheme: 'hmac',
    payload: 'flat',
    maxPayloadOctets: 25_000_000,
    attachments: 'link',
  };
  const result = checkWebhook({ ...given, verificationToken: 'mine', other: 1 });
  expect(result.config).toEqual({ url: 'https://hooks.example.com/in', ...given, verificationToken });
});

test.each([
  [undefined, 'Webhook URL is required'],
  ['', 'Webhook URL is required'],
  ['nonsense', 'Invalid webhook URL format'],
  ['https:/hooks.example.com', 'Invalid webhook URL format'],
  ['https://', 'Invalid webhook URL format'],
  ['https://a\0b.test/', 'Invalid webhook URL format'],
  ['https://a.test/\r\nX: y', 'Invalid webhook URL format'],
  [' https://a.test/', 'Invalid webhook URL format'],
  [7, 'Invalid webhook URL format'],
  ['file:///etc/passwd', 'Invalid webhook URL format'],
  ['gopher://a.test/', 'Webhook URL must begin with https://'],
  ['ftp://a.test/', 'Webhook URL must begin with https://'],
])('rejects the URL %j: %s', (url, error) => {
  expect(checkWebhook({ url })).toEqual({ error, field: 'url' });
});

test.each([
  'http://hooks.example.com/',
  'http://localhost/',
  'http://127.0.0.1/',
  'https://localhost/',
  'https://x.localhost/',
  'https://localhost./',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://017700000001/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://169.254.169.254/latest/meta-data',
  'https://100.64.0.1/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://0.0.0.0/',
  'https://[fc00::1]/',
  'https://[fe80::1]/',
  'https://198.18.0.1/',
  'https://240.0.0.1/',
  'https://user:pw@hooks.example.com/',
  'https://a@127.0.0.1/',
  'https://@hooks.example.com/',
  'https://hooks.example.com:25/',
  'https://hooks.example.com:22/',
  'https://hooks.example.com:5432/',
  'https://hooks.example.com:4222/',
  'https://hooks.example.com:0/',
  'https://127.0.0.1./',
  'https://0177.0.0.1/',
  'https://0x7f000001/',
  'https://①②⑦.0.0.1/',
  'https://１２７.0.0.1/',
  'https://[::]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[64:ff9b:1::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://100.127.255.255/',
  'https://198.19.255.255/',
  'https://255.255.255.255/',
  'https://224.0.0.1/',
  'https://192.0.0.1/',
  'https://LOCALHOST/',
  'https://a.b.LocalHost./',
  'https://loc%61lhost/',
  'https://user@hooks.example.com/',
  'https://:pw@hooks.example.com/',
  'https://hooks.example.com:6379/',
  'http://localhost./',
  'http://localhost:8080/',
  'ws://hooks.example.com/',
  'data://text/plain,x',
])('rejects %s without allowed private networks', (url) => {
  expect(checkWebhook({ url }).error).toMatch(/^Webhook URL must/);
});

test.each(['http://localhost:8080/in', 'http://127.0.0.1:8080/in', 'http://[::1]:8080/in', 'https://127.0.0.1:8443/'])(
  '%s is taken where loopback is allowed',
  (url) => {
    expect(checkWebhook({ url }, loopback).error).toBeUndefined();
  },
);

test.each([
  'http://localhost:3000/',
  'http://127.0.0.1:3000/',
  'https://127.0.0.1:3000/',
  'http://127.0.0.2:8080/',
  'http://10.0.0.1/',
  'http://127.0.0.1:25/',
])('rejects %s even if loopback is allowed', (url) => {
  expect(checkWebhook({ url }, loopback).error).toMatch(/^Webhook URL must/);
});

test.each([0, 301, 1.5, '30', Number.NaN])('the timeout %j is refused', (timeout) => {
  expect(checkWebhook({ timeout })).toEqual({
    error: 'Timeout must be a number between 1 and 300 seconds',
    field: 'timeoutSeconds',
  });
});

test.each([-1, 11, 0.5, '3'])('%j retryAttempts are refused', (retryAttempts) => {
  expect(checkWebhook({ retryAttempts })).toEqual({
    error: 'Retry attempts must be a number between 0 and 10',
    field: 'retryAttempts',
  });
});

test.each([
  [{ 'X-A\r\nB': 'c' }],
  [{ 'X-A': 'b\r\nHost: c' }],
  [{ 'X-A': 'b\0' }],
  [{ 'X-A': 'snow \u2603' }],
  [{ 'X A': 'b' }],
  [{ '': 'b' }],
  [{ Host: 'a.test' }],
  [{ 'Content-Length': '1' }],
  [{ 'Transfer-Encoding': 'chunked' }],
  [{ Connection: 'close' }],
  [{ Upgrade: 'h2c' }],
  [{ TE: 'trailers' }],
  [{ Expect: '100-continue' }],
  [{ 'Keep-Alive': 'timeout=5' }],
  [{ 'Proxy-Connection': 'close' }],
  [{ 'Proxy-Authorization': 'Basic x' }],
  [{ 'X-Service-Timestamp': '1' }],
  [{ 'X-Email-ID': 'mine' }],
  [{ 'X-Message-ID': 'mine' }],
  [{ 'X-Test-Request': 'true' }],
  [{ 'Webhook-Signature': 'v1,mine' }],
  [{ 'x-service-signature': 'mine' }],
  [{ 'X-Webhook-Verification-Token': 'mine' }],
  [{ 'Webhook-Id': 'mine' }],
  [{ 'X-Endpoint-ID': 'mine' }],
  [{ 'X-Inbound-Signature': 'mine' }],
  [{ 'x-a': '1', 'X-A': '2' }],
  [{ 'X-A': 1 }],
  [JSON.parse('{"__proto__": "x"}')],
  [Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`X-${n}`, 'a']))],
  [['X-A', 'b']],
  ['X-A: b'],
])('rejects the custom headers %j', (headers) => {
  expect(checkWebhook({ headers }).error).toMatch(/[Hh]eader/);
});

test('custom headers may replace Content-Type and User-Agent and carry credentials', () => {
  const headers = { 'Content-Type': 'application/vnd.mail+json', 'User-Agent': 'mine', Authorization: 'Bearer x' };
  expect(checkWebhook({ headers }).config).toMatchObject({ headers });
});

test.each([9_999, 25_000_001, 10_000.5, '4000000'])('a payload of at most %j bytes is refused', (maxPayloadOctets) => {
  expect(checkWebhook({ maxPayloadOctets })).toEqual({
    error: 'Maximum payload must be a number between 10000 and 25000000 bytes',
    field: 'maxPayloadOctets',
  });
});

test('a key that is null has its default', () => {
  const keys = ['timeout', 'retryAttempts', 'headers', 'signatureScheme', 'payload', 'maxPayloadOctets', 'attachments'];
  expect(checkWebhook(Object.fromEntries(keys.map((key) => [key, null])))).toEqual(checkWebhook({}));
  expect(checkWebhook({ url: null }).error).toBe('Webhook URL is required');
});

test('attachments are sent with content or as links', () => {
  expect(checkWebhook({ attachments: 'content' }).config).toMatchObject({ attachments: 'content' });
  expect(checkWebhook({ attachments: 'none' }).error).toBe('Attachments must be content or link');
});

test('signatureScheme and payload accept only their own values', () => {
  expect(checkWebhook({ signatureScheme: 'none' }).error).toBe('Signature scheme must be token or hmac');
  expect(checkWebhook({ payload: 'xml' }).error).toBe('Payload must be nested, flat or resend');
});

test.each([
  undefined,
  'nonsense',
  'a@b@c',
  'a b@c.test',
  7,
  '.joe@x.test',
  'joe@localhost',
  `${'a'.repeat(65)}@x.test`,
])('rejects forwarding to %j', (forwardTo) => {
  expect(checkEndpointConfig('email', { forwardTo }, { guard: strict, verificationToken })).toEqual({
    error: 'Invalid forward-to email address format',
    field: 'forwardTo',
  });
});

test('forwarding accepts forwardTo, or email as one client calls it', () => {
  const options = { guard: strict, verificationToken };
  expect(checkEndpointConfig('email', { forwardTo: 'a@b.test', preserveHeaders: true }, options).config).toEqual({
    forwardTo: 'a@b.test',
    preserveHeaders: true,
  });
  expect(checkEndpointConfig('email', { email: 'a@b.test', subjectPrefix: '[x]' }, options).config).toEqual({
    forwardTo: 'a@b.test',
    preserveHeaders: false,
    subjectPrefix: '[x]',
  });
});

test('a group has 1 to 50 distinct valid addresses', () => {
  const check = (emails: unknown) =>
    checkEndpointConfig('email_group', { emails }, { guard: strict, verificationToken });
  const many = (count: number) => Array.from({ length: count }, (_, n) => `a${n}@b.test`);
  expect(check(many(50)).config).toMatchObject({ emails: many(50) });
  expect(check(many(51)).error).toBe('Email group cannot have more than 50 email addresses');
  expect(check(['a@b.test', 'nope']).error).toBe('Invalid email address in group: nope');
  expect(check(['a@b.test', '.joe@x.test']).error).toBe('Invalid email address in group: .joe@x.test');
  expect(check(['joe@localhost']).error).toBe('Invalid email address in group: joe@localhost');
  expect(check(['a@b.test', 'A@B.test']).error).toBe('Email group contains duplicate email addresses');
  expect(check([]).error).toBeDefined();
  expect(check('a@b.test').error).toBeDefined();
});

test('a stored webhook config is read with defaults', () => {
  expect(readWebhookConfig({ url: 'https://a.test/', verificationToken: 't' })).toEqual({
    url: 'https://a.test/',
    timeout: 30,
    retryAttempts: 3,
    headers: {},
    verificationToken: 't',
    signatureScheme: 'token',
    payload: 'nested',
    maxPayloadOctets: 4_000_000,
    attachments: 'content',
  });
});
