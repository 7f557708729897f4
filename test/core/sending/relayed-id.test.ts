import { expect, test } from 'vitest';
import { readRelayedIds } from '../../../core/sending/relayed-id.ts';

test.each([
  ['250 Ok 0102018f00000001-aaaa-bbbb-000000', ['0102018f00000001-aaaa-bbbb-000000']],
  [
    'Ok 0100018f2c6d1a2b-3c4d5e6f-7a8b-9c0d-1e2f-3a4b5c6d7e8f-000000',
    ['0100018f2c6d1a2b-3c4d5e6f-7a8b-9c0d-1e2f-3a4b5c6d7e8f-000000'],
  ],
  [
    '2.0.0 OK: queued as 3f2504e0-4f89-11d3-9a0c-0305e82c3301 by mail.relay.example',
    ['3f2504e0-4f89-11d3-9a0c-0305e82c3301'],
  ],
  [
    '2.6.0 <a1b2c3d4e5f60718293a4b5c@relay.example> [InternalId=123456789012345678901, Hostname=AM0.eurprd.example]',
    ['a1b2c3d4e5f60718293a4b5c', '123456789012345678901'],
  ],
])('reads the ids of %j', (reply, ids) => {
  expect(readRelayedIds(reply)).toEqual(ids);
});

test.each([
  '2.0.0 Ok: queued as 4XyZ12abcDz1',
  'Message accepted for delivery',
  'OK id=1sXyZ0-0001ab-CD',
  '2.0.0 mail-relay-number-one.eu-central-1.example.com accepted it',
  '',
])('reads no id in %j', (reply) => {
  expect(readRelayedIds(reply)).toEqual([]);
});

test('reads at most three ids of a long reply in linear time', () => {
  const word = '0102018f00000001-aaaa-bbbb-';
  const reply = Array.from({ length: 5_000 }, (_, at) => `${word}${at}`).join(' ');
  expect(readRelayedIds(reply)).toHaveLength(3);
});
