import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserError } from '../../../core/shared/errors.ts';
import { MAX_MESSAGE_BYTES } from '../../../core/smtp/smtp-limits.ts';
import { type SimulationInput, simulateInbound } from '../../../operations/routing/simulate-inbound.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail, listRecipients } from '../../support/rows/sent-mail.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type MailStage, openMailStage } from '../../support/stages/mail-stage.ts';

let stage: MailStage;
let receiver: WebhookReceiver;
let box: TestMailbox;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await openMailStage();
  box = await stage.mailbox({ endpointUrl: receiver.url });
});
afterAll(async () => {
  await stage?.close();
  await receiver?.stop();
});

const RAW = 'From: Eve <eve@outside.test>\nTo: you@there.test\nSubject: Grüße\n\nhello\n';
const TEMPLATE_CONTENT = { subject: null, text: null, html: null };
const simulate = (input: Partial<SimulationInput>, key: string | null = null, of: TestMailbox = box) =>
  simulateInbound(
    stage.makeContext(of.workspaceId),
    { message: { raw: RAW }, to: of.address, from: null, ...input },
    key === null ? null : { key, operation: 'simulate', requestSha256: sha256(JSON.stringify(input)) },
  );
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function catchRefusal(work: Promise<unknown>): Promise<UserError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof UserError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

async function readEmail(emailId: string | null) {
  const { rows } = await stage.database.pool.query(
    `select e.type, e.is_test, e.subject, e.from_address, e.recipient, e.own_address, e.thread_id, e.thread_reason, e.attachment_count,
       e.message_id, c.text_body, c.html_body, c.in_reply_to, p.is_test as is_test_reception, p.reverse_path, p.trace_fields, r.outcome
     from email e join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
     join reception p on p.workspace_id = e.workspace_id and p.email_id = e.id
     left join route r on r.workspace_id = e.workspace_id and r.email_id = e.id where e.id = $1`,
    [emailId],
  );
  return rows[0];
}

test('a raw message is delivered to the webhook like all mail, marked as a test', async () => {
  const before = receiver.requests.length;
  const { emailId, to } = await simulate({});
  await receiver.until(() => receiver.requests.length > before);
  await stage.settled();
  expect(to).toBe(box.address);
  expect(await readEmail(emailId)).toMatchObject({
    type: 'received',
    is_test: true,
    is_test_reception: true,
    subject: 'Grüße',
    from_address: 'eve@outside.test',
    reverse_path: 'eve@outside.test',
    outcome: 'endpoint',
    thread_reason: 'new',
    text_body: 'hello\n',
  });
  const request = receiver.requests.at(-1);
  expect(request?.headers).toMatchObject({ 'x-postroom-test': 'true', 'x-email-id': emailId });

  const real = await stage.deliver(Buffer.from(RAW.replaceAll('\n', '\r\n')), box.address);
  await receiver.until(() => receiver.requests.length > before + 1);
  const other = receiver.requests.find(({ headers }) => headers['x-email-id'] === real);
  expect(other?.headers['x-postroom-test']).toBeUndefined();
  expect(readKeys(JSON.parse(request?.body ?? ''))).toEqual(readKeys(JSON.parse(other?.body ?? '')));
  expect((await readEmail(real)).is_test).toBe(false);
});

/** The tree of keys of a JSON value, values aside. */
function readKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readKeys);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, readKeys(each)]));
}

test('the same bytes create another email each time', async () => {
  const ids = [await simulate({}), await simulate({})].map(({ emailId }) => emailId);
  expect(new Set(ids).size).toBe(2);
  await stage.settled();
  for (const id of ids) expect(await readEmail(id)).toMatchObject({ subject: 'Grüße' });
});

test('an idempotency key creates one email for repeated requests, and belongs to one request only', async () => {
  const [one, two] = await Promise.all([simulate({}, 'key-1'), simulate({}, 'key-1')]);
  const three = await simulate({}, 'key-1');
  expect([two, three]).toEqual([one, one]);
  await stage.settled();
  const { rows } = await stage.database.pool.query(
    'select count(*)::integer as n from raw_message m where exists (select from reception p where p.raw_id = m.id and p.email_id = $1)',
    [one.emailId],
  );
  expect(rows).toEqual([{ n: 1 }]);
  const refusal = await catchRefusal(simulate({ from: 'other@outside.test' }, 'key-1'));
  expect([refusal.code, refusal.message]).toEqual([
    'conflict',
    'Idempotency key already used with different request body',
  ]);
});

test('accepts plus-tags and non-ASCII bytes as SMTP does', async () => {
  const [local, domain] = box.address.split('@');
  const raw = Buffer.concat([Buffer.from('Subject: bytes\r\n\r\n'), Buffer.from([0xff, 0x00, 0x80, 0x0a])]);
  const { emailId, to } = await simulate({ message: { raw }, to: `${local}+tag@${domain}` });
  await stage.settled();
  expect(to).toBe(`${local}+tag@${domain}`);
  expect(await readEmail(emailId)).toMatchObject({ recipient: to, own_address: box.address, reverse_path: '' });
});

