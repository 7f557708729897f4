import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bouncedRecipient, complaint, deliveryReport, textBounce } from '../support/mail/reports.ts';
import { until } from '../support/servers/service.ts';
import { SmtpClient, toData } from '../support/servers/smtp-client.ts';
import { SendingStage, type SharedGround } from '../support/stages/sending-stage.ts';

const FIVE_DAYS_SECONDS = 5 * 24 * 60 * 60;

let stage: SendingStage<SharedGround>;
let sender: string;
let recipients = 0;
let recipient: string;

beforeAll(async () => {
  stage = await SendingStage.share('single', 'bounces-peer.test');
  sender = await stage.createAddress('hello');
}, 300_000);
afterAll(() => stage?.stop());
beforeEach(() => {
  recipient = `joe${recipients++}@bounces-peer.test`;
});

const call = (method: string, path: string, body?: unknown) => stage.account.call(method, path, body);
const send = (to: string) => call('POST', '/emails', { from: sender, to, subject: 'Hello', text: 'Hello' });

/** Sends to the recipient and awaits that its server took it; returns the id, the msg-id and the return address that the server saw. */
async function sent(): Promise<{ id: string; messageId: string; returnAddress: string }> {
  const { id, message_id: messageId } = (await send(recipient)).body;
  const message = await stage.awaitMessage(messageId);
  await stage.awaitStatus(id, 'delivered');
  return { id, messageId, returnAddress: message.from };
}

/** What SMTP says to the RCPT, or to the whole message. */
async function offer(to: string, bytes: Uint8Array | null, reversePath = ''): Promise<string> {
  const client = await SmtpClient.greet(stage.service.smtpPort);
  try {
    await client.say(`MAIL FROM:<${reversePath}>`);
    const { text, code } = await client.say(`RCPT TO:<${to}>`);
    if (bytes === null || code !== 250) return text;
    await client.say('DATA');
    client.send(toData(bytes));
    return (await client.reply()).text;
  } finally {
    client.destroy();
  }
}

async function receivedMail(): Promise<{ id: string; subject: string; thread_id: string | null }[]> {
  return (await call('GET', '/emails?type=received')).body.data;
}

describe('bounces that arrive by SMTP', () => {
  test('a DSN sets its recipient to bounced, and the next send there is refused until the suppression is removed', async () => {
    const { id, returnAddress } = await sent();
    expect(returnAddress).toMatch(/^bounce\+[a-z2-7]{52}@/);
    const before = (await receivedMail()).length;
    // Some servers write every address in capitals.
    expect(await offer(returnAddress.toUpperCase(), deliveryReport(bouncedRecipient(recipient)))).toMatch(/^250 /);
    const email = await stage.awaitStatus(id, 'bounced');
    expect(email).toMatchObject({
      last_event: 'bounced',
      recipients: [{ address: recipient, status: 'bounced', last_response: '550 5.1.1 No such user' }],
    });
    expect((await call('GET', `/suppressions?search=${recipient}`)).body.data).toMatchObject([
      { address: recipient, reason: 'bounce', email_id: id },
    ]);
    const refused = await send(recipient);
    expect([refused.status, refused.body.error]).toEqual([400, `Cannot send to blocked recipient(s): ${recipient}`]);
    expect((await call('DELETE', `/suppressions/${recipient}`)).status).toBe(200);
    await sent();
    expect(await receivedMail()).toHaveLength(before);
  });

  test('a bounce in words is explained, and suppresses the address', async () => {
    const { id, returnAddress } = await sent();
    const bytes = textBounce(recipient, '550 5.1.1 no such mailbox here');
    expect(await offer(returnAddress, bytes)).toMatch(/^250 /);
    const refusal = {
      reason: 'user_unknown',
      type: 'hard',
      title: 'The address does not exist',
      advice: 'Check the address for typos and remove it from your lists.',
    };
    expect(await stage.awaitStatus(id, 'bounced')).toMatchObject({
      recipients: [{ status: 'bounced', last_response: '550 5.1.1 no such mailbox here', refusal }],
    });
    expect((await call('GET', `/suppressions/${recipient}`)).body).toMatchObject({ reason: 'bounce', refusal });
  });

  test('a complaint suppresses the address', async () => {
    const { returnAddress } = await sent();
    expect(await offer(returnAddress, complaint('Feedback-Type: abuse\n'), 'feedback@bounces-peer.test')).toMatch(
      /^250 /,
    );
    await until(
      'the complaint is believed',
      () => stage.service.output.slice(-2000),
      async () => (await call('GET', `/suppressions/${recipient}`)).body.reason === 'complaint',
    );
    expect((await send(recipient)).status).toBe(400);
  });

  test('an autoresponder’s reply is mail in the thread of the original', async () => {
    const { id, messageId, returnAddress } = await sent();
    const response = [
      `From: ${recipient}`,
      `To: ${sender}`,
      `Subject: Away ${recipient}`,
      `In-Reply-To: ${messageId}`,
      'Auto-Submitted: auto-replied',
      '',
      'I am away.',
    ].join('\r\n');
    expect(await offer(returnAddress, Buffer.from(response))).toMatch(/^250 /);
    let threadId: string | null = null;
    await until(
      'the reply has a thread',
      () => stage.service.output.slice(-2000),
      async () => {
        const mail = (await receivedMail()).find(({ subject }) => subject === `Away ${recipient}`);
        threadId = mail?.thread_id ?? null;
        return threadId !== null;
      },
    );
    expect((await call('GET', `/emails/${id}`)).body.thread_id).toBe(threadId);
  });

  test('unsigned return addresses are refused at RCPT, and those at other domains as relaying', async () => {
    const { returnAddress } = await sent();
    const { domain } = stage.account;
    const [local = ''] = returnAddress.split('@');
    const changed = local.replace(/.$/, (end) => (end === 'a' ? 'b' : 'a'));
    const unsigned = `bounce+${'a'.repeat(52)}`;
    expect(await offer(returnAddress, null)).toMatch(/^250 /);
    for (const forged of [
      `${changed}@${domain}`,
      `${unsigned}@${domain}`,
      `${unsigned}@mail.${domain}`,
      `bounce+x@${domain}`,
    ])
      expect(await offer(forged, null), forged).toMatch(/^550 5\.1\.1 /);
    for (const foreign of [`${local}@bounces-peer.test`, `bounce+x@mail.${domain}`, `hello@mail.${domain}`])
      expect(await offer(foreign, null), foreign).toMatch(/^550 5\.7\.1 /);
  });
});

