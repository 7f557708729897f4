import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { type ServiceMode, until } from '../support/servers/service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { readField, readMessageId, SendingStage, type SharedGround } from '../support/stages/sending-stage.ts';

// scheduling.program.ts kills a service that is sending. Separate processes send in metrics.program.ts, sending-faults.attack.ts and
// traces.program.ts; with `npm run test:long`, here too.
describe.each<ServiceMode>(isQuick ? ['single'] : ['single', 'split'])(
  'an email posted arrives at another server (%s)',
  (mode) => {
    const peer = `sending-${mode}.test`;
    let stage: SendingStage<SharedGround>;
    let sender: string;

    beforeAll(async () => {
      stage = await SendingStage.share(mode, peer);
      sender = await stage.createAddress('hello');
    }, 300_000);
    afterAll(() => stage?.stop());

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

    test('a new user posts with curl, the message arrives signed, and its status becomes delivered', async () => {
      const request = {
        from: `Ada Lovelace <${sender}>`,
        to: [`bob@${peer}`, `Eve <eve@${peer}>`],
        bcc: `blind@${peer}`,
        reply_to: `replies@${peer}`,
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
      const result = (await response.json()) as { id: string; message_id: string; status: string };
      expect(result).toMatchObject({
        status: 'sent',
        message_id: expect.stringMatching(new RegExp(`^<[^@]+@${stage.account.domain}>$`)),
      });

      const message = await stage.awaitMessage(result.message_id);
      expect(message.recipients.toSorted()).toEqual([`blind@${peer}`, `bob@${peer}`, `eve@${peer}`]);
      expect(message.connection.helo).toBe('mx.postroom.test');
      expect(readField(message.bytes, 'From')).toBe(`Ada Lovelace <${sender}>`);
      expect(readField(message.bytes, 'To')).toContain(`eve@${peer}`);
      expect(readField(message.bytes, 'Reply-To')).toBe(`replies@${peer}`);
      expect(readField(message.bytes, 'X-Order')).toBe('4711');
      expect(message.bytes.toString()).not.toContain('blind@');

      const verdict = await stage.verify(message);
      const { domain } = stage.account;
      expect(verdict.dkim).toMatchObject([{ result: 'pass', domain }]);
      expect(verdict.spf.result).toBe('pass');
      expect([domain, `mail.${domain}`]).toContain(verdict.spf.domain);
      expect(verdict.dmarc).toBe('pass');

      const email = await stage.awaitStatus(result.id, 'delivered');
      expect(email).toMatchObject({
        object: 'email',
        type: 'sent',
        last_event: 'delivered',
        subject: request.subject,
        bcc: [`blind@${peer}`],
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
          log: [{ number: 1, outcome: 'delivered', host: `mx.${peer}`, remote_address: stage.sink.host, code: 250 }],
        });
      const file = await stage.account.call('GET', `/attachments/${result.id}/orders.csv`);
      expect(file.body.toString()).toBe('id\n1\n');
      const list = await stage.account.call('GET', '/emails?type=sent&status=delivered');
      expect(list.body.data.map((each: { id: string }) => each.id)).toEqual([result.id]);
    });

    test('a reply that arrives by SMTP joins its thread', async () => {
      const question = await stage.account.call('POST', '/emails', {
        from: sender,
        to: `bob@${peer}`,
        subject: 'A question',
        text: 'Why?',
      });
      const message = await stage.awaitMessage(question.body.message_id);
      const bytes = [
        `Message-ID: <because@${peer}>`,
        `In-Reply-To: ${readMessageId(message)}`,
        `From: bob@${peer}`,
        `To: ${sender}`,
        'Subject: Re: A question',
        '',
        'Because.',
      ].join('\r\n');
      const offered = await sendOne({
        port: stage.service.smtpPort,
        reversePath: `bob@${peer}`,
        recipients: [sender],
        bytes: Buffer.from(bytes),
      });
      expect(offered.code).toBe(250);
      const replyId = /em_[0-9a-f]{32}/.exec(offered.reply ?? '')?.[0] ?? '';
      const threadId = await awaitThread(replyId);
      expect(await awaitThread(question.body.id)).toBe(threadId);
      const messages = await threadMessages(threadId);
      expect(messages.map(({ message_id, type }) => [message_id, type])).toEqual([
        [question.body.message_id, 'outbound'],
        [`<because@${peer}>`, 'inbound'],
      ]);
      await stage.awaitStatus(question.body.id, 'delivered');
      expect((await threadMessages(threadId))[0]?.status).toBe('sent');
    });

    test('an email to an address of this service arrives at our own listener, in one thread with the sent one', async () => {
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

    test('bounces go to the MAIL FROM domain once its records were found, and SPF passes for it', async () => {
      await until(
        'the records of MAIL FROM are seen',
        () => stage.service.output.slice(-2000),
        async () => {
          // They are looked for at intervals that grow to an hour, the first time perhaps before they were published.
          await stage.query(`update domain set check_due_at = postroom_now() where id = $1`, [stage.account.domainId]);
          const { body } = await stage.account.call('GET', `/domains/${stage.account.domainId}`);
          return body.mailFromDomainStatus === 'Success';
        },
      );
      const sent = await stage.account.call('POST', '/emails', {
        from: sender,
        to: `bob@${peer}`,
        subject: 'Later',
        text: 'Hello',
      });
      const message = await stage.awaitMessage(sent.body.message_id);
      const mailFrom = `mail.${stage.account.domain}`;
      expect(message.from).toMatch(new RegExp(`^bounce\\+[^@]+@${mailFrom}$`));
      const verdict = await stage.verify(message);
      expect(verdict).toMatchObject({ spf: { result: 'pass', domain: mailFrom }, dmarc: 'pass' });
    });
  },
);
