import { expect, test } from 'vitest';
import { clientNetwork, createAddressGuard, isPublicAddress } from '../../../core/shared/network-address.ts';

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
