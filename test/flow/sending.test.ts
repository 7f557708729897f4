import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { type ServiceMode, until } from '../support/servers/service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { fieldOf, messageIdOf, SendingStage } from '../support/stages/sending-stage.ts';

// In `npm test`, sending by separate processes is in sending-faults.test.ts and traces.test.ts.
describe.each<ServiceMode>(isQuick ? ['single'] : ['single', 'split'])(
  'an email posted arrives at another server (%s)',
  (mode) => {
    let stage: SendingStage;
    let sender: string;

    beforeAll(async () => {
      stage = await SendingStage.start(mode);
      sender = await stage.createAddress('hello');
    }, 300_000);
    afterAll(() => stage?.stop(), 60_000);

    async function awaitThread(id: string): Promise<string> {
      let threadId: unknown = null;
      await until(
        `${id} has a thread`,
        () => stage.service.output.slice(-2000),
        async () => {
          threadId = (await stage.account.call('GET', `/emails/${id}`)).body.thread_id;
          return typeof threadId === 'string';
        },
      );
      return String(threadId);
    }

    async function threadMessages(threadId: string): Promise<{ message_id: string; type: string; status?: string }[]> {
      return (await stage.account.call('GET', `/mail/threads/${threadId}`)).body.messages;
    }

    test('a newcomer posts as curl does, the message arrives signed, and its status turns delivered', async () => {
      const request = {
        from: `Ada Lovelace <${sender}>`,
        to: ['bob@elsewhere.test', 'Eve <eve@elsewhere.test>'],
        bcc: 'blind@elsewhere.test',
        reply_to: 'replies@elsewhere.test',
        subject: 'Où est ma commande ?',
        text: 'Bonjour.\n.\nÀ demain',
        html: '<p>Bonjour</p>',
        headers: { 'X-Order': '4711' },
        tags: [{ name: 'kind', value: 'order' }],
        attachments: [
          { filename: 'orders.csv', content: Buffer.from('id\n1\n').toString('base64'), content_type: 'text/csv' },
        ],
      };
      const response = await fetch(`${stage.service.url}/api/e2/emails`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stage.account.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
      expect(response.status).toBe(200);
      const answer = (await response.json()) as { id: string; message_id: string; status: string };
      expect(answer).toMatchObject({
        status: 'sent',
        message_id: expect.stringMatching(new RegExp(`^<[^@]+@${stage.account.domain}>$`)),
      });

      const message = await stage.messageOf(answer.message_id);
      expect(message.recipients.toSorted()).toEqual([
        'blind@elsewhere.test',
        'bob@elsewhere.test',
        'eve@elsewhere.test',
      ]);
      expect(message.connection.helo).toBe('mx.postroom.test');
      expect(fieldOf(message.bytes, 'From')).toBe(`Ada Lovelace <${sender}>`);
      expect(fieldOf(message.bytes, 'To')).toContain('eve@elsewhere.test');
      expect(fieldOf(message.bytes, 'Reply-To')).toBe('replies@elsewhere.test');
      expect(fieldOf(message.bytes, 'X-Order')).toBe('4711');
      expect(message.bytes.toString()).not.toContain('blind@');
      expect(stage.dns.queries).toContain('MX elsewhere.test');

      const verdict = await stage.verify(message);
      const { domain } = stage.account;
      expect(verdict.dkim).toMatchObject([{ result: 'pass', domain }]);
      expect(verdict.spf.result).toBe('pass');
      expect([domain, `mail.${domain}`]).toContain(verdict.spf.domain);
      expect(verdict.dmarc).toBe('pass');

      const email = await stage.awaitStatus(answer.id, 'delivered');
      expect(email).toMatchObject({
        object: 'email',
        type: 'sent',
        last_event: 'delivered',
        subject: request.subject,
        bcc: ['blind@elsewhere.test'],
        tags: request.tags,
        sent_at: expect.stringMatching(/^\d{4}-/),
        has_attachments: true,
      });
      expect(email['recipients'].map(({ address }: { address: string }) => address).toSorted()).toEqual(
        message.recipients.toSorted(),
      );
      for (const recipient of email['recipients'])
        expect(recipient).toMatchObject({
          status: 'delivered',
          attempts: 1,
          enhanced_status: '2.0.0',
          log: [{ number: 1, outcome: 'delivered', host: 'mx.elsewhere.test', remote_address: '127.0.0.1', code: 250 }],
        });
      const file = await stage.account.call('GET', `/attachments/${answer.id}/orders.csv`);
      expect(file.body.toString()).toBe('id\n1\n');
      const list = await stage.account.call('GET', '/emails?type=sent&status=delivered');
      expect(list.body.data.map((each: { id: string }) => each.id)).toEqual([answer.id]);
    });

    test('an answer to it that comes in by SMTP joins its thread', async () => {
      const question = await stage.account.call('POST', '/emails', {
        from: sender,
        to: 'bob@elsewhere.test',
        subject: 'A question',
        text: 'Why?',
      });
      const message = await stage.messageOf(question.body.message_id);
      const bytes = [
        'Message-ID: <because@elsewhere.test>',
        `In-Reply-To: ${messageIdOf(message)}`,
        'From: bob@elsewhere.test',
        `To: ${sender}`,
        'Subject: Re: A question',
        '',
        'Because.',
      ].join('\r\n');
      const offered = await sendOne({
        port: stage.service.smtpPort,
        reversePath: 'bob@elsewhere.test',
        recipients: [sender],
        bytes: Buffer.from(bytes),
      });
      expect(offered.code).toBe(250);
      const answerId = /em_[0-9a-f]{32}/.exec(offered.reply ?? '')?.[0] ?? '';
      const threadId = await awaitThread(answerId);
      expect(await awaitThread(question.body.id)).toBe(threadId);
      const messages = await threadMessages(threadId);
      expect(messages.map(({ message_id, type }) => [message_id, type])).toEqual([
        [question.body.message_id, 'outbound'],
        ['<because@elsewhere.test>', 'inbound'],
      ]);
      await stage.awaitStatus(question.body.id, 'delivered');
      expect((await threadMessages(threadId))[0]?.status).toBe('sent');
    });

    test('an email to an address of this service comes in at our own listener, in one thread with what was sent', async () => {
      const own = await stage.createAddress('desk');
      const offered = stage.sink.offered.length;
      const sent = await stage.account.call('POST', '/emails', {
        from: sender,
        to: own,
        subject: 'To ourselves',
        text: 'Round and round',
      });
      await stage.awaitStatus(sent.body.id, 'delivered');
      let received: { id: string; thread_id: string }[] = [];
      await until(
        'the email is received and threaded',
        () => stage.service.output.slice(-2000),
        async () => {
          received = (await stage.account.call('GET', `/emails?type=received&address=${own}`)).body.data;
          return received.length === 1 && received[0]?.thread_id !== null;
        },
      );
      const threadId = await awaitThread(sent.body.id);
      expect(received.map((each) => each.thread_id)).toEqual([threadId]);
      const messages = await threadMessages(threadId);
      expect(messages.map(({ message_id, type }) => [message_id, type])).toEqual([
        [sent.body.message_id, 'outbound'],
        [sent.body.message_id, 'inbound'],
      ]);
      const { body } = await stage.account.call('GET', `/emails/${received[0]?.id}`);
      expect(body.authentication.dkim).toMatchObject([{ result: 'pass', domain: stage.account.domain }]);
      expect(stage.sink.offered.length, 'nothing went to another server').toBe(offered);
    });

    test('once the MAIL FROM records are seen, bounces go there, and SPF passes for it', async () => {
      // They are looked for at intervals that grow to an hour, the first time perhaps before they were published.
      await stage.passSeconds(3_600);
      await until(
        'the records of MAIL FROM are seen',
        () => stage.service.output.slice(-2000),
        async () => {
          const { body } = await stage.account.call('GET', `/domains/${stage.account.domainId}`);
          return body.mailFromDomainStatus === 'Success';
        },
      );
      const sent = await stage.account.call('POST', '/emails', {
        from: sender,
        to: 'bob@elsewhere.test',
        subject: 'Later',
        text: 'Hello',
      });
      const message = await stage.messageOf(sent.body.message_id);
      const mailFrom = `mail.${stage.account.domain}`;
      expect(message.from).toMatch(new RegExp(`^bounce\\+[^@]+@${mailFrom}$`));
      const verdict = await stage.verify(message);
      expect(verdict).toMatchObject({ spf: { result: 'pass', domain: mailFrom }, dmarc: 'pass' });
    });

    if (mode === 'single') {
      test('kill -9 of the whole service with mail in hand: it goes after the start, although its lease holds on', async () => {
        stage.sink.answer({ data: () => 'hang' });
        const sent = await stage.account.call('POST', '/emails', {
          from: sender,
          to: 'bob@elsewhere.test',
          subject: 'In hand',
          text: 'Hello',
        });
        const offered = stage.sink.transactions.length;
        await stage.sink.until(({ transactions }) => transactions[offered]?.recipients.length === 1);
        const claims = await stage.query(
          `select 1 from recipient where status = 'pending' and claimed_until > postroom_now()`,
        );
        expect(claims, 'the kill meets a claim').toHaveLength(1);
        await stage.service.end('runner', 'SIGKILL');
        await stage.query(
          `update recipient set claimed_until = claimed_until + interval '1 hour' where status = 'pending' and claimed_by is not null`,
        );
        stage.sink.answer({});
        await stage.service.start();
        await stage.messageOf(sent.body.message_id);
        const email = await stage.awaitStatus(sent.body.id, 'delivered');
        expect(email['recipients']).toMatchObject([
          {
            attempts: 1,
            log: [
              { number: 1, outcome: 'interrupted' },
              { number: 2, outcome: 'delivered' },
            ],
          },
        ]);
      });
    }

    if (mode === 'split') {
      test('each actor is a separate process, and sending crosses nats-server', async () => {
        const names = ['gateway', 'smtp', 'receiving', 'threading', 'delivery', 'sending', 'scheduling'];
        const pids = names.map((name) => stage.service.processes.get(name)?.pid);
        expect(new Set(pids).size).toBe(names.length);
        const messages = async () =>
          (
            (await (await fetch(`http://127.0.0.1:${stage.service.natsMonitorPort}/varz`)).json()) as {
              in_msgs: number;
            }
          ).in_msgs;
        const before = await messages();
        const sent = await stage.account.call('POST', '/emails', {
          from: sender,
          to: 'bob@elsewhere.test',
          subject: 'Over NATS',
          text: 'Hello',
        });
        await stage.messageOf(sent.body.message_id);
        // the wakes of sending and of threading, and the event of the live feed
        expect(await messages()).toBeGreaterThanOrEqual(before + 3);
      });
    }
  },
);
