import { expect, test } from 'vitest';
import { type Hop, receivedHeader } from '../../../core/smtp/received-header.ts';

const hop: Hop = {
  helo: 'client.test',
  remoteAddress: '192.0.2.1',
  ownHostname: 'mx.postroom.test',
  isExtended: true,
  isTls: false,
  isUtf8: false,
  id: 'A-1.1',
  recipients: ['hello@inbox.test'],
  receivedAt: new Date('2026-03-01T02:03:04Z'),
};

test('a Received field names from, by, with, id, for and the date', () => {
  expect(receivedHeader(hop)).toBe(
    'Received: from client.test ([192.0.2.1])\r\n\tby mx.postroom.test with ESMTP id A-1.1\r\n\tfor <hello@inbox.test>; Sun, 01 Mar 2026 02:03:04 +0000\r\n',
  );
});

test.each([
  [{ isExtended: false }, 'with SMTP id'],
  [{ isTls: true }, 'with ESMTPS id'],
  [{ isUtf8: true }, 'with UTF8SMTP id'],
  [{ isUtf8: true, isTls: true }, 'with UTF8SMTPS id'],
  [{ remoteAddress: '2001:db8::1' }, '([IPv6:2001:db8::1])'],
  [{ helo: '[192.0.2.1]' }, 'from [192.0.2.1] ('],
  [{ helo: 'a b' }, 'from unknown ('],
  [{ helo: 'x\r\nBcc: y' }, 'from unknown ('],
  [{ helo: 'žluť.test' }, 'from unknown ('],
])('%j gives %s', (change, part) => {
  const field = receivedHeader({ ...hop, ...change });
  expect(field).toContain(part);
  expect(field.split('\r\n')).toHaveLength(4);
});

test.each([[['a@inbox.test', 'b@inbox.test']], [['kůň@inbox.test']]])('%j are not named', (recipients) => {
  expect(receivedHeader({ ...hop, recipients })).not.toContain('for ');
});
