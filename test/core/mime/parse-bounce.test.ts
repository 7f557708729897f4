import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type DeliveryReport,
  type RecipientReport,
  readDeliveryStatus,
} from '../../../core/mime/delivery-status-part.ts';
import { readFeedback, readMailReport } from '../../../core/mime/parse-bounce.ts';
import {
  complainingRecipients,
  reportedRecipients,
  statusAfterReport,
  suppressedByReport,
} from '../../../core/mime/report-effects.ts';
import type { RecipientStatus } from '../../../core/smtp/delivery-status.ts';
import { corporaDirectory, hasCorpora, readEmlMessages } from '../../support/mail/corpora.ts';

const perMessage = 'Reporting-MTA: dns; mx.x.test\n\n';
const first = (fields: string): RecipientReport | undefined =>
  readDeliveryStatus(Buffer.from(perMessage + fields))?.recipients[0];

describe('parses a recipient report', () => {
  const plain = {
    finalRecipient: 'a@x.test',
    originalRecipient: null,
    action: 'failed',
    status: '5.1.1',
    diagnosticCode: null,
    replyCode: null,
    remoteMta: null,
    reason: 'user_unknown',
    command: null,
    bounce: 'hard',
  };
  const head = 'Final-Recipient: rfc822; a@x.test\nAction: failed\n';
  test.each([
    [
      'in full',
      `${head}Status: 5.1.1\nRemote-MTA: dns; mx.y.test\nDiagnostic-Code: smtp; 550 5.1.1 unknown\n  user\n`,
      { remoteMta: 'mx.y.test', diagnosticCode: '550 5.1.1 unknown user', replyCode: 550 },
    ],
    ['with CRLF', `${head}Status: 5.1.1\n`.replaceAll('\n', '\r\n'), {}],
    [
      'in other case',
      'FINAL-RECIPIENT: RFC822;<a@x.test>\naction: Failed (for good)\nstatus: 5.1.1 (unknown user)\n',
      {},
    ],
    ['without a type', 'Final-Recipient: a@x.test\nAction: failed\nStatus: 5.1.1\n', {}],
    [
      'with the address that we gave',
      `Original-Recipient: rfc822;b@x.test\n${head}Status: 5.1.1\n`,
      { originalRecipient: 'b@x.test' },
    ],
    [
      'with the address that we gave alone',
      'Original-Recipient: rfc822;b@x.test\nAction: failed\nStatus: 5.1.1\n',
      { originalRecipient: 'b@x.test', finalRecipient: null },
    ],
    [
      'delayed',
      'Final-Recipient: rfc822; a@x.test\nAction: delayed\nStatus: 4.4.1\n',
      { action: 'delayed', status: '4.4.1', reason: 'network_error', bounce: 'soft' },
    ],
    ['given up', `${head}Status: 4.4.7\n`, { status: '4.4.7', reason: 'expired', bounce: 'soft' }],
    [
      'delivered',
      'Final-Recipient: rfc822; a@x.test\nAction: delivered\nStatus: 2.1.5\n',
      { action: 'delivered', status: '2.1.5', reason: null, bounce: null },
    ],
    [
      'relayed',
      'Final-Recipient: rfc822; a@x.test\nAction: relayed\n',
      { action: 'relayed', status: '2.0.0', reason: null, bounce: null },
    ],
    [
      'expanded',
      'Final-Recipient: rfc822; a@x.test\nAction: expanded\nStatus: 2.0.0\n',
      { action: 'expanded', status: '2.0.0', reason: null, bounce: null },
    ],
    [
      'delayed with a status of class 5',
      'Final-Recipient: rfc822; a@x.test\nAction: delayed\nStatus: 5.0.0\n',
      { action: 'delayed', status: '5.0.0', reason: 'unknown', bounce: 'soft' },
    ],
    [
      'without a status, with one in the diagnostic code',
      `${head}Diagnostic-Code: smtp; 550 5.7.1 no\n`,
      { status: '5.7.1', diagnosticCode: '550 5.7.1 no', replyCode: 550, reason: 'policy', bounce: 'soft' },
    ],
    [
      'without a status, with a code',
      `${head}Diagnostic-Code: smtp; 450 later\n`,
      { status: '4.0.0', diagnosticCode: '450 later', replyCode: 450, reason: 'unknown', bounce: 'soft' },
    ],
    [
      'with an error that is no reply of SMTP',
      `${head}Status: 5.1.1\nDiagnostic-Code: X-LOCAL; 500 (err.nosuchuser)\n`,
      { diagnosticCode: '500 (err.nosuchuser)', replyCode: null },
    ],
    [
      'with a diagnostic code without a type',
      `${head}Status: 5.1.1\nDiagnostic-Code: 550 no\n`,
      { diagnosticCode: '550 no', replyCode: 550 },
    ],
    ['without anything', head, { status: '5.0.0', reason: 'unknown', bounce: 'soft' }],
    ['with a broken status', `${head}Status: 5.1\n`, { status: '5.0.0', reason: 'unknown', bounce: 'soft' }],
  ])('%s', (_, fields, over) => {
    expect(first(fields)).toEqual({ ...plain, ...over });
  });

  test.each([
    ['no recipient', 'Action: failed\nStatus: 5.1.1\n'],
    ['neither action nor status', 'Final-Recipient: rfc822; a@x.test\n'],
    ['an unknown action', 'Final-Recipient: rfc822; a@x.test\nAction: exploded\n'],
    ['nothing', ''],
  ])('is not a report with %s', (_, fields) => {
    expect(first(fields)).toBeUndefined();
  });

  test.each([
    ['that is no address', 'x400; /C=DE/'],
    ['with spaces', 'rfc822; a@x.test b@x.test'],
    ['too long', `rfc822; ${'a'.repeat(400)}@x.test`],
    ['that is a local part', 'rfc822; a'],
  ])('names no recipient with a recipient %s', (_, recipient) => {
    expect(first(`Final-Recipient: ${recipient}\nAction: failed\nStatus: 5.1.1\n`)).toEqual({
      ...plain,
      finalRecipient: null,
    });
  });

  test.each([
    ['failed', '5.1.1'],
    ['failed', '[5.1.1]'],
    ['delayed', '4.4.1'],
    ['delivered', '2.1.5'],
  ])('takes a missing action from the status: %s, %s', (action, status) => {
    expect(first(`Final-Recipient: rfc822; a@x.test\nStatus: ${status}\n`)).toMatchObject({ action });
  });

  test.each([
    ['hard', 'Bad-Mailbox', '550 sorry'],
    ['hard', 'bad-domain', '550 sorry'],
    ['soft', 'spam-related', '550 sorry'],
    ['soft', 'other', '550 sorry'],
    // The words win.
    ['soft', 'bad-mailbox', '552 mailbox full'],
  ])('reads %s with the category %s of PowerMTA and %s', (bounce, category, words) => {
    const fields = `Status: 5.0.0\nDiagnostic-Code: smtp; ${words}\nX-PowerMTA-BounceCategory: ${category}\n`;
    expect(first(head + fields)).toMatchObject({ bounce });
  });

  test('reads a report without a group for the message', () => {
    expect(
      readDeliveryStatus(Buffer.from('Final-Recipient: rfc822; a@x.test\nAction: failed\n'))?.recipients,
    ).toHaveLength(1);
  });

  test('reads at most 200 recipients, with limited time and length', () => {
    const group = `Final-Recipient: rfc822; a@x.test\nAction: failed\nDiagnostic-Code: smtp; ${'x'.repeat(2_000)}\n\n`;
    const report = readDeliveryStatus(Buffer.from(perMessage + group.repeat(5_000)));
    expect(report?.recipients).toHaveLength(200);
    expect(report?.recipients[0]?.diagnosticCode).toMatch(/^x{990,1000}$/);
  });

  test('drops everything that PostgreSQL would reject', () => {
    const report = first(
      'Final-Recipient: rfc822; a@x.test\nAction: failed\nDiagnostic-Code: smtp; 550 \0\u001b\xff\n',
    );
    expect(report?.diagnosticCode).toMatch(/^550 [^\0]*$/);
  });
});

