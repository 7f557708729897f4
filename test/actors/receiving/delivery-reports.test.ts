import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { bouncedRecipient, deliveryReport, textBounce } from '../../support/mail/reports.ts';
import { wrongTotals } from '../../support/rows/outgoing-rows.ts';
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

describe('a DSN to a return address', () => {
  test('about a hard bounce settles its recipient, suppresses the address and creates no email', async () => {
    const sent = await insertSentMail(database, mailbox, {
      recipients: [{ address: 'Joe@elsewhere.test' }, { address: 'ann@second.test' }],
    });
    const receptionId = await actors.deliver(
      deliveryReport(bouncedRecipient('joe@elsewhere.test')),
      sent.returnAddress(0, `mail.${domain}`),
    );
    expect(await listRecipients(database, sent.emailId)).toMatchObject([
      {
        address: 'Joe@elsewhere.test',
        status: 'bounced',
        last_code: null,
        last_status: '5.1.1',
        last_text: '550 5.1.1 No such user',
        next_attempt_at: null,
        settled_at: expect.any(Date),
      },
      { address: 'ann@second.test', status: 'delivered', last_text: 'Ok' },
    ]);
    expect(await actors.email(sent.emailId)).toMatchObject({
      status: 'bounced',
      failure_reason: '550 5.1.1 No such user',
    });
    expect(await wrongTotals(database, mailbox.workspaceId)).toEqual([]);
    expect(await suppressions()).toEqual([
      {
        address: 'joe@elsewhere.test',
        reason: 'bounce',
        detail: '550 5.1.1 No such user',
        email_id: sent.emailId,
      },
    ]);
    expect(await events()).toEqual([
      {
        kind: 'email.bounced',
        email_id: sent.emailId,
        data: {
          recipient: 'Joe@elsewhere.test',
          code: 550,
          status: '5.1.1',
          text: '550 5.1.1 No such user',
          bounceType: 'hard',
          reason: 'user_unknown',
        },
      },
    ]);
    expect(await actors.email(receptionId)).toBeUndefined();
    const { rows } = await database.pool.query(
      'select claimed_by, claimed_until, raw_id from reception where email_id = $1',
      [receptionId],
    );
    expect(rows).toEqual([{ claimed_by: null, claimed_until: null, raw_id: expect.stringMatching(/^raw_/) }]);
  });

  test('is sent to live subscribers', async () => {
    const sent = await insertSentMail(database, mailbox);
    const told = new Promise((resolve) => {
      actors.bus.subscribe('event.appended', (event) => {
        if (event.workspaceId === mailbox.workspaceId) resolve(event);
      });
    });
    await actors.deliver(deliveryReport(bouncedRecipient('joe@elsewhere.test')), sent.returnAddress());
    expect(await told).toEqual({ workspaceId: mailbox.workspaceId, lastSeq: 1 });
  });

  test('ends the attempts to a recipient that was accepted unnoticed, also a running one', async () => {
    const sent = await insertSentMail(database, mailbox, {
      recipients: [{ address: 'joe@elsewhere.test', status: 'pending' }],
    });
    await database.pool.query(
      `update recipient set claimed_by = 'sender', claimed_until = now() + interval '1 minute' where id = $1`,
      sent.recipientIds,
    );
    await actors.deliver(deliveryReport(bouncedRecipient('joe@elsewhere.test')), sent.returnAddress());
    const { rows } = await database.pool.query(
      'select status, next_attempt_at, claimed_by, claimed_until from recipient where id = $1',
      sent.recipientIds,
    );
    expect(rows).toEqual([{ status: 'bounced', next_attempt_at: null, claimed_by: null, claimed_until: null }]);
    expect(await actors.email(sent.emailId)).toMatchObject({ status: 'bounced' });
  });

  test('changes nothing when it arrives again, with the same bytes or others', async () => {
    const sent = await insertSentMail(database, mailbox);
    const report = deliveryReport(bouncedRecipient('joe@elsewhere.test'));
    const first = await actors.deliver(report, sent.returnAddress());
    await database.pool.query('delete from suppression where workspace_id = $1', [mailbox.workspaceId]);
    const before = await actors.state(mailbox.workspaceId, sent);
    expect(await actors.deliver(report, sent.returnAddress())).toBe(first);
    const second = await actors.deliver(deliveryReport(bouncedRecipient('joe@elsewhere.test')), sent.returnAddress());
    expect(second).not.toBe(first);
    expect(await actors.state(mailbox.workspaceId, sent)).toEqual(before);
    expect(await actors.email(second)).toBeUndefined();
  });

  test('about a delay keeps the status of its recipient and records why', async () => {
    const fields = 'Action: delayed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 451 later\n';
    const { status, text, code } = { status: '4.4.1', text: '451 later', code: 451 };
    const sent = await insertSentMail(database, mailbox, {
      recipients: [
        { address: 'joe@elsewhere.test' },
        { address: 'ann@elsewhere.test', status: 'pending', returnOf: 0 },
      ],
    });
    for (const address of ['joe@elsewhere.test', 'ann@elsewhere.test'])
      for (const time of [1, 2])
        expect(
          await actors.deliver(deliveryReport(`Final-Recipient: rfc822; ${address}\n${fields}`), sent.returnAddress()),
          `${time}`,
        ).toMatch(/^em_/);
    expect(await listRecipients(database, sent.emailId)).toMatchObject([
      {
        status: 'pending',
        last_status: status,
        last_text: text,
        next_attempt_at: expect.any(Date),
        settled_at: null,
      },
      { status: 'delivered', last_status: status, last_text: text, settled_at: expect.any(Date) },
    ]);
    expect(await actors.email(sent.emailId)).toMatchObject({ status: 'pending' });
    expect(await suppressions()).toEqual([]);
    const data = { code, status, text, bounceType: 'soft', reason: 'network_error' };
    expect(await events()).toEqual([
      { kind: 'email.delayed', email_id: sent.emailId, data: { ...data, recipient: 'joe@elsewhere.test' } },
      { kind: 'email.delayed', email_id: sent.emailId, data: { ...data, recipient: 'ann@elsewhere.test' } },
    ]);
  });

  test('about mail that another server gave up bounces its recipient softly', async () => {
    const sent = await insertSentMail(database, mailbox);
    const fields = 'Final-Recipient: rfc822; joe@elsewhere.test\nAction: failed\nStatus: 4.4.7\n';
    await actors.deliver(deliveryReport(fields), sent.returnAddress());
    expect(await listRecipients(database, sent.emailId)).toMatchObject([{ status: 'bounced', last_status: '4.4.7' }]);
    expect(await suppressions()).toEqual([]);
    expect(await events()).toMatchObject([
      { kind: 'email.bounced', data: { bounceType: 'soft', reason: 'expired', status: '4.4.7' } },
    ]);
  });

  test('about a full mailbox bounces the recipient and does not suppress it', async () => {
    const sent = await insertSentMail(database, mailbox);
    await actors.deliver(
      deliveryReport(bouncedRecipient('joe@elsewhere.test', '5.2.2', '552 5.2.2 Mailbox full')),
      sent.returnAddress(),
    );
    expect(await actors.email(sent.emailId)).toMatchObject({ status: 'bounced' });
    expect(await suppressions()).toEqual([]);
  });

  test('about a success changes nothing and creates no email', async () => {
    const sent = await insertSentMail(database, mailbox);
    const before = await actors.state(mailbox.workspaceId, sent);
    const fields = 'Final-Recipient: rfc822; joe@elsewhere.test\nAction: delivered\nStatus: 2.0.0\n';
    const receptionId = await actors.deliver(deliveryReport(fields), sent.returnAddress());
    expect(await actors.state(mailbox.workspaceId, sent)).toEqual(before);
    expect(await actors.email(receptionId)).toBeUndefined();
  });

  test('changes only recipients that shared the transaction of its return address', async () => {
    const sent = await insertSentMail(database, mailbox, {
      recipients: [
        { address: 'a@one.test' },
        { address: 'b@one.test', returnOf: 0 },
        { address: 'c@two.test' },
        { address: 'd@two.test', returnOf: 2 },
      ],
    });
    const fields = ['a', 'b', 'c', 'd'].map((name) => bouncedRecipient(`${name}@${name < 'c' ? 'one' : 'two'}.test`));
    await actors.deliver(deliveryReport(fields.slice(1).join('\n')), sent.returnAddress(0));
    const statuses = async () => (await listRecipients(database, sent.emailId)).map(({ status }) => status);
    expect(await statuses()).toEqual(['delivered', 'bounced', 'delivered', 'delivered']);
    await actors.deliver(deliveryReport(fields[3] ?? ''), sent.returnAddress(2));
    expect(await statuses()).toEqual(['delivered', 'bounced', 'delivered', 'bounced']);
  });

  test('that arrives before the transaction is recorded applies to the recipients of the domain', async () => {
    const sent = await insertSentMail(database, mailbox, {
      recipients: [
        { address: 'a@one.test', status: 'pending', returnOf: null },
        { address: 'b@one.test', status: 'pending', returnOf: null },
        { address: 'c@two.test', status: 'pending', returnOf: null },
        // On its second try, that does not bear the return address of the first one.
        { address: 'd@one.test', status: 'pending', returnOf: 3 },
        { address: 'e@one.test', status: 'pending', returnOf: 4 },
      ],
    });
    await database.pool.query(`update recipient set claimed_by = 'sender' where id = $1`, [sent.recipientIds[3]]);
    const fields = ['b@one.test', 'c@two.test', 'd@one.test', 'e@one.test'].map((address) => bouncedRecipient(address));
    await actors.deliver(deliveryReport(fields.join('\n')), sent.returnAddress(0));
    expect((await listRecipients(database, sent.emailId)).map(({ status }) => status)).toEqual([
      'pending',
      'bounced',
      'pending',
      'bounced',
      'pending',
    ]);
  });

  test('applies to the recipient of its return address, whomever it names behind a forward', async () => {
    const sent = await insertSentMail(database, mailbox);
    await actors.deliver(deliveryReport(bouncedRecipient('joseph@forwarded.test')), sent.returnAddress());
    expect(await suppressions()).toMatchObject([{ address: 'joe@elsewhere.test' }]);
  });

  test('counts once for each recipient', async () => {
    const sent = await insertSentMail(database, mailbox);
    const fields = [1, 2, 3].map((n) => bouncedRecipient(`joe${n}@forwarded.test`, `5.1.${n}`)).join('\n');
    await actors.deliver(deliveryReport(fields), sent.returnAddress());
    expect(await events()).toMatchObject([{ data: { status: '5.1.1' } }]);
  });
});

