import { expect, test } from 'vitest';
import {
  type AnswerableMail,
  AUTOMATIC_FORWARD_FIELDS,
  AUTOMATIC_REPLY_FIELDS,
  automaticForwardRefusal,
  automaticReplyRefusal,
} from '../../../core/sending/automatic-reply.ts';

const person: AnswerableMail = {
  headers: [
    ['from', 'Ada <ada@elsewhere.test>'],
    ['content-type', 'text/plain'],
    ['subject', 'List of orders'],
  ],
  returnPath: 'ada@elsewhere.test',
  fromAddress: 'ada@elsewhere.test',
};

function withField(name: string, value: string): AnswerableMail {
  return { ...person, headers: [...person.headers, [name, value]] };
}

test.each([
  ['mail of a person', person],
  ['mail whose return path is unknown', { ...person, returnPath: null }],
  ['Auto-Submitted: no', withField('auto-submitted', 'no')],
  ['Auto-Submitted: No (a comment)', withField('auto-submitted', ' No (a comment)')],
  ['Auto-Submitted: no; with a parameter', withField('auto-submitted', 'no; x=1')],
  ['Precedence: first-class', withField('precedence', 'first-class')],
  ['X-Auto-Response-Suppress: RN', withField('x-auto-response-suppress', 'RN, NRN')],
  ['multipart/alternative', withField('content-type', 'multipart/alternative; boundary=a')],
  ['a name that only contains list', withField('x-list-id', 'a')],
])('a program may reply to %s', (_, mail) => {
  expect(automaticReplyRefusal(mail)).toBeNull();
});

test.each([
  ['mail with the null return path', { ...person, returnPath: '' }],
  ['Auto-Submitted: auto-generated', withField('auto-submitted', 'auto-generated')],
  ['Auto-Submitted: auto-replied', withField('auto-submitted', 'Auto-Replied; x=1')],
  ['Auto-Submitted: nothing that is known', withField('auto-submitted', 'none')],
  ['Auto-Submitted without a value', withField('auto-submitted', '')],
  ['Precedence: bulk', withField('precedence', 'Bulk')],
  ['Precedence: list', withField('precedence', 'list')],
  ['Precedence: junk', withField('precedence', ' junk ')],
  ['Precedence: auto_reply', withField('precedence', 'auto_reply')],
  ['List-Id', withField('list-id', 'List <list.elsewhere.test>')],
  ['List-Unsubscribe', withField('list-unsubscribe', '<mailto:off@elsewhere.test>')],
  ['X-Auto-Response-Suppress: All', withField('x-auto-response-suppress', 'All')],
  ['X-Auto-Response-Suppress: OOF, AutoReply', withField('x-auto-response-suppress', 'OOF, AutoReply')],
  ['X-Autoreply', withField('x-autoreply', 'yes')],
  ['a report', withField('content-type', 'multipart/report; report-type=delivery-status')],
  ['MAILER-DAEMON', { ...person, fromAddress: 'MAILER-DAEMON@elsewhere.test' }],
  ['the owner of a list', { ...person, returnPath: 'owner-users@elsewhere.test' }],
  ['a request address', { ...person, fromAddress: 'users-request@elsewhere.test' }],
])('a program does not reply to %s', (_, mail) => {
  expect(automaticReplyRefusal(mail)).toMatch(/gets no automatic reply \(RFC 3834\)\.$/);
});

test('programs do not reply to what programs send here, nor forward it twice', () => {
  const headersOf = (fields: Readonly<Record<string, string>>) =>
    Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value] as const);
  const reply = { ...person, headers: headersOf(AUTOMATIC_REPLY_FIELDS) };
  const forward = { ...person, headers: headersOf(AUTOMATIC_FORWARD_FIELDS) };
  expect(automaticReplyRefusal(reply)).not.toBeNull();
  expect(automaticReplyRefusal(forward)).not.toBeNull();
  expect(automaticForwardRefusal(forward.headers)).toMatch(/not forwarded again/);
  expect(automaticForwardRefusal(reply.headers)).toBeNull();
});
