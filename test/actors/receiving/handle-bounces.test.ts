import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { takeReports } from '../../../actors/receiving/handle-bounces.ts';
import type { ParseOutcome } from '../../../actors/receiving/parse-messages.ts';
import { readMailReport } from '../../../core/mime/parse-bounce.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import { claimReceptions } from '../../../db/queries/emails/reception-claim.ts';
import { corporaDirectory, hasCorpora } from '../../support/mail/corpora.ts';
import { bouncedRecipient, deliveryReport } from '../../support/mail/reports.ts';
import { wrongTotals } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail, listRecipients, type SentMail, testReturnAddressKey } from '../../support/rows/sent-mail.ts';
import { eventually, openReportActors, type ReportActors } from '../../support/servers/report-actors.ts';

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

describe('mail to a return address that is not a report', () => {
  const automatic = (sent: SentMail, subject: string) =>
    Buffer.from(
      [
        'From: Joe <joe@elsewhere.test>',
        'To: <somebody@own.test>',
        `Subject: ${subject}`,
        `In-Reply-To: ${sent.messageId}`,
        'Auto-Submitted: auto-replied',
        'Message-ID: <away@elsewhere.test>',
        '',
        'I am away.',
        '',
      ].join('\r\n'),
    );

  test('is mail to the sender’s address, in the thread of the email that it replies to', async () => {
    const sent = await insertSentMail(database, mailbox, { subject: 'Dinner' });
    actors.bus.wake('threading.assign.wake', { workspaceId: mailbox.workspaceId, emailIds: [sent.emailId] });
    const readThread = async (id: string) => (await actors.email(id))?.['thread_id'] ?? null;
    await eventually(async () => (await readThread(sent.emailId)) !== null);
    const [local = '', at = ''] = sent.returnAddress(0, `mail.${domain}`).split('@');
    const recipient = `${local.toUpperCase()}@${at}`;
    const receptionId = String(await actors.deliver(automatic(sent, 'Out of office'), recipient, 'joe@elsewhere.test'));
    await eventually(async () => (await readThread(receptionId)) !== null);
    expect(await actors.email(receptionId)).toMatchObject({
      type: 'received',
      own_address: mailbox.address,
      recipient,
      thread_id: await readThread(sent.emailId),
    });
    const { rows } = await database.pool.query('select address_id, domain_id from email where id = $1', [receptionId]);
    expect(rows).toEqual([{ address_id: mailbox.addressId, domain_id: mailbox.domainId }]);
  });

  test.each([
    ['whose machine-readable part says nothing', deliveryReport('Nothing: at all\n')],
    [
      'that is only called one',
      Buffer.from('Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b--\r\n'),
    ],
    ['that lies within a forwarded message', forwarded(deliveryReport(bouncedRecipient('joe@elsewhere.test')))],
  ])('a report %s is stored as mail', async (_, bytes) => {
    const sent = await insertSentMail(database, mailbox);
    const before = await actors.state(mailbox.workspaceId, sent);
    const receptionId = await actors.deliver(bytes, sent.returnAddress());
    expect(await actors.email(receptionId)).toMatchObject({ type: 'received', own_address: mailbox.address });
    expect(await actors.state(mailbox.workspaceId, sent)).toEqual(before);
  });

  function forwarded(bytes: Buffer): Buffer {
    const head = 'Content-Type: multipart/mixed; boundary=f\r\n\r\n--f\r\nContent-Type: message/rfc822\r\n\r\n';
    return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--f--\r\n')]);
  }
});