describe('status of a recipient after a report', () => {
  const report = (action: RecipientReport['action']): RecipientReport => ({
    finalRecipient: 'a@x.test',
    originalRecipient: null,
    action,
    status: '5.1.1',
    diagnosticCode: null,
    replyCode: null,
    remoteMta: null,
    reason: null,
    command: null,
    bounce: 'hard',
  });
  test.each([
    ['delivered', 'failed', 'bounced'],
    ['pending', 'failed', 'bounced'],
    ['bounced', 'failed', null],
    ['failed', 'failed', null],
    ['delivered', 'delayed', null],
    ['pending', 'delayed', null],
    ['delivered', 'delivered', null],
    ['pending', 'relayed', null],
  ] satisfies [RecipientStatus, RecipientReport['action'], string | null][])(
    '%s becomes after %s: %s',
    (current, action, next) => {
      expect(statusAfterReport(current, report(action))).toBe(next);
    },
  );

  const recipients = [
    { id: 'rcp_1', address: 'Ann@x.test', isReportable: true },
    { id: 'rcp_2', address: 'bob@x.test', isReportable: true },
    { id: 'rcp_3', address: 'cy@y.test', isReportable: false },
  ];
  test.each([
    ['the one it names', { finalRecipient: 'ann@X.test' }, 'rcp_1'],
    ['the one that we named', { originalRecipient: 'bob@x.test', finalRecipient: 'ann@x.test' }, 'rcp_2'],
    ['the return address’s own behind a forwarding', { finalRecipient: 'robert@y.test' }, 'rcp_2'],
    ['nobody when it names one of another transaction', { finalRecipient: 'cy@y.test' }, undefined],
  ])('is about %s', (_, over, id) => {
    const found = reportedRecipients([{ ...report('failed'), ...over }], recipients, 'rcp_2');
    expect(found.map((one) => one?.id)).toEqual([id]);
  });

  test('is about no recipient when the one of the return address no longer exists, or has its own report', () => {
    const stranger = { ...report('failed'), finalRecipient: 'c@x.test' };
    expect(reportedRecipients([stranger], recipients, 'rcp_4')).toEqual([null]);
    const own = { ...report('delivered'), finalRecipient: 'bob@x.test' };
    expect(reportedRecipients([stranger, own], recipients, 'rcp_2')).toEqual([null, recipients[1]]);
  });
});

