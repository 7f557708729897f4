import { expect, test } from 'vitest';
import {
  AUTOMATIC_FORWARD_FIELDS,
  AUTOMATIC_REPLY_FIELDS,
  automaticForwardRefusal,
  automaticReplyRefusal,
  type RepliableMail,
  readCorrespondent,
} from '../../../core/sending/automatic-reply.ts';
import { ACKNOWLEDGING_SUBJECTS, PERSONAL_SUBJECTS } from './acknowledging-subjects.ts';
import { AUTOMATIC_MAIL, type FieldCase, PERSONAL_MAIL } from './automatic-mail.ts';
import { FRESH_AUTOMATIC_MAIL } from './fresh-automatic-mail.ts';
import { PUBLISHED_AUTOMATIC_MAIL } from './published-automatic-mail.ts';
import { WORLD_AUTOMATIC_MAIL } from './world-automatic-mail.ts';

const person: RepliableMail = {
  headers: [
    ['from', 'Ada <ada@elsewhere.test>'],
    ['content-type', 'text/plain'],
    ['subject', 'List of orders'],
  ],
  returnPath: 'ada@elsewhere.test',
  fromAddress: 'ada@elsewhere.test',
};

function withField(name: string, value: string): RepliableMail {
  return { ...person, headers: [...person.headers, [name, value]] };
}

function readRefusal([, fields]: FieldCase): string | null {
  const own = new Set(fields.map(([name]) => name));
  const headers = [...person.headers.filter(([name]) => !own.has(name)), ...fields];
  return automaticReplyRefusal({ ...person, headers });
}

test.each(AUTOMATIC_MAIL)('a program does not reply to the mail of a program: %s', (...mail) => {
  expect(readRefusal(mail)).toMatch(/gets no automatic reply/);
});

test.each(PERSONAL_MAIL)('a program may reply to the mail of a person: %s', (...mail) => {
  expect(readRefusal(mail)).toBeNull();
});

test.each([...FRESH_AUTOMATIC_MAIL, ...WORLD_AUTOMATIC_MAIL, ...PUBLISHED_AUTOMATIC_MAIL])(
  'a program knows whether it may reply to the mail of %s: %s',
  (_system, isAnswered, fields) => {
    const fromAddress = /<([^>]+)>/.exec(fields['from'] ?? '')?.[1] ?? fields['from'] ?? '';
    const headers = Object.entries(fields);
    expect(automaticReplyRefusal({ headers, returnPath: fromAddress, fromAddress }) === null).toBe(isAnswered);
  },
);

test.each(PERSONAL_SUBJECTS)(
  'a program may reply to a person whose subject is like one of a help desk: %s',
  (subject) => {
    expect(readRefusal([subject, [['subject', subject]]])).toBeNull();
  },
);

test.each(ACKNOWLEDGING_SUBJECTS)(
  'a program does not reply to a help desk that acknowledges a request: %s',
  (subject) => {
    const headers = [['subject', subject] as const];
    expect(automaticReplyRefusal({ ...person, headers, fromAddress: 'support@elsewhere.test' })).not.toBeNull();
    const response = [...headers, ['in-reply-to', '<a@elsewhere.test>'] as const];
    expect(automaticReplyRefusal({ ...person, headers: response })).not.toBeNull();
    expect(automaticReplyRefusal({ ...person, headers: [...headers, ['x-zendesk-id', '1']] })).not.toBeNull();
    const tagged = [['subject', `${subject} [#4711]`] as const];
    expect(automaticReplyRefusal({ ...person, headers: tagged })).not.toBeNull();
  },
);

test('a program does not reply to the bounces of a list', () => {
  expect(automaticReplyRefusal({ ...person, returnPath: 'users-bounces+joe=dest.test@lists.test' })).not.toBeNull();
});