describe('replies of servers while mail is sent', () => {
  test('a recipient that is refused permanently is suppressed', async () => {
    stage.sink.respond({ rcpt: () => '550 5.1.1 No such user' });
    try {
      const { id } = (await send(recipient)).body;
      expect(await stage.awaitStatus(id, 'bounced')).toMatchObject({
        recipients: [{ status: 'bounced', last_response: '550 5.1.1 No such user', log: [{ outcome: 'bounced' }] }],
      });
      const refused = await send(recipient);
      expect([refused.status, refused.body.error]).toEqual([400, `Cannot send to blocked recipient(s): ${recipient}`]);
    } finally {
      stage.sink.respond({});
    }
  });

  test('a mail that is deferred for five days fails, and its sender gets a DSN', async () => {
    stage.sink.respond({ rcpt: () => '450 4.2.0 Come back later' });
    try {
      const { id, message_id: messageId } = (await send(recipient)).body;
      await until(
        'it was deferred',
        () => stage.service.output.slice(-2000),
        async () => (await call('GET', `/emails/${id}`)).body.recipients[0].attempts === 1,
      );
      await stage.age(id, FIVE_DAYS_SECONDS + 60);
      const email = await stage.awaitStatus(id, 'failed');
      expect(email).toMatchObject({
        recipients: [
          { status: 'failed', attempts: 2, last_response: '450 4.2.0 Come back later', next_attempt_at: null },
        ],
      });
      let told: { id: string; thread_id: string | null } | undefined;
      await until(
        'the sender was told',
        () => stage.service.output.slice(-2000),
        async () => {
          told = (await receivedMail()).find(({ subject }) => subject === 'Undelivered mail: Hello');
          return told?.thread_id != null;
        },
      );
      const report = (await call('GET', `/emails/${told?.id}`)).body;
      expect(report).toMatchObject({
        from: 'Mail Delivery System <MAILER-DAEMON@mx.postroom.test>',
        to: [sender],
        thread_id: email['thread_id'],
        headers: { 'in-reply-to': messageId, 'auto-submitted': 'auto-replied' },
      });
      expect(report.text).toContain(recipient);
      // It is no report on which anything hangs.
      expect((await call('GET', `/suppressions/${recipient}`)).status).toBe(404);
    } finally {
      stage.sink.respond({});
    }
  });
});
