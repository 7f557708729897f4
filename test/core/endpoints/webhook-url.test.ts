import { describe, expect, test } from 'vitest';
import { checkWebhookUrl, isLocalhostName, REFUSED_PORTS, webhookTarget } from '../../../core/endpoints/webhook-url.ts';
import { createAddressGuard } from '../../../core/shared/network-address.ts';

const strict = createAddressGuard({ allowedPrivateNetworks: [], ownPorts: [] });
const OWN_PORTS = [2525, 3000, 54_321];
const loopback = createAddressGuard({ allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'], ownPorts: OWN_PORTS });

/** Every text that a parser of addresses may take for 127.0.0.1, or for a machine of this network. */
const PRIVATE_HOSTS = [
  '127.1',
  '127.0.1',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '2130706433',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  '0.0.0.0',
  '[::]',
  '10.255.255.255',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.100.100.200',
  '198.18.0.1',
  '255.255.255.255',
  '[fd00::1]',
  '[fe80::1]',
  '[ff02::1]',
];

describe('without allowed private networks', () => {
  test.each(PRIVATE_HOSTS)('https to %s is refused', (host) => {
    expect(checkWebhookUrl(`https://${host}/x`, strict)).toBe('Webhook URL must not point to a private address');
  });

  test.each(['https://93.184.215.14/', 'https://[2606:4700::1111]/', 'https://hooks.example.com:8443/a?b=c#d'])(
    '%s is taken',
    (url) => {
      expect(checkWebhookUrl(url, strict)).toBeNull();
    },
  );

  test.each(['172.32.0.1', '172.15.255.255', '100.63.255.255', '100.128.0.1', '198.20.0.1', '11.0.0.1'])(
    'https to %s, beside a private network, is taken',
    (host) => {
      expect(checkWebhookUrl(`https://${host}/`, strict)).toBeNull();
    },
  );
});

describe('with loopback allowed', () => {
  test.each(OWN_PORTS)('our own port %d is refused', (port) => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', '127.0.0.2', '0x7f.1', '[::ffff:127.0.0.1]'])
      for (const scheme of ['http', 'https'])
        expect(checkWebhookUrl(`${scheme}://${host}:${port}/`, loopback), `${scheme} ${host}`).not.toBeNull();
  });

  test.each(['http://localhost:8080/', 'https://127.0.0.1:8443/', 'https://0x7f.1:8443/'])('%s is taken', (url) => {
    expect(checkWebhookUrl(url, loopback)).toBeNull();
  });

  test('other private networks are still blocked', () => {
    for (const host of ['10.0.0.1', '169.254.169.254', '[64:ff9b::a00:1]'])
      expect(checkWebhookUrl(`https://${host}/`, loopback), host).not.toBeNull();
  });
});

test('a user name is rejected in every notation', () => {
  for (const url of [
    'https://u:p@a.test/',
    'https://u@a.test/',
    'https://@a.test/',
    'https://:@a.test/',
    'https://a.test@127.0.0.1/',
  ])
    expect(checkWebhookUrl(url, strict), url).toBe('Webhook URL must not contain a user name or password');
  // Behind the path these signs mean nothing.
  expect(checkWebhookUrl('https://a.test/@127.0.0.1', strict)).toBeNull();
  expect(checkWebhookUrl(String.raw`https://a.test\@127.0.0.1/`, strict)).toBeNull();
  expect(webhookTarget(String.raw`https://a.test\@127.0.0.1/`).hostname).toBe('a.test');
});

test('ports of other protocols are rejected, and named in the error', () => {
  expect([22, 25, 465, 587, 5432, 4222].every((port) => REFUSED_PORTS.has(port))).toBe(true);
  for (const port of REFUSED_PORTS)
    expect(checkWebhookUrl(`https://a.test:${port}/`, strict)).toBe(`Webhook URL must not use port ${port}`);
});

test.each([
  'a.test',
  '//a.test/',
  'https:a.test',
  'https:/a.test',
  'https://',
  'https:///path',
  String.raw`https://\a.test/`,
  'https://a .test/',
  'https://a.test/\n',
  '\thttps://a.test/',
  'https://a.test/\r\nX: y',
  'https://a\0.test/',
  'https://a.test:99999/',
  'https://[::1/',
  'https://%00.test/',
  'https://a.test%00/',
  `https://a.test/${'a'.repeat(2_048)}`,
])('%j is not a URL', (url) => {
  expect(checkWebhookUrl(url, strict)).toBe('Invalid webhook URL format');
});

test.each([
  'file:///etc/passwd',
  'file://a.test/etc/passwd',
  'gopher://a.test/_x',
  'ftp://a.test/',
  'javascript://a.test/%0a',
])('%s is rejected', (url) => {
  expect(checkWebhookUrl(url, strict)).toMatch(/^(Invalid webhook URL format|Webhook URL must begin with https:\/\/)$/);
});

test('names of this machine are recognized without DNS', () => {
  for (const name of ['localhost', 'LocalHost.', 'a.b.localhost', 'a.localhost.'])
    expect(isLocalhostName(name)).toBe(true);
  for (const name of ['localhost.test', 'mylocalhost', 'localhost..', '']) expect(isLocalhostName(name)).toBe(false);
});
