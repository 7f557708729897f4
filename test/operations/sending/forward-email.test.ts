import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { UserError } from '../../../core/shared/errors.ts';
import { forwardEmail, type NewForward } from '../../../operations/sending/forward-email.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, readStoredMessage } from '../../support/rows/stored-message.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

let stage: MailStage;
let box: TestMailbox;

beforeAll(async () => {
  stage = await openMailStage({ withoutActors: ['delivery'] });
  box = await stage.mailbox();
});
afterAll(() => stage?.close());

const forward = (emailId: string, input: Partial<NewForward> = {}, key: string | null = null, of: TestMailbox = box) =>
  forwardEmail(
    stage.makeContext(of.workspaceId),
    emailId,
    { from: of.address, to: 'joe@elsewhere.test', attachments: 'all', ...input },
    key === null
      ? null
      : { key, operation: 'forward', requestSha256: createHash('sha256').update(JSON.stringify(input)).digest('hex') },
  );

const original = Buffer.from(
  [
    'From: Ann <ann@outside.test>',
    `To: someone@outside.test`,
    'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
    'Message-ID: <first@outside.test>',
    'References: <root@outside.test>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>Hello <img src="cid:pic@x"><script>bad()</script></p>',
    '--b',
    'Content-Type: image/png',
    'Content-ID: <pic@x>',
    'Content-Disposition: inline; filename=pic.png',
    'Content-Transfer-Encoding: base64',
    '',
    'iVBORw0KGgo=',
    '--b',
    'Content-Type: message/rfc822',
    'Content-Disposition: attachment; filename=mail.eml',
    '',
    'Subject: inner',
    '',
    'inner text',
    '--b',
    'Content-Type: text/csv; name="t.csv"',
    'Content-Disposition: attachment; filename="täble.csv"',
    '',
    'a,b',
    '--b--',
    '',
  ].join('\r\n'),
);

async function received(bytes = original): Promise<string> {
  const emailId = await stage.deliver(bytes, box.address);
  for (;;) {
    const { rows } = await stage.database.pool.query('select thread_id from email where id = $1', [emailId]);
    if (rows[0]?.thread_id != null) return emailId;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function readSent(emailId: string) {
  const { rows } = await stage.database.pool.query(
    `select e.type, e.status, e.subject, e.to_addresses, e.attachment_count, e.scheduled_at, c.in_reply_to, c.reference_ids, ${MESSAGE_COLUMNS}
     from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id join raw_message m on m.id = e.raw_id
     where e.id = $1`,
    [emailId],
  );
  return { ...rows[0], message: await parseMessage(readStoredMessage(rows[0])) };
}

async function readThread(emailId: string): Promise<string> {
  for (;;) {
    const { rows } = await stage.database.pool.query('select thread_id from email where id = $1', [emailId]);
    if (rows[0]?.thread_id != null) return rows[0].thread_id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function catchRefusal(work: Promise<unknown>) {
  const error = await work.catch((reason: unknown) => reason);
  return error instanceof UserError ? [error.code, error.message] : error;
}

test('forwards a received email as a new message with its bodies and attachments, in a new thread', async () => {
  const emailId = await received();
  const { receipt } = await forward(emailId, { text: 'look', cc: ['kim@elsewhere.test'] });
  const id = receipt.emails[0]?.id ?? '';
  const sent = await readSent(id);
  expect(sent).toMatchObject({
    type: 'sent',
    subject: 'Fwd: Grüße',
    in_reply_to: [],
    reference_ids: [],
    attachment_count: 3,
  });
  expect(sent.message.textBody).toMatch(/^look\n\n-+ Forwarded message -+\nFrom: Ann <ann@outside\.test>\n/);
  expect(sent.message.htmlBody).toContain('<img src="cid:pic@x"');
  expect(sent.message.htmlBody).not.toContain('script');
  const names = (sent.message.attachments as { filename: string; contentId: string | null; size: number }[]).map(
    ({ filename, contentId, size }) => [filename, contentId, size],
  );
  expect(names).toContainEqual(['pic.png', '<pic@x>', 8]);
  expect(new Set(names.map(([name]) => name))).toEqual(new Set(['mail.eml', 'pic.png', 'täble.csv']));
  expect(await readThread(id)).not.toBe(await readThread(emailId));
  const again = await forward(id, { to: 'lee@elsewhere.test', attachments: 'none' });
  expect(await readSent(again.receipt.emails[0]?.id ?? '')).toMatchObject({
    subject: 'Fwd: Grüße',
    attachment_count: 0,
  });
});

test('subject, schedule and idempotency keys work as for other emails', async () => {
  const emailId = await received();
  const [one, two] = [
    await forward(emailId, { subject: 'Mine', scheduledAt: 'in 2 hours' }, 'key'),
    await forward(emailId, { subject: 'Mine', scheduledAt: 'in 2 hours' }, 'key'),
  ];
  expect(two.receipt).toEqual(one.receipt);
  expect(await readSent(one.receipt.emails[0]?.id ?? '')).toMatchObject({ type: 'scheduled', subject: 'Mine' });
  expect(await catchRefusal(forward(one.receipt.emails[0]?.id ?? ''))).toEqual([
    'validation',
    'Cannot forward an email that has not been sent',
  ]);
});

test('rejects what cannot be sent, and does not find other users’ emails', async () => {
  const emailId = await received();
  expect(await catchRefusal(forward(emailId, { to: null }))).toEqual([
    'validation',
    expect.stringContaining('required'),
  ]);
  expect(await catchRefusal(forward(emailId, { to: 'nobody' }))).toEqual([
    'validation',
    'Invalid email format: nobody',
  ]);
  expect(await catchRefusal(forward(emailId, { from: 'x@outside.test' }))).toEqual(['forbidden', expect.any(String)]);
  expect(await catchRefusal(forward(emailId, { headers: { References: '<a@b>' } }))).toEqual([
    'validation',
    'Header cannot be set: References',
  ]);
  const other = await stage.mailbox();
  const [foreign, unknown] = [
    await catchRefusal(forward(emailId, {}, null, other)),
    await catchRefusal(forward('em_unknown', {}, null, other)),
  ];
  expect(foreign).toEqual(['not_found', 'Email not found']);
  expect(foreign).toEqual(unknown);
});

test('an email too large to send is forwarded without attachments', async () => {
  const part = 'x'.repeat(76).concat('\r\n').repeat(140_000);
  const emailId = await received(
    Buffer.from(
      `Subject: big\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nsmall\r\n--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=big.pdf\r\n\r\n${part}\r\n--b--\r\n`,
    ),
  );
  expect(await catchRefusal(forward(emailId))).toEqual([
    'validation',
    expect.stringContaining('Forward it without attachments.'),
  ]);
  const { receipt } = await forward(emailId, { attachments: 'none' });
  expect(await readSent(receipt.emails[0]?.id ?? '')).toMatchObject({ attachment_count: 0 });
});
