import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { bouncedRecipient, complaint, deliveryReport } from '../../support/mail/reports.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail, listRecipients, type SentMail } from '../../support/rows/sent-mail.ts';
import { openReportActors, type ReportActors } from '../../support/servers/report-actors.ts';

let actors: ReportActors;
let database: Database;
let mailbox: TestMailbox;
let domain: string;

beforeAll(async () => {
  actors = await openReportActors();
  database = actors.database;
});
afterAll(() => actors.close());
beforeEach(async () => {
  mailbox = await actors.mailbox();
  domain = mailbox.address.split('@')[1] ?? '';
});

const suppressions = (workspaceId = mailbox.workspaceId) => actors.suppressions(workspaceId);
const events = (workspaceId = mailbox.workspaceId) => actors.events(workspaceId);

describe('a complaint', () => {
  let sent: SentMail;
  beforeEach(async () => {
    sent = await insertSentMail(database, mailbox);
  });
  const complained = () => [
    { address: 'joe@elsewhere.test', reason: 'complaint', detail: 'Complaint: abuse', email_id: sent.emailId },
  ];

  test('to a return address suppresses its recipient and creates no email', async () => {
    const receptionId = await actors.deliver(
      complaint('Feedback-Type: abuse\n'),
      sent.returnAddress(),
      'feedback@elsewhere.test',
    );
    expect(await actors.email(receptionId)).toBeUndefined();
    expect(await suppressions()).toEqual(complained());
    expect(await events()).toEqual([
      {
        kind: 'email.complained',
        email_id: sent.emailId,
        data: {
          recipient: 'joe@elsewhere.test',
          code: null,
          status: null,
          text: 'Complaint: abuse',
          complaintType: 'abuse',
        },
      },
    ]);
    expect(await listRecipients(database, sent.emailId)).toMatchObject([
      { status: 'delivered', last_text: 'Ok', complained_at: expect.any(Date) },
    ]);
  });

  const ways: [string, (address: string) => Buffer][] = [
    ['in Original-Mail-From', (address) => complaint(`Feedback-Type: abuse\nOriginal-Mail-From: <${address}>\n`)],
    [
      'in the returned message',
      (address) => complaint('Feedback-Type: abuse\n', { returned: `Return-Path: <${address}>\nSubject: a\n` }),
    ],
  ];
  describe.each(ways)('with the return address %s', (_, readComplaint) => {
    test('is trusted at every address of the user, and is stored as mail as well', async () => {
      const receptionId = await actors.deliver(
        readComplaint(sent.returnAddress()),
        mailbox.address,
        'feedback@elsewhere.test',
      );
      expect(await actors.email(receptionId)).toMatchObject({ type: 'received' });
      expect(await suppressions()).toEqual(complained());
      expect(await events()).toHaveLength(1);
    });

    test('is trusted once: removed suppressions stay removed', async () => {
      await actors.deliver(readComplaint(sent.returnAddress()), mailbox.address);
      await database.pool.query('delete from suppression where workspace_id = $1', [mailbox.workspaceId]);
      await actors.deliver(readComplaint(sent.returnAddress()), mailbox.address);
      await actors.deliver(complaint('Feedback-Type: abuse\n'), sent.returnAddress());
      expect(await suppressions()).toEqual([]);
      expect(await events()).toHaveLength(1);
    });

    test('is not trusted when the return address is forged, or another user’s', async () => {
      const other = `b${domain}`;
      const theirs = await actors.mailbox({ domain: other });
      const theirSent = await insertSentMail(database, theirs);
      const forged = sent.returnAddress().replace(/.@/, (end) => (end === 'a@' ? 'b@' : 'a@'));
      for (const address of [forged, theirSent.returnAddress(), 'someone@elsewhere.test', `bounce+x@${domain}`]) {
        const receptionId = await actors.deliver(readComplaint(address), mailbox.address);
        expect(await actors.email(receptionId), address).toMatchObject({ type: 'received' });
      }
      for (const workspaceId of [mailbox.workspaceId, theirs.workspaceId]) {
        expect(await suppressions(workspaceId)).toEqual([]);
        expect(await events(workspaceId)).toEqual([]);
      }
    });
  });

  test.each(['not-spam', 'auth-failure'])('%s is feedback, and stored as mail', async (type) => {
    const receptionId = await actors.deliver(complaint(`Feedback-Type: ${type}\n`), sent.returnAddress());
    expect(await actors.email(receptionId)).toMatchObject({ type: 'received', own_address: mailbox.address });
    expect(await suppressions()).toEqual([]);
  });

  test('replaces a bounce on the suppression list', async () => {
    await actors.deliver(deliveryReport(bouncedRecipient('joe@elsewhere.test')), sent.returnAddress());
    await actors.deliver(complaint('Feedback-Type: abuse\n'), sent.returnAddress());
    expect(await suppressions()).toEqual(complained());
    await actors.deliver(
      deliveryReport(bouncedRecipient('joe@elsewhere.test')),
      (await insertSentMail(database, mailbox)).returnAddress(),
    );
    expect(await suppressions()).toEqual(complained());
  });

  test('names who complains among the recipients of the transaction', async () => {
    const shared = await insertSentMail(database, mailbox, {
      recipients: [{ address: 'a@one.test' }, { address: 'b@one.test', returnOf: 0 }, { address: 'c@two.test' }],
    });
    const fields = 'Feedback-Type: abuse\nOriginal-Rcpt-To: <B@one.test>\nOriginal-Rcpt-To: <c@two.test>\n';
    await actors.deliver(complaint(fields), shared.returnAddress());
    expect(await suppressions()).toMatchObject([{ address: 'b@one.test' }]);
  });
});