test.each([
  ['plain', 'A question', 0],
  ['newsletter', 'News of the week', 0],
  ['attachment', 'Our invoice', 2],
  ['one-time-code', /^\d{6} is your code$/, 0],
  ['spam', /WINNER/, 0],
] as const)('the template %s makes a mail that parses', async (template, subject, attachments) => {
  const { emailId } = await simulate({ message: { template, ...TEMPLATE_CONTENT } });
  await stage.settled();
  const email = await readEmail(emailId);
  expect(email).toMatchObject({ from_address: 'ann@example.com', attachment_count: attachments, is_test: true });
  expect(email.subject).toMatch(subject);
  const said = await simulate({
    message: { template, subject: 'Eigener Betreff ✉', text: 'mine', html: null },
    from: 'Bob <bob@elsewhere.test>',
  });
  await stage.settled();
  expect(await readEmail(said.emailId)).toMatchObject({
    subject: 'Eigener Betreff ✉',
    text_body: expect.stringMatching(/^mine\n?$/),
    html_body: null,
    from_address: 'bob@elsewhere.test',
  });
});

test('a reply joins the thread of the email it replies to', async () => {
  const first = await simulate({ message: { template: 'plain', ...TEMPLATE_CONTENT } });
  await stage.settled();
  const reply = await simulate({
    message: { template: 'reply', emailId: first.emailId ?? '', ...TEMPLATE_CONTENT },
    to: null,
  });
  await stage.settled();
  const [one, two] = [await readEmail(first.emailId), await readEmail(reply.emailId)];
  expect(two).toMatchObject({ subject: 'Re: A question', thread_id: one.thread_id, thread_reason: 'header' });
  expect(two.in_reply_to).toEqual([one.message_id]);
  const refusal = await catchRefusal(
    simulate({ message: { template: 'reply', emailId: 'em_unknown', ...TEMPLATE_CONTENT } }),
  );
  expect([refusal.code, refusal.message]).toEqual(['not_found', 'Email not found']);
});

test('a bounce is trusted: the recipient of the sent email bounces, and no email is created', async () => {
  const sent = await insertSentMail(stage.database, box, {
    recipients: [{ address: 'one@outside.test' }, { address: 'two@outside.test' }],
  });
  const emailId = sent.emailId;
  const bounce = { template: 'bounce', emailId, recipient: 'two@outside.test', status: '5.1.1' } as const;
  const response = await simulate({ message: bounce, to: null });
  expect(response).toMatchObject({ emailId: null, reportedEmailId: emailId });
  await stage.settled();
  const statuses = (await listRecipients(stage.database, emailId)).map(({ address, status }) => [address, status]);
  expect(statuses).toContainEqual(['two@outside.test', 'bounced']);
  expect(statuses).not.toContainEqual(['one@outside.test', 'bounced']);
  expect((await catchRefusal(simulate({ message: { ...bounce, status: '2.0.0' } }))).code).toBe('validation');
  expect((await catchRefusal(simulate({ message: { ...bounce, recipient: 'x@y.test' } }))).message).toContain(
    'one@outside.test, two@outside.test',
  );
  const other = await stage.mailbox();
  expect((await catchRefusal(simulate({ message: bounce }, null, other))).message).toBe('Sent email not found');
});

test('does not reveal other users’ addresses: they count as unknown', async () => {
  const other = await stage.mailbox();
  const texts = await Promise.all(
    [other.address, 'who@nowhere.test', 'no address', '', 'a b@c.test', `x@${'y'.repeat(300)}.test`].map(async (to) => {
      const { code, message } = await catchRefusal(simulate({ to }));
      return [code, message];
    }),
  );
  expect(new Set(texts.map((text) => JSON.stringify(text))).size).toBe(1);
  expect(texts[0]).toEqual([
    'not_found',
    `The recipient is not one of your addresses. Addresses that receive mail: ${box.address}.`,
  ]);
  // ... also while the user claims their domain without proof
  const claimed = other.address.slice(other.address.lastIndexOf('@') + 1);
  await stage.database.pool.query(`insert into domain (workspace_id, id, name) values ($1, 'dom_claimed', $2)`, [
    box.workspaceId,
    claimed,
  ]);
  expect((await catchRefusal(simulate({ to: other.address }))).message).toBe(texts[0]?.[1]);
});

test('rejects what SMTP would reject, with its reply', async () => {
  const domain = box.address.split('@')[1] ?? '';
  const unknown = await catchRefusal(simulate({ to: `unknown@${domain}` }));
  expect([unknown.code, unknown.message]).toEqual([
    'validation',
    'The SMTP server would reject this: 550 5.1.1 No such mailbox',
  ]);
  const cases: [string, string][] = [
    [`Subject: x\n\n${'x'.repeat(80)}\n`.repeat(200_000).slice(0, MAX_MESSAGE_BYTES + 1), '552 5.3.4 Message size'],
    [`${'X-A: b\n'.repeat(1_001)}\nx`, '552 5.3.4 Header section'],
    [`Subject: x\n\n${'x'.repeat(1_100_000)}`, '554 5.6.0 A line is too long'],
    [`${'Received: from a by b; Sun, 1 Nov 2026 00:00:00 +0000\n'.repeat(51)}\nx`, '554 5.4.0 Too many hops'],
  ];
  for (const [raw, reply] of cases) {
    const refusal = await catchRefusal(simulate({ message: { raw } }));
    expect([refusal.code, refusal.message]).toEqual(['validation', expect.stringContaining(reply)]);
  }
});

test('is unavailable without a receiving actor', async () => {
  const alone = await openMailStage({ withoutActors: ['receiving', 'threading', 'delivery'] });
  try {
    const other = await alone.mailbox();
    const context = alone.makeContext(other.workspaceId);
    const input: SimulationInput = { message: { raw: RAW }, to: other.address, from: null };
    expect((await catchRefusal(simulateInbound(context, input, null))).code).toBe('unavailable');
  } finally {
    await alone.close();
  }
});
