import { expect, test } from 'vitest';
import { toSmtpForm } from '../../../core/smtp/smtp-form.ts';
import {
  MAX_HEADER_BYTES,
  MAX_HEADER_LINES,
  MAX_LINE_BYTES,
  MAX_MESSAGE_BYTES,
} from '../../../core/smtp/smtp-limits.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['a: b\n\nx', 'a: b\r\n\r\nx\r\n'],
  ['a: b\r\n\r\nx\r\n', 'a: b\r\n\r\nx\r\n'],
  ['a: b\r\n\nx\r', 'a: b\r\n\r\nx\r\r\n'],
  ['', '\r\n'],
  ['\xff\x00\n', '\xff\x00\r\n'],
])('%j is converted to %j', (given, form) => {
  expect(toSmtpForm(bytes(given)).bytes?.toString('latin1')).toBe(form);
});

const line = (length: number) => `${'x'.repeat(length)}\n`;

test.each([
  ['of the largest size', `S: x\n\n${line(98).repeat(149_999)}`.slice(0, MAX_MESSAGE_BYTES - 160_000), null],
  ['one byte too large', ' '.repeat(MAX_MESSAGE_BYTES + 1), '552 5.3.4 Message size exceeds the limit'],
  ['of as many header lines as go', `${'a: b\n'.repeat(MAX_HEADER_LINES)}\nx`, null],
  [
    'of one header line more',
    `${'a: b\n'.repeat(MAX_HEADER_LINES + 1)}\nx`,
    '552 5.3.4 Header section exceeds the limit',
  ],
  [
    'of too long a header section',
    `a: ${'b\n '.repeat(10)}${line(MAX_HEADER_BYTES)}\nx`,
    '552 5.3.4 Header section exceeds the limit',
  ],
  [
    'that never ends its header section',
    'a: b\n'.repeat(MAX_HEADER_LINES + 1),
    '552 5.3.4 Header section exceeds the limit',
  ],
  ['of the longest line', `S: x\n\n${line(MAX_LINE_BYTES - 2)}`, null],
  ['of too long a line', `S: x\n\n${line(MAX_LINE_BYTES - 1)}`, '554 5.6.0 A line is too long'],
  ['that went in circles', `${'Received: x\n'.repeat(51)}\nx`, '554 5.4.0 Too many hops'],
] as const)('a message %s is taken or refused as by our SMTP server', (_, given, refusal) => {
  expect(toSmtpForm(bytes(given)).refusal ?? null).toBe(refusal);
});