describe('whether a report suppresses its recipient', () => {
  const report = (fields: string) => first(`Final-Recipient: rfc822; a@x.test\n${fields}`);
  test.each([
    ['Action: failed\nStatus: 5.1.1\n', true],
    ['Action: failed\nDiagnostic-Code: smtp; 550 no such user (in reply to RCPT TO command)\n', true],
    ['Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 5.1.1 no such user\n', true],
    ['Action: failed\nDiagnostic-Code: smtp; 550 no such user\n', true],
    ['Action: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 554 5.7.1 user unknown\n', true],
    ['Action: failed\nStatus: 4.1.1\nDiagnostic-Code: smtp; 450 4.1.1 unknown user\n', true],
    ['Action: failed\nStatus: 5.4.4\nDiagnostic-Code: X-Postfix; Host not found\n', true],
    ['Action: delayed\nStatus: 4.1.1\nDiagnostic-Code: smtp; 450 4.1.1 unknown user\n', false],
    ['Action: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 550 5.7.1 Unable to verify sender: user unknown\n', false],
    ['Action: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 550 5.7.1 Client host unknown\n', false],
    ['Action: failed\nStatus: 5.7.26\nDiagnostic-Code: smtp; 550 5.7.26 no such user\n', false],
    ['Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.7.1 IP address blacklisted by recipient\n', false],
    ['Action: failed\nStatus: 5.2.2\n', false],
    ['Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 552 mailbox full\n', false],
    ['Action: failed\nStatus: 4.4.7\n', false],
    ['Action: delayed\nStatus: 5.1.1\n', false],
    ['Action: delivered\nStatus: 2.0.0\n', false],
  ])('%j: %s', (fields, isSuppressed) => {
    const read = report(fields);
    expect(read !== undefined && suppressedByReport(read)).toBe(isSuppressed);
  });
});

describe('feedback', () => {
  test.each([
    ['abuse', true],
    ['Fraud', true],
    ['virus', true],
    ['other', true],
    ['not-spam', false],
    ['auth-failure', false],
    ['dmarc', false],
    ['constructor', false],
  ])('of type %s is a complaint: %s', (type, isComplaint) => {
    expect(readFeedback(Buffer.from(`Feedback-Type: ${type}\nVersion: 1\n`))).toMatchObject({
      feedbackType: type.toLowerCase(),
      isComplaint,
    });
  });

  test('without a type is ignored', () => {
    expect(readFeedback(Buffer.from('User-Agent: x\n'))).toBeNull();
  });

  test('names sender and recipients if given', () => {
    const content =
      'Feedback-Type: abuse\nOriginal-Mail-From: <bounce+x@own.test>\nOriginal-Rcpt-To: <a@x.test>\n\nOriginal-Rcpt-To: b@x.test\nOriginal-Rcpt-To: redacted\nOriginal-Rcpt-To: a@x.test\n';
    expect(readFeedback(Buffer.from(content))).toMatchObject({
      originalMailFrom: 'bounce+x@own.test',
      originalRecipients: ['a@x.test', 'b@x.test'],
    });
  });
});