test.each([
  ['x-', 1_000_000],
  ['is out of the office ', 1_000_000],
  ['auto: ', 1_000_000],
  ['automatic repl ', 1_000_000],
  ['[ticket] ', 1_000_000],
  ['your a ', 1_000_000],
])('fields of 1,000,000 characters of %j are read in limited time', (part, length) => {
  const value = part.repeat(length / part.length);
  const headers = ['subject', 'x-mailer', 'precedence', `x-${'a-'.repeat(100_000)}`].map(
    (name) => [name, value] as const,
  );
  const startedAt = process.cpuUsage();
  automaticReplyRefusal({ ...person, headers });
  expect(process.cpuUsage(startedAt).user / 1_000).toBeLessThan(1_000);
});

test.each([
  ['mail of a person', person],
  ['mail whose return path is unknown', { ...person, returnPath: null }],
  ['Auto-Submitted: no', withField('auto-submitted', 'no')],
  ['Auto-Submitted: No (a comment)', withField('auto-submitted', ' No (a comment)')],
  ['Auto-Submitted: no; with a parameter', withField('auto-submitted', 'no; x=1')],
  ['Precedence: first-class', withField('precedence', 'first-class')],
  ['X-Auto-Response-Suppress: RN', withField('x-auto-response-suppress', 'RN, NRN')],
  ['multipart/alternative', withField('content-type', 'multipart/alternative; boundary=a')],
  ['a name that only contains list', withField('x-wishlist', 'a')],
  ['Feedback-ID of Amazon SES, which it adds to every message', withField('feedback-id', '1.us-east-1.abc=:AmazonSES')],
  ['X-Autoreply: no', withField('x-autoreply', 'no')],
  ['a subject that asks for leave', withField('subject', 'Vacation request for August')],
  ['Delivered-To of a person', withField('delivered-to', 'hello@inbox.test')],
  [
    'a form of a web site, with its visitor in Reply-To',
    { ...withField('reply-to', 'ann@x.test'), fromAddress: 'noreply@elsewhere.test' },
  ],
  ['an address that only begins with no', { ...person, fromAddress: 'norbert@elsewhere.test' }],
  ['a mail program', withField('x-mailer', 'Apple Mail (2.3774)')],
])('a program may reply to %s', (_, mail) => {
  expect(automaticReplyRefusal(mail)).toBeNull();
});

test.each([
  'do_not_reply',
  'do.not.reply',
  'noreply2',
  'no-reply-billing',
  'no.replies',
  'ne-pas-repondre',
  'nepasrepondre',
  'nicht-antworten',
  'keine.antwort',
  'no-responder',
  'nao-responda',
  'non-rispondere',
  'geen-antwoord',
  'svar-ikke',
  'Please-Do-Not-Reply',
  'autoreply',
  'auto-response',
  'bounces',
  'bounces+ann=dest.test',
  'bounce-4711_html-82-19',
  'bounces-2',
  'notifications',
  'notifications+4711',
  'order-notifications',
  'files-noreply',
  'team+no-reply',
])('a program does not reply to %s@', (localPart) => {
  const fromAddress = `${localPart}@elsewhere.test`;
  expect(automaticReplyRefusal({ ...person, fromAddress })).not.toBeNull();
});

