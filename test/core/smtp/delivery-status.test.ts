import { describe, expect, test } from 'vitest';
import {
  asksToSlowDown,
  lastReplyText,
  outcomeOfReply,
  parseSmtpReply,
  type RecipientStatus,
  type SmtpPhase,
  statusOfReply,
  toEmailStatus,
} from '../../../core/smtp/delivery-status.ts';

describe('parses a reply', () => {
  test.each([
    ['250 2.0.0 Ok: queued as 12345', 250, '2.0.0', 'Ok: queued as 12345'],
    ['250 OK', 250, null, 'OK'],
    ['250', 250, null, ''],
    ['550 5.1.1 <a@x.test>: no such user', 550, '5.1.1', '<a@x.test>: no such user'],
    [
      '550-5.1.1 The account does\r\n550-5.1.1 not exist.\r\n550 5.1.1 Bye',
      550,
      '5.1.1',
      'The account does not exist. Bye',
    ],
    ['421-busy\n421 4.7.0 later', 421, '4.7.0', 'busy later'],
    ['550 5.7.26 DMARC', 550, '5.7.26', 'DMARC'],
    // RFC 2034 §4: the class has to be that of the code
    ['550 4.2.2 mailbox full', 550, null, 'mailbox full'],
    ['452 5.2.2 mailbox full', 452, null, 'mailbox full'],
    ['550 5.1 no status', 550, null, '5.1 no status'],
    ['550 version 5.1.1 of us', 550, null, 'version 5.1.1 of us'],
    ['451 4.3.0\u001b[31m red\0', 451, null, '4.3.0 [31m red'],
    ['250 ok\r\n', 250, null, 'ok'],
  ])('%j', (response, code, enhancedStatus, text) => {
    expect(parseSmtpReply(response)).toEqual({ code, enhancedStatus, text });
  });

  test.each(['', 'hello', '99 x', '1000 x', '150 x', '650 x', 'SSH-2.0', ' 250 ok'])('%j is no reply', (response) => {
    expect(parseSmtpReply(response)).toBeNull();
  });

  test('cuts a long reply', () => {
    expect(parseSmtpReply(`550 ${'x'.repeat(1_000_000)}`)?.text).toHaveLength(1_000);
  });
});

test.each([
  [550, '5.1.1', 'No such user', '550 5.1.1 No such user'],
  [250, null, '', '250'],
  [null, '5.1.1', '550 5.1.1 No such user', '550 5.1.1 No such user'],
  [null, '5.1.1', 'nobody here', '5.1.1 nobody here'],
  [null, '5.1.1', null, '5.1.1'],
  [null, null, null, null],
])('the last reply is %s %s %s', (code, enhancedStatus, text, said) => {
  expect(lastReplyText(code, enhancedStatus, text)).toBe(said);
});

describe('the outcome of a reply', () => {
  test.each([
    ['250 2.0.0 queued', 'message', 'delivered'],
    ['251 will forward', 'message', 'delivered'],
    ['250 2.1.5 ok', 'recipient', null],
    ['220 hello', 'connection', null],
    ['354 go on', 'data', null],
    ['354 go on', 'message', 'deferred'],
    ['421 4.3.2 shutting down', 'connection', 'deferred'],
    ['450 4.2.1 greylisted', 'recipient', 'deferred'],
    ['451 4.7.1 later', 'message', 'deferred'],
    ['452 4.2.2 full', 'recipient', 'deferred'],
    ['550 5.1.1 unknown', 'recipient', 'bounced'],
    ['550 unknown', 'recipient', 'bounced'],
    ['550 4.1.1 unknown', 'recipient', 'bounced'],
    ['553 5.1.8 sender domain', 'sender', 'bounced'],
    ['554 5.7.1 spam', 'message', 'bounced'],
    ['554 no valid recipients', 'data', 'bounced'],
    ['552 5.2.2 mailbox full', 'recipient', 'bounced'],
    ['552 5.3.4 too big', 'sender', 'bounced'],
    ['552 too many recipients', 'recipient', 'deferred'],
    ['552 5.5.3 too many recipients', 'recipient', 'deferred'],
    ['554 5.7.1 your address is listed', 'connection', 'deferred'],
    ['550 bad HELO', 'greeting', 'deferred'],
    ['535 5.7.8 wrong password', 'greeting', 'deferred'],
    ['521 5.3.2 no mail here', 'connection', 'bounced'],
    ['521 no mail here', 'greeting', 'bounced'],
    ['556 5.1.10 null MX', 'connection', 'bounced'],
    ['556 5.1.10 null MX', 'recipient', 'bounced'],
  ] satisfies [string, SmtpPhase, string | null][])('is that of %s to %s: %s', (response, phase, outcome) => {
    const reply = parseSmtpReply(response);
    expect(reply === null ? 'unread' : outcomeOfReply(reply, phase)).toBe(outcome);
  });

  test.each([
    ['421 4.7.0 slow down', true],
    ['451 4.7.1 slow down', true],
    ['450 4.2.1 busy mailbox', false],
    ['550 5.7.1 no', false],
    ['250 ok', false],
  ])('%s asks to slow down: %s', (response, isAsking) => {
    const reply = parseSmtpReply(response);
    expect(reply !== null && asksToSlowDown(reply)).toBe(isAsking);
  });

  test.each([
    ['550 5.1.1 unknown', '5.1.1'],
    ['550 unknown', '5.0.0'],
    ['451 later', '4.0.0'],
    ['250 ok', '2.0.0'],
  ])('%s has the status %s', (response, status) => {
    const reply = parseSmtpReply(response);
    expect(reply === null ? null : statusOfReply(reply)).toBe(status);
  });
});

describe('the status of a message', () => {
  test.each([
    [['delivered'], 'delivered'],
    [['delivered', 'delivered'], 'delivered'],
    [['delivered', 'failed'], 'failed'],
    [['delivered', 'failed', 'bounced'], 'bounced'],
    [['bounced', 'delivered', 'failed', 'pending'], 'pending'],
    [['failed', 'failed'], 'failed'],
    [['pending'], 'pending'],
  ] satisfies [RecipientStatus[], RecipientStatus][])('%j is %s', (recipients, status) => {
    expect(toEmailStatus(recipients)).toBe(status);
  });

  test('of a message without recipients is an error', () => {
    expect(() => toEmailStatus([])).toThrow(RangeError);
  });
});
