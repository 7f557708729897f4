import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { corporaDirectory, hasCorpora } from '../support/mail/corpora.ts';
import { until } from '../support/servers/service.ts';
import { type SinkMta, startSinkMta } from '../support/servers/sink-mta.ts';
import { SmtpClient, toData } from '../support/servers/smtp-client.ts';
import { SendingStage, type StageAccount } from '../support/stages/sending-stage.ts';

interface Step {
  post?: string;
  body?: Record<string, string>;
  smtp_to?: string | string[];
  eml?: string;
}

interface Listed {
  id: string;
  type: string;
  subject: string;
  thread_id: string;
}

describe.skipIf(!hasCorpora)('of the public reports about threads of several steps', () => {
  let relay: SinkMta;
  let stage: SendingStage;
  let sent = 0;

  beforeAll(async () => {
    // As Amazon SES does: each reply names the id that the message leaves with.
    const script = { message: () => `250 Ok 0102018f0000000${++sent}-aaaa-bbbb-000000` as const };
    relay = await startSinkMta({ name: 'relay.test', script });
    stage = await SendingStage.start('single', { OUTBOUND_RELAY_URL: `smtp://127.0.0.1:${relay.port}` });
  }, 300_000);
  afterAll(async () => {
    await stage?.stop();
    await relay?.stop();
  });

  async function readSteps(name: string, renames: Record<string, string>): Promise<Step[]> {
    let file = await readFile(path.join(corporaDirectory, 'public-reports', `${name}.json`), 'utf8');
    for (const [from, to] of Object.entries(renames)) file = file.replaceAll(from, to);
    return (JSON.parse(file) as { steps: Step[] }).steps;
  }

  async function offer(recipients: readonly string[], bytes: Uint8Array, reversePath: string): Promise<void> {
    const client = await SmtpClient.greet(stage.service.smtpPort);
    try {
      await client.say(`MAIL FROM:<${reversePath}>`);
      for (const recipient of recipients) expect((await client.say(`RCPT TO:<${recipient}>`)).code).toBe(250);
      await client.say('DATA');
      client.send(toData(bytes));
      expect((await client.reply()).code).toBe(250);
    } finally {
      client.destroy();
    }
  }

  async function awaitEmails(account: StageAccount, subject: string, count: number): Promise<Listed[]> {
    let emails: Listed[] = [];
    await until(
      `${count} emails about ${subject}`,
      () => JSON.stringify(emails),
      async () => {
        const { data } = (await account.call('GET', '/emails?limit=100')).body as { data: Listed[] };
        emails = data.filter((email) => email.subject.includes(subject));
        return emails.length >= count;
      },
    );
    return emails.toReversed();
  }

  const countThreads = (emails: readonly Listed[]) => new Set(emails.map((email) => email.thread_id)).size;

  test('94: a reply that names only the id of the relay joins the thread', async () => {
    const hello = await stage.createAddress('hello94');
    const [, post, reply] = await readSteps('94-relay-that-rewrites-message-ids', { 'hello@inbox.test': hello });
    const before = sent;
    const { id } = (await stage.account.call('POST', '/emails', post?.body)).body as { id: string };
    await stage.awaitStatus(id, 'delivered');
    const eml = (reply?.eml ?? '').replaceAll('0102018f00000001', `0102018f0000000${before + 1}`);
    await offer([hello], Buffer.from(eml), 'cust@ext.example');
    const emails = await awaitEmails(stage.account, 'Your order 77', 2);
    expect([emails.length, countThreads(emails)]).toEqual([2, 1]);
  });

  test.each(['keeps', 'replaces'])(
    '95: mail to the own address is in one thread, sent and received, if the relay %s its id',
    async (what) => {
      const hello = await stage.createAddress(`${what}95`);
      const [post] = await readSteps('95-mail-to-oneself', {
        'hello@inbox.test': hello,
        'Note to self': `Note ${what}`,
      });
      const before = sent;
      const { id } = (await stage.account.call('POST', '/emails', post?.body)).body as { id: string };
      await stage.awaitStatus(id, 'delivered');
      const left = relay.messages.find(({ recipients }) => recipients.includes(hello));
      const text = (left?.bytes ?? Buffer.alloc(0)).toString('latin1');
      const token = `0102018f0000000${before + 1}-aaaa-bbbb-000000`;
      const arrives = what === 'keeps' ? text : text.replace(/^message-id:.*$/im, `Message-ID: <${token}@relay.test>`);
      await offer([hello], Buffer.from(arrives, 'latin1'), left?.from ?? '');
      const emails = await awaitEmails(stage.account, `Note ${what}`, 2);
      expect(countThreads(emails)).toBe(1);
      const { body } = await stage.account.call('GET', `/mail/threads/${emails[0]?.thread_id}`);
      const { messages } = body as { messages: { type: string; thread_position: number }[] };
      expect(messages.map(({ type, thread_position: at }) => `${type} ${at}`)).toEqual(['outbound 0', 'inbound 1']);
    },
  );

  test('101: each account has its own copies of one transaction, in a thread of its own', async () => {
    const other = await stage.service.createAccount();
    const [hello, second] = [await stage.createAddress('hello101'), await stage.createAddress('second101')];
    const ada = await stage.createAddress('hi', other);
    const [both, reply] = await readSteps('101-two-tenants-one-transaction', {
      'hello@inbox.test': hello,
      'second@inbox.test': second,
      'hi@ada.inbox.test': ada,
    });
    for (const [step, subject] of [
      [both, 'Both'],
      [reply, 'Re: Both'],
    ] as const) {
      const eml = `From: ext@e.example\r\nTo: ${hello}\r\nSubject: ${subject}\r\n${step?.eml}\r\n\r\nx\r\n`;
      await offer([step?.smtp_to ?? []].flat(), Buffer.from(eml), 'ext@e.example');
    }
    const theirs = await awaitEmails(other, 'Both', 2);
    const ours = await awaitEmails(stage.account, 'Both', 2);
    expect(theirs.map(({ subject }) => subject)).toEqual(['Both', 'Re: Both']);
    expect(ours.map(({ subject }) => subject)).toEqual(['Both', 'Both']);
    expect([countThreads(theirs), countThreads(ours), countThreads([...theirs, ...ours])]).toEqual([1, 1, 2]);
  });
});