describe('a complaint comes from', () => {
  const recipients = [
    { id: 'rcp_1', address: 'Ann@x.test', isReportable: true },
    { id: 'rcp_2', address: 'bob@x.test', isReportable: true },
    { id: 'rcp_3', address: 'cy@x.test', isReportable: true },
    { id: 'rcp_4', address: 'ed@y.test', isReportable: false },
  ];
  test.each([
    ['those that it names', ['ann@X.test', 'cy@x.test', 'dee@x.test'], ['rcp_1', 'rcp_3']],
    ['the return address’s own when it names nobody', [], ['rcp_2']],
    ['the return address’s own when it names a stranger', ['dee@x.test'], ['rcp_2']],
    ['nobody when it names one of another transaction', ['ed@y.test'], []],
  ])('%s', (_, originalRecipients, ids) => {
    const report = readFeedback(Buffer.from('Feedback-Type: abuse\n'));
    if (report === null) throw new Error('unreachable');
    const found = complainingRecipients({ ...report, originalRecipients }, recipients, 'rcp_2');
    expect(found.map(({ id }) => id)).toEqual(ids);
  });
});

test('the return address of a complaint is taken from the returned message if the report hides it', async () => {
  const message = Buffer.from(
    [
      'Content-Type: multipart/report; report-type=feedback-report; boundary=b',
      '',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: abuse',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      'Return-Path: <bounce+y@own.test>',
      'Message-ID: <em_1@own.test>',
      '--b--',
      '',
    ].join('\r\n'),
  );
  expect(await readMailReport(message)).toMatchObject({
    kind: 'feedback',
    originalMailFrom: 'bounce+y@own.test',
    originalMessageId: '<em_1@own.test>',
  });
});

test('an encoded part is decoded, and a report within a forwarded message is ignored', async () => {
  const status = Buffer.from(`${perMessage}Final-Recipient: rfc822; a@x.test\nAction: failed\nStatus: 5.1.1\n`);
  const part = (type: string, body: string) =>
    Buffer.from(
      `Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: ${type}\r\n${body}\r\n--b--\r\n`,
    );
  const encoded = `Content-Transfer-Encoding: base64\r\n\r\n${status.toString('base64')}`;
  expect(await readMailReport(part('message/delivery-status', encoded))).toMatchObject({ kind: 'delivery-status' });
  const forwarded = `\r\nContent-Type: message/delivery-status\r\n\r\n${status.toString()}`;
  expect(await readMailReport(part('message/rfc822', forwarded))).toBeNull();
});