describe('a bounce in plain words to a return address', () => {
  test('settles its recipient, suppresses the address and makes no email', async () => {
    const sent = await insertSentMail(database, mailbox);
    const reply = '550 5.1.1 no such mailbox here';
    const receptionId = await actors.deliver(textBounce('joe@elsewhere.test', reply), sent.returnAddress());
    expect(await listRecipients(database, sent.emailId)).toMatchObject([
      { status: 'bounced', last_status: '5.1.1', last_text: reply, refusal_reason: 'user_unknown' },
    ]);
    expect(await suppressions()).toMatchObject([{ address: 'joe@elsewhere.test', detail: reply }]);
    expect(await events()).toMatchObject([
      { kind: 'email.bounced', data: { code: 550, bounceType: 'hard', reason: 'user_unknown' } },
    ]);
    expect(await actors.email(receptionId)).toBeUndefined();
  });

  test('of a full mailbox does not suppress the address', async () => {
    const sent = await insertSentMail(database, mailbox);
    await actors.deliver(textBounce('joe@elsewhere.test', '552 5.2.2 over quota'), sent.returnAddress());
    expect(await listRecipients(database, sent.emailId)).toMatchObject([
      { status: 'bounced', refusal_reason: 'mailbox_full' },
    ]);
    expect(await suppressions()).toEqual([]);
  });

  test('that has a sender is stored as mail as well', async () => {
    const sent = await insertSentMail(database, mailbox);
    const bytes = textBounce('joe@elsewhere.test', '550 5.1.1 no such mailbox here', 'joe@elsewhere.test');
    const receptionId = await actors.deliver(bytes, sent.returnAddress(), 'joe@elsewhere.test');
    expect(await listRecipients(database, sent.emailId)).toMatchObject([{ status: 'bounced' }]);
    expect(await actors.email(receptionId)).toMatchObject({ type: 'received', own_address: mailbox.address });
  });

  test('to a mailbox is stored as mail', async () => {
    const sent = await insertSentMail(database, mailbox);
    const receptionId = await actors.deliver(textBounce('joe@elsewhere.test', '550 5.1.1 no'), mailbox.address);
    expect(await actors.email(receptionId)).toMatchObject({ type: 'received' });
    expect(await listRecipients(database, sent.emailId)).toMatchObject([{ status: 'delivered' }]);
  });
});

