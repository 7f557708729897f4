import { expect, test } from 'vitest';
import {
  clientNetwork,
  createAddressGuard,
  isMetadataName,
  isPublicAddress,
} from '../../../core/shared/network-address.ts';

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.1.2.3',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::8.8.8.8',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  // no addresses, or forms that only look like one
  '',
  'localhost',
  '127.1',
  '0x7f.1',
  '2130706433',
  '1.2.3.4.5',
  '[::1]',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test('an allowed network permits its addresses in every notation, and no others', () => {
  const guard = createAddressGuard({ allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'], ownPorts: [] });
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'])
    expect(guard.judge(address, 443), address).toBe('allowed');
  for (const address of ['10.0.0.1', '::2', '169.254.169.254'])
    expect(guard.judge(address, 443), address).toBe('blocked');
  expect(guard.judge('8.8.8.8', 443)).toBe('public');
});

/** Addresses of the metadata services of clouds. */
const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.42.42',
  '169.254.0.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:a9fe:a9fe::1',
  'fd00:42::42',
  'fe80::a9fe:a9fe',
];

/** Returns the forms in which IPv6 carries an IPv4 address: mapped, NAT64, local NAT64, translated, compatible, 6to4, Teredo, ISATAP. */
function embed(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
  const pair = `${hex(a, b)}:${hex(c, d)}`;
  const inverted = `${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`;
  return [
    `::ffff:${address}`,
    `::ffff:${pair}`,
    `64:ff9b::${pair}`,
    `64:ff9b:1::${pair}`,
    `::ffff:0:${pair}`,
    `::${pair}`,
    `2002:${pair}::1`,
    `2001:0:${pair}:0:0:808:808`,
    `2001:0:808:808:0:0:${inverted}`,
    `2606:4700:1:2:0:5efe:${pair}`,
    `2606:4700:1:2:200:5efe:${pair}`,
  ];
}

test.each(METADATA)('the metadata address %s is reached only when the address itself is allowed', (address) => {
  const isV4 = !address.includes(':');
  const forms = isV4 ? [address, ...embed(address)] : [address];
  const everything = createAddressGuard({ allowedPrivateNetworks: ['0.0.0.0/0', '::/0'], ownPorts: [] });
  const wide = createAddressGuard({
    allowedPrivateNetworks: [isV4 ? `${address}/31` : `${address}/127`, '169.254.0.0/16', 'fc00::/7', '100.64.0.0/10'],
    ownPorts: [],
  });
  for (const form of forms) {
    expect(isPublicAddress(form), form).toBe(false);
    expect([everything.judge(form, 443), wide.judge(form, 443)], form).toEqual(['blocked', 'blocked']);
  }
  const exact = createAddressGuard({ allowedPrivateNetworks: [`${address}/${isV4 ? 32 : 128}`], ownPorts: [] });
  expect(exact.judge(address, 80)).toBe('allowed');
  expect(exact.judge(isV4 ? '169.254.1.1' : 'fd00:ec2::1', 80)).toBe('blocked');
});

test('an address beside those of metadata services stays as its network says', () => {
  const guard = createAddressGuard({ allowedPrivateNetworks: ['100.64.0.0/10', 'fd00::/8'], ownPorts: [] });
  expect([guard.judge('100.100.100.201', 443), guard.judge('fd12::1', 443)]).toEqual(['allowed', 'allowed']);
  expect(['168.63.129.17', '2606:4700:1:2:0:5efe:808:808'].map(isPublicAddress)).toEqual([true, true]);
  expect(isPublicAddress('2606:4700:1:2:0:5efe:a00:1')).toBe(false);
});

test.each([
  ['metadata.google.internal', true],
  ['METADATA.GOOGLE.INTERNAL.', true],
  ['x.metadata.google.internal', true],
  ['metadata', true],
  ['instance-data.ec2.internal', true],
  ['metadata.example.com', false],
  ['google.internal', false],
  ['mymetadata.goog', false],
])('the name %s means a metadata service: %s', (name, isMetadata) => {
  expect(isMetadataName(name)).toBe(isMetadata);
});

test('our own ports are blocked on allowed networks, but not on public addresses', () => {
  const guard = createAddressGuard({ allowedPrivateNetworks: ['127.0.0.0/8'], ownPorts: [443, 3000] });
  expect(guard.judge('127.0.0.1', 3000)).toBe('blocked');
  expect(guard.judge('127.0.0.1', 3001)).toBe('allowed');
  expect(guard.judge('8.8.8.8', 443)).toBe('public');
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:0DB8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['no address', 'no address'],
  ['', ''],
])('a client at %s is counted as %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