describe.runIf(hasCorpora)('the corpora', () => {
  const read = async (name: string) =>
    readMailReport(await readFile(path.join(corporaDirectory, 'eml', `${name}.eml`)));

  /** file, final recipient, action, status, bounce, start of the diagnostic code, original Message-ID */
  test.each([
    [
      'stalwart-reports__failure',
      'foobar@example.org',
      'failed',
      '5.1.2',
      'hard',
      '550 User does not exist',
      '<01HEGJ0WNBY28Y95LN@mr.timeplex.com>',
    ],
    [
      'stalwart-reports__success',
      'jane@example.org',
      'delivered',
      '2.1.5',
      null,
      null,
      '<01HEGJ0WNBY28Y95LN@mr.timeplex.com>',
    ],
    ['flanker__delayed', 'foo@example.com', 'failed', '4.0.0', 'soft', '426 connection timed out', null],
    ['flanker__delayed-broken', 'demo@example.com', 'failed', '4.2.2', 'soft', null, null],
    [
      'flanker__mailbox-full',
      'user@aol.com',
      'failed',
      '5.2.2',
      'soft',
      '552 5.2.2 E4.12 user MAILBOX FULL',
      '<4E326A95.3010907@example.com>',
    ],
    [
      'flanker__no-mx',
      'user@example.com',
      'delayed',
      '4.4.4',
      'soft',
      '454 4.4.4 [internal] no MX',
      '<19E44CA63F984902B7D654F8FF40F89D@bo>',
    ],
    ['flanker__office365', 'noname@example.com', 'failed', '5.1.10', 'hard', '550 5.1.10 RESOLVER.ADR', undefined],
    [
      'flanker__zed',
      'asdfasdfasdfasdfasdfasdfewrqertrtyrthsfgdfgadfqeadvxzvz@gmail.com',
      'failed',
      '5.1.1',
      'hard',
      '550-5.1.1 The email account',
      '<20090708054735.GC7578@example.com>',
    ],
    [
      'mikel-mail__multipart_report_emails_report_422',
      'fraser@oooooooo.com.au',
      'delayed',
      '4.2.2',
      'soft',
      '452 4.2.2 <fraser',
      '<15655788.13.1200472642578.JavaMail.Administrator@mail.ttttt.com.au>',
    ],
    [
      'mikel-mail__multipart_report_emails_report_530',
      'edwin@zzzzzzz.com',
      'failed',
      '5.3.0',
      'hard',
      '553 5.3.0',
      '<200712232303.lBNN3jDq002941@mail12.rrrr.com.au>',
    ],
    [
      'mikel-mail__multipart_report_emails_multi_address_bounce1',
      'bbbbvhvbbvkjbhfbvbvjhb@gmail.com',
      'failed',
      '5.1.1',
      'hard',
      '550-5.1.1',
      undefined,
    ],
    [
      'mimekit__delivery-status',
      'newsletter-request@imusic.com',
      'failed',
      '5.0.0',
      'hard',
      '500 (err.nosuchuser)',
      '<31FC7EB4.41C6@netscape.com>',
    ],
    [
      'mimekit__delivery-status2',
      'source@domain.com',
      'failed',
      '5.0.0',
      'hard',
      'source@domain.com Unknown user',
      null,
    ],
  ])(
    'a report is read from %s',
    async (name, finalRecipient, action, status, bounce, diagnosticCode, originalMessageId) => {
      const report = await read(name);
      expect(report).toMatchObject({
        kind: 'delivery-status',
        ...(originalMessageId === undefined ? {} : { originalMessageId }),
      });
      const [recipient] = (report as DeliveryReport).recipients;
      expect(recipient).toMatchObject({ finalRecipient, action, status, bounce });
      expect(recipient?.diagnosticCode?.slice(0, diagnosticCode?.length ?? 0) ?? null).toBe(diagnosticCode);
    },
  );

  test('stalwart-reports__mixed reports each recipient separately', async () => {
    const report = (await read('stalwart-reports__mixed')) as DeliveryReport;
    expect(report.reportingMta).toBe('mx.example.org');
    expect(report.recipients.map((one) => [one.finalRecipient, one.action, one.bounce, one.remoteMta])).toEqual([
      ['foobar@example.org', 'failed', 'hard', 'mx.example.org'],
      ['jane@example.org', 'delivered', null, 'mx2.example.org'],
      ['john.doe@example.org', 'delayed', 'soft', 'mx.domain.org'],
    ]);
    expect(report.recipients[2]?.originalRecipient).toBe('jdoe@example.org');
  });

  test.each([
    ['stalwart-reports__arf1', 'abuse', true, null, []],
    ['stalwart-reports__arf3', 'auth-failure', false, 'randomuser@example.net', ['user@example.com']],
    ['stalwart-reports__arf5', 'auth-failure', false, 'anexample.reply@a.sender.example', []],
    ['mimekit__feedback-report', 'abuse', true, 'somespammer@example.net', ['user@example.com']],
    ['flanker__aol', 'abuse', true, null, []],
  ])('feedback is read from %s', async (name, feedbackType, isComplaint, originalMailFrom, originalRecipients) => {
    expect(await read(name)).toMatchObject({
      kind: 'feedback',
      feedbackType,
      isComplaint,
      originalMailFrom,
      originalRecipients,
    });
  });

  test('contain no other report', async () => {
    const found: string[] = [];
    for (const { file, bytes } of await readEmlMessages()) {
      if ((await readMailReport(bytes)) !== null) found.push(path.basename(file, '.eml'));
    }
    expect(found.toSorted()).toEqual(REPORTS.toSorted());
  });
});

const REPORTS = [
  'flanker__aol',
  'flanker__delayed',
  'flanker__delayed-broken',
  'flanker__mailbox-full',
  'flanker__no-mx',
  'flanker__office365',
  'flanker__zed',
  'mikel-mail__multipart_report_emails_multi_address_bounce1',
  'mikel-mail__multipart_report_emails_report_422',
  'mikel-mail__multipart_report_emails_report_530',
  'mimekit__delivery-status',
  'mimekit__delivery-status2',
  'mimekit__feedback-report',
  'stalwart-reports__arf1',
  'stalwart-reports__arf3',
  'stalwart-reports__arf5',
  'stalwart-reports__failure',
  'stalwart-reports__mixed',
  'stalwart-reports__success',
];
