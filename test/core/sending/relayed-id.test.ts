import { expect, test } from 'vitest';
import { readRelayedIds } from '../../../core/sending/relayed-id.ts';

const ENVELOPE = {
  addresses: ['order-20261128-1234567890@shop.example', 'Ticket.0001112223334445@desk.example'],
  domains: ['sender.example', 'bounces.sender.example'],
};

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
  ['2.0.0 OK: queued as <202601061011.12345678901@smtp-relay.example>', ['202601061011.12345678901']],
  ['Great success, MessageID=<20260106101112.1.ABCDEF0123456789@mg.example>', ['20260106101112.1.ABCDEF0123456789']],
  ['Queued! [0a129aee-e1cd-480d-b08d-4f48548ff48d]', ['0a129aee-e1cd-480d-b08d-4f48548ff48d']],
])('reads the ids of %j', (reply, ids) => {
  expect(readRelayedIds(reply, ENVELOPE)).toEqual(ids);
});

test.each([
  '2.0.0 Ok: queued as 4XyZ12abcDz1',
  'Message accepted for delivery',
  'OK id=1sXyZ0-0001ab-CD',
  'Requested mail action okay, completed: id=1MvKdr-1rFzAb2Xyz-00rNHp',
  'ok:  Message 123456789 accepted',
  '2.0.0 mail-relay-number-one.eu-central-1.example.com accepted it',
  '',
])('reads no id in %j', (reply) => {
  expect(readRelayedIds(reply, ENVELOPE)).toEqual([]);
});

test('reads at most three ids of a long reply in linear time', () => {
  const word = '0102018f00000001-aaaa-bbbb-';
  const reply = Array.from({ length: 5_000 }, (_, at) => `${word}${at}`).join(' ');
  expect(readRelayedIds(reply, ENVELOPE)).toHaveLength(3);
});

test.each([
  ['a recipient', '2.1.5 <order-20261128-1234567890@shop.example> accepted'],
  ['a recipient without its domain', 'OK delivered to mailbox order-20261128-1234567890'],
  ['a recipient in upper case', '2.0.0 ORDER-20261128-1234567890@SHOP.EXAMPLE... Sent'],
  ['a recipient with a tag of the relay', 'Ok: forwarded to order-20261128-1234567890+relay@relay.example'],
  ['another recipient of the message', '2.0.0 Ok for ticket.0001112223334445@desk.example'],
  ['another address in the domain of a recipient', '2.0.0 accepted for customer-20261128-998877@shop.example.'],
  ['the return address', '2.0.0 sender <rp-019aa3c1b2d47e1f8a0b3c4d5e6f7a8b@bounces.sender.example> ok'],
  ['the Message-ID that it was sent with', 'Ok <019aa3c1-b2d4-7e1f-8a0b-3c4d5e6f7a8b@sender.example> queued'],
  ['the name of a host', '2.0.0 ec2-203-0-113-25.eu-central-1.compute.amazonaws.com Ok'],
  ['the name of the client', 'Ok client-20261128-1234567890.dynamic.isp.example.'],
  ['a name of a host in an internationalized domain', 'Ok mx-20261128-1234567890.xn--p1ai'],
])('does not read %s as an id', (_what, reply) => {
  expect(readRelayedIds(reply, ENVELOPE)).toEqual([]);
});
