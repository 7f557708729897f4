import { describe, expect, test } from 'vitest';
import { adviceOn, REFUSAL_REASON_NAMES, type RefusalReason } from '../../../core/sending/refusal-advice.ts';
import { refusalReason } from '../../../core/sending/refusal-reason.ts';
import { WORDINGS } from '../../../core/sending/refusal-wordings.ts';

const readReason = (text: string, code: number | null = null, status: string | null = null) =>
  refusalReason({ code, status, text });

describe('reads the reason from the words', () => {
  test.each<[RefusalReason, string]>([
    ['mailbox_full', 'The mailbox joe@x.test is full'],
    ['mailbox_full', 'Das Postfach ist voll'],
    ['mailbox_full', 'La boîte aux lettres du destinataire est pleine'],
    ['user_unknown', 'Recipient address rejected: User unknown in virtual mailbox table'],
    ['user_unknown', 'Empfänger unbekannt'],
    ['user_unknown', 'Пользователь не существует'],
    ['user_unknown', 'Joe is a nonexistent user'],
    ['user_unknown', 'That recipient not exist here'],
    ['user_unknown', 'joe@x.test: email lookup in domain map failed'],
    ['sender_rejected', 'Client rejected, access denied'],
    ['recipient_rejected', 'Refused due to recipient preferences'],
    ['rate_limited', 'Too many invalid recipients'],
    ['unknown', 'This domain is not allowed'],
    ['mailbox_full', "The user's disk space has been used up"],
    ['host_unknown', 'Host or domain name not found. Name service error for name=x.test type=MX: Host not found'],
    ['host_unknown', 'mail.x.test does not exist'],
    ['network_error', 'Name service error for name=x.test type=MX: Host not found, try again'],
    ['mail_not_accepted', 'Domain x.test does not accept mail (nullMX)'],
    ['blocked', 'Client host [192.0.2.1] blocked using a blacklist'],
    ['missing_reverse_dns', 'Client host rejected: cannot find your reverse hostname, [192.0.2.1]'],
    ['authentication_failed', "Unauthenticated email from x.test is not accepted due to domain's DMARC policy"],
    ['message_too_large', 'Message size exceeds fixed maximum message size'],
    ['spam', 'This message looks like spam to our filter'],
    ['relay_denied', '<joe@x.test>: Relay access denied'],
    ['rate_limited', 'Too many connections from your host'],
    ['expired', 'Message could not be delivered for 5 days'],
    ['unknown', 'No'],
    ['mailbox_disabled', 'Account disabled: user has left it inactive for 90 days'],
    ['mailbox_disabled', 'Mailbox disabled: the user has left their inbox unattended'],
    ['user_unknown', 'Account disabled, she has left our organisation'],
    ['expired', 'User lookup: no match yet, please retry'],
    ['system_error', 'Mail for this recipient is not handled by this server at the moment because of maintenance'],
  ])('%s: %s', (reason, text) => {
    expect(readReason(text)).toBe(reason);
  });
});

test('addresses and URLs are not taken for words', () => {
  expect(readReason('<virus@spam.test>: no, see https://mailbox-full.test/user-unknown')).toBe('unknown');
});

describe('prefers', () => {
  test.each<[string, RefusalReason, number | null, string | null, string]>([
    ['exact words to a status', 'mailbox_full', 552, '5.1.1', 'over quota'],
    ['the words of an unknown user to a general status of policy', 'user_unknown', 550, '5.7.1', 'User unknown'],
    ['a specific status of policy to them', 'authentication_failed', 550, '5.7.26', 'User unknown'],
    [
      'a status of policy to the words of an unknown client',
      'policy',
      550,
      '5.7.1',
      'Unknown host: connection refused',
    ],
    [
      'the status of an unknown user to a rejection without a reason',
      'user_unknown',
      550,
      '5.1.1',
      'Recipient rejected',
    ],
    ['a status about the sender to words about a domain', 'sender_rejected', 550, '5.1.7', 'No such domain x.test'],
    [
      'a status about the address to words about access',
      'user_unknown',
      550,
      '5.1.1',
      'Mailbox unavailable or access denied',
    ],
    ['the status of an unlisted address', 'user_unknown', 550, '5.4.1', 'Recipient address rejected: Access denied'],
    ['a status of policy', 'policy', 554, '5.7.1', 'Recipient address rejected: Access denied'],
    ['caution', 'recipient_rejected', 550, null, 'Recipient address rejected: Access denied'],
    ['a status to a code', 'user_unknown', 552, '5.1.1', 'no'],
    ['a code to nothing', 'mailbox_full', 552, null, 'no'],
  ])('%s', (_, reason, code, status, text) => {
    expect(readReason(text, code, status)).toBe(reason);
  });
});

test('an unknown user that is reported after the content is a filter, unless a status confirms it', () => {
  const refusal = { code: 550, text: 'User unknown', command: 'content' } as const;
  expect(refusalReason({ ...refusal, status: null })).toBe('recipient_rejected');
  expect(refusalReason({ ...refusal, status: '5.1.1' })).toBe('user_unknown');
});

test('the reason of a long hostile text is found in time that grows with its length', () => {
  // 2,000 characters are read; without this limit, and with backtracking, this would not end.
  const parts = ['mailbox ', '@', 'a.'.repeat(20), 'user ', 'x@'.repeat(10), '<'.repeat(10)];
  for (const part of parts) expect(readReason(part.repeat(200_000))).toBe('unknown');
});

test('each reason has a title and one sentence of advice', () => {
  for (const reason of REFUSAL_REASON_NAMES) {
    const refusal = adviceOn(reason);
    expect(refusal?.title, reason).toMatch(/^[A-Z].*[^.]$/);
    expect(refusal?.advice, reason).toMatch(/^[A-Z][^.]*\.$/);
  }
});

test('each wording is in lower case and found by its own words', () => {
  const lost = WORDINGS.flatMap(([, wordings]) => wordings).filter(
    (wording) => wording !== wording.toLowerCase() || readReason(wording.replace('@host', 'mail.x.test')) === 'unknown',
  );
  expect(lost).toEqual([]);
});