describe('faults in handling a bounce', () => {
  const log = pino({ level: 'silent' });
  const makeId = (kind: Parameters<typeof makeIdentifier>[0]) => makeIdentifier(kind, new Date(), randomBytes(10));
  const options = (claimant: string) => ({
    database,
    log,
    claimant,
    makeId,
    returnAddressKey: testReturnAddressKey,
    onEvents: () => undefined,
  });

  /** A reception under the lease of `one`, and what it was parsed to. */
  async function leased(bytes: Buffer, recipient: string) {
    const emailId = makeId('email');
    const { workspaceId, domainId, address } = mailbox;
    await database.pool.query(
      `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
         trace_fields, accepted_at, claimed_by, claimed_until)
       values ($1, $2, 'raw_none', '', $3, $4, $5, '', '', false, '', now(), 'one', now() + interval '1 hour')`,
      [workspaceId, emailId, recipient, address, domainId],
    );
    const outcome: ParseOutcome = {
      emailId,
      authentication: null,
      dmarcReport: null,
      message: await parseMessage(bytes),
      report: await readMailReport(bytes, { isAtReturnAddress: true }),
    };
    const reception = {
      workspaceId,
      emailId,
      recipient,
      domainId,
      rawId: 'raw_none',
      reversePath: '',
      ownAddress: address,
      addressId: null,
      replyAddressId: null,
      imported: null,
      screening: null,
      remoteAddress: '',
      helo: '',
      isTls: false,
      traceFields: '',
      acceptedAt: new Date(),
      tries: 1,
    };
    return { reception, outcome };
  }

  test('a process that lost the lease of a report writes nothing', async () => {
    const sent = await insertSentMail(database, mailbox);
    const before = await actors.state(mailbox.workspaceId, sent);
    const parsed = await leased(deliveryReport(bouncedRecipient('joe@elsewhere.test')), sent.returnAddress());
    expect(await takeReports(options('two'), [parsed])).toEqual([]);
    expect(await actors.state(mailbox.workspaceId, sent)).toEqual(before);
    expect(await takeReports(options('one'), [parsed])).toEqual([]);
    expect(await listRecipients(database, sent.emailId)).toMatchObject([{ status: 'bounced' }]);
    expect(await claimReceptions(database, 'three', 50)).toEqual([]);
  });

  test('two concurrent reports about one email bounce it once', async () => {
    const sent = await insertSentMail(database, mailbox);
    const report = () => leased(deliveryReport(bouncedRecipient('joe@elsewhere.test')), sent.returnAddress());
    const parsed = await Promise.all(Array.from({ length: 6 }, report));
    await Promise.all(parsed.map((each) => takeReports(options('one'), [each])));
    expect(await events()).toHaveLength(1);
    expect(await wrongTotals(database, mailbox.workspaceId)).toEqual([]);
  });

  test('a report that cannot be applied is stored as mail', async () => {
    const sent = await insertSentMail(database, mailbox);
    await actors.owner.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
       create trigger refuse before update on recipient for each row when (old.address = 'refused@elsewhere.test')
         execute function refuse()`,
    );
    await database.pool.query(
      `update recipient set address = 'refused@elsewhere.test' where id = $1`,
      sent.recipientIds,
    );
    const receptionId = await actors.deliver(
      deliveryReport(bouncedRecipient('refused@elsewhere.test')),
      sent.returnAddress(),
    );
    expect(await actors.email(receptionId)).toMatchObject({ type: 'received' });
    expect(await listRecipients(database, sent.emailId)).toMatchObject([{ status: 'delivered' }]);
  });
});

describe.runIf(hasCorpora)('real reports', () => {
  const corpus = async (name: string) =>
    Buffer.from(
      (await readFile(path.join(corporaDirectory, 'eml', `${name}.eml`), 'latin1')).replaceAll(/\r?\n/g, '\r\n'),
      'latin1',
    );

  test.each([
    ['stalwart-reports__failure', 'foobar@example.org', 'bounced', true],
    ['stalwart-reports__mixed', 'foobar@example.org', 'bounced', true],
    ['stalwart-reports__mixed', 'jane@example.org', 'delivered', false],
    ['stalwart-reports__mixed', 'jdoe@example.org', 'delivered', false],
    ['stalwart-reports__success', 'jane@example.org', 'delivered', false],
    ['flanker__delayed', 'foo@example.com', 'bounced', false],
    ['flanker__mailbox-full', 'user@aol.com', 'bounced', false],
    ['flanker__no-mx', 'user@example.com', 'delivered', false],
    ['flanker__office365', 'noname@example.com', 'bounced', true],
    ['flanker__zed', 'asdfasdfasdfasdfasdfasdfewrqertrtyrthsfgdfgadfqeadvxzvz@gmail.com', 'bounced', true],
    ['mikel-mail__multipart_report_emails_multi_address_bounce1', 'bbbbvhvbbvkjbhfbvbvjhb@gmail.com', 'bounced', true],
    ['mikel-mail__multipart_report_emails_report_422', 'fraser@oooooooo.com.au', 'delivered', false],
    ['mikel-mail__multipart_report_emails_report_530', 'edwin@zzzzzzz.com', 'bounced', true],
    ['mimekit__delivery-status', 'newsletter-request@imusic.com', 'bounced', true],
    ['mimekit__delivery-status2', 'source@domain.com', 'bounced', true],
  ])('%s leaves %s %s, suppressed: %s, and changes no other recipient', async (name, address, status, isSuppressed) => {
    // The one whose return address it is stands beside the one that the report names.
    const sent = await insertSentMail(database, mailbox, {
      recipients: [
        { address: 'zoe@elsewhere.test', returnOf: 1 },
        { address: address },
        { address: 'ann@second.test' },
      ],
    });
    const receptionId = await actors.deliver(await corpus(name), sent.returnAddress(1));
    const after = await listRecipients(database, sent.emailId);
    expect(Object.fromEntries(after.map((one) => [one['address'], one['status']]))).toEqual({
      [address]: status,
      'zoe@elsewhere.test': 'delivered',
      'ann@second.test': 'delivered',
    });
    expect((await suppressions()).map((one) => one['address'])).toEqual(isSuppressed ? [address] : []);
    expect(await actors.email(receptionId)).toBeUndefined();
  });

  test.each([
    ['mimekit__feedback-report', true],
    ['stalwart-reports__arf1', true],
    ['flanker__aol', true],
    ['stalwart-reports__arf3', false],
    ['stalwart-reports__dmarc1', false],
    ['stalwart-reports__tls1', false],
    ['postal__email1', false],
    ['mimekit__disposition-notification.anonymized', false],
  ])('%s is a complaint: %s', async (name, isComplaint) => {
    const sent = await insertSentMail(database, mailbox);
    const receptionId = await actors.deliver(await corpus(name), sent.returnAddress());
    expect((await suppressions()).map((one) => one['reason'])).toEqual(isComplaint ? ['complaint'] : []);
    expect((await actors.email(receptionId)) === undefined).toBe(isComplaint);
  });
});