test.each([
  'nora.reply',
  'noah',
  'reply',
  'svarti',
  'antwort',
  'donotello',
  'autorepair',
  'bounce-house',
  'bounce-house-24',
  'bounce-4-fun',
  'bounces-4-kids',
  'geena',
  // What a person calls their own mail.
  'jane+notifications',
  'jane.doe+alerts',
])('a program may reply to %s@', (localPart) => {
  expect(automaticReplyRefusal({ ...person, fromAddress: `${localPart}@elsewhere.test` })).toBeNull();
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
  ['X-Auto-Response-Suppress: DR, RN, OOF (Freshdesk)', withField('x-auto-response-suppress', 'DR, RN, OOF')],
  ['X-Autoreply-From', withField('x-autoreply-from', 'a@b.test')],
  ['X-Autoresponder-Loop', withField('x-autoresponder-loop', '1')],
  ['X-Vacation', withField('x-vacation', 'message')],
  ['X-Out-Of-Office', withField('x-out-of-office', 'true')],
  ['X-Loop (Zammad, procmail)', withField('x-loop', 'yes')],
  ['X-OTRS-Loop', withField('x-otrs-loop', 'yes')],
  ['X-Helpdesk-Loop-Detection', withField('x-helpdesk-loop-detection', '1')],
  ['X-RT-Loop-Prevention', withField('x-rt-loop-prevention', 'example.com')],
  ['X-Jira-Fingerprint', withField('x-jira-fingerprint', 'abc')],
  ['X-ServiceNow-Generated', withField('x-servicenow-generated', 'true')],
  ['X-FC-MachineGenerated', withField('x-fc-machinegenerated', 'true')],
  ['X-POST-MessageClass', withField('x-post-messageclass', '9; Autoresponder')],
  ['Delivered-To: Autoresponder', withField('delivered-to', 'Autoresponder')],
  ['X-Precedence: bulk', withField('x-precedence', 'bulk')],
  ['X-Mailing-List', withField('x-mailing-list', 'users@elsewhere.test')],
  ['X-BeenThere', withField('x-beenthere', 'users@elsewhere.test')],
  ['X-List-Id', withField('x-list-id', 'users')],
  ['Mailing-List (ezmlm)', withField('mailing-list', 'contact users-help@elsewhere.test; run by ezmlm')],
  ['Feedback-ID of a bulk sender', withField('feedback-id', 'campaign:customer:type:sender')],
  ['X-Failed-Recipients (Exim)', withField('x-failed-recipients', 'a@b.test')],
  ['X-MS-Exchange-Inbox-Rules-Loop', withField('x-ms-exchange-inbox-rules-loop', 'a@b.test')],
  ['X-Cron-Env', withField('x-cron-env', '<SHELL=/bin/sh>')],
  ['X-Mailer of an autoresponder', withField('x-mailer', 'cPanel Autoresponder 1.2')],
  ['the subject of an automatic reply', withField('subject', 'Automatic reply: List of orders')],
  ['the subject of an automatic reply in German', withField('subject', 'Automatische Antwort: Bestellung')],
  ['an address that reads no mail', { ...person, fromAddress: 'do-not-reply@elsewhere.test' }],
  ['a report', withField('content-type', 'multipart/report; report-type=delivery-status')],
  ['MAILER-DAEMON', { ...person, fromAddress: 'MAILER-DAEMON@elsewhere.test' }],
  ['the owner of a list', { ...person, returnPath: 'owner-users@elsewhere.test' }],
  ['a request address', { ...person, fromAddress: 'users-request@elsewhere.test' }],
])('a program does not reply to %s', (_, mail) => {
  expect(automaticReplyRefusal(mail)).toMatch(/gets no automatic reply \(RFC 3834\)\.$/);
});

test('programs do not reply to mail of programs, nor forward it twice', () => {
  const listHeaders = (fields: Readonly<Record<string, string>>) =>
    Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value] as const);
  const reply = { ...person, headers: listHeaders(AUTOMATIC_REPLY_FIELDS) };
  const forward = { ...person, headers: listHeaders(AUTOMATIC_FORWARD_FIELDS) };
  expect(automaticReplyRefusal(reply)).not.toBeNull();
  expect(automaticReplyRefusal(forward)).not.toBeNull();
  expect(automaticForwardRefusal(forward.headers)).toMatch(/not forwarded again/);
  expect(automaticForwardRefusal(reply.headers)).toBeNull();
});

test.each([
  ['Ann@Example.org', 'ann@example.org'],
  ['support+id4711@help.example.org', 'support@help.example.org'],
  ['+tag@example.org', '+tag@example.org'],
])('counts automatic replies to %s as those to %s', (address, correspondent) => {
  expect(readCorrespondent(address)).toBe(correspondent);
});