describe('a forged DSN changes nothing', () => {
  let sent: SentMail;
  let before: unknown;
  beforeEach(async () => {
    sent = await insertSentMail(database, mailbox);
    before = await actors.state(mailbox.workspaceId, sent);
  });
  const report = () => deliveryReport(bouncedRecipient('joe@elsewhere.test'));

  test.each<[string, (address: string) => string]>([
    ['with a changed signature', (address) => address.replace(/.@/, (end) => (end === 'a@' ? 'b@' : 'a@'))],
    ['with another identifier', (address) => address.replace(/\+.{8}/, '+aaaaaaaa')],
    ['without a signature', (address) => address.replace(/\+.{52}/, '+x')],
    ['at another domain', (address) => address.replace('@', '@mail.')],
  ])('when it comes to a return address %s', async (_, forge) => {
    expect(await actors.deliver(report(), forge(sent.returnAddress()))).toBe(550);
    expect(await actors.state(mailbox.workspaceId, sent)).toEqual(before);
  });

  test('when it names another user’s mail', async () => {
    const other = `b${domain}`;
    const theirs = await actors.mailbox({ domain: other });
    const theirSent = await insertSentMail(database, theirs);
    await actors.deliver(report(), theirSent.returnAddress());
    expect(await actors.state(mailbox.workspaceId, sent)).toEqual(before);
    expect(await listRecipients(database, theirSent.emailId)).toMatchObject([{ status: 'bounced' }]);
    // The token is right and the domain is another user's.
    expect(await actors.deliver(report(), sent.returnAddress(0, other))).toBe(550);
    expect(await actors.state(mailbox.workspaceId, sent)).toEqual(before);
  });

  test('when it names other mail', async () => {
    const other = await insertSentMail(database, mailbox, { recipients: [{ address: 'ann@elsewhere.test' }] });
    await actors.deliver(report(), other.returnAddress());
    expect(await listRecipients(database, sent.emailId)).toMatchObject([{ status: 'delivered' }]);
  });

  test('when it goes to a mailbox: it is mail like any other', async () => {
    const returned = `Return-Path: <${sent.returnAddress()}>\nMessage-ID: ${sent.messageId}\n`;
    const receptionId = await actors.deliver(
      deliveryReport(bouncedRecipient('joe@elsewhere.test'), { returned }),
      mailbox.address,
    );
    expect(await actors.email(receptionId)).toMatchObject({ type: 'received', status: 'delivered' });
    expect(await listRecipients(database, sent.emailId)).toMatchObject([{ status: 'delivered' }]);
    expect(await suppressions()).toEqual([]);
    expect(await events()).toEqual([]);
  });
});
