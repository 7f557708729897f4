import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { queryOnce } from '../support/cluster/cluster.ts';
import { type ServiceMode, type TestAccount, until } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

// Separate processes over NATS are in metrics.program.ts and traces.program.ts; with `npm run test:long`, here too.
describe.each<ServiceMode>(isQuick ? ['single'] : ['single', 'split'])(
  'a mail comes in by SMTP and goes out as a webhook (%s)',
  (mode) => {
    let service: SharedService;
    let receiver: WebhookReceiver;
    let account: TestAccount & { domain: string; domainId: string };
    let endpointId: string;
    let address: string;

    beforeAll(async () => {
      receiver = await startWebhookReceiver();
      service = await sharedService(mode);
      account = await service.createAccount();
      const endpoint = await account.call('POST', '/endpoints', {
        name: 'flow',
        type: 'webhook',
        config: { url: receiver.url, retryAttempts: 3 },
      });
      expect(endpoint.status).toBe(201);
      endpointId = endpoint.body.id;
      address = `help@${account.domain}`;
      const made = await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId });
      expect(made.status).toBe(201);
    }, 300_000);

    afterAll(() => receiver?.stop());

    async function send(
      lines: string[],
      recipients = [address],
    ): Promise<{ code: number | null; reply: string; bytes: Buffer }> {
      const bytes = Buffer.from(`${lines.join('\r\n')}\r\n`);
      const result = await sendOne({
        port: service.smtpPort,
        reversePath: 'sender@elsewhere.test',
        recipients: recipients,
        bytes: bytes,
      });
      return { code: result.code ?? null, reply: result.reply ?? '', bytes };
    }

    async function awaitWebhook(
      messageId: string,
      // oxlint-disable-next-line typescript/no-explicit-any -- the payload is what is under test
    ): Promise<{ headers: Record<string, string>; body: string; payload: any }> {
      await until(
        `a webhook for ${messageId}`,
        () => service.output.slice(-3000),
        () => Promise.resolve(receiver.requests.some((request) => request.headers['x-message-id'] === messageId)),
      );
      const request = receiver.requests.find((each) => each.headers['x-message-id'] === messageId);
      if (request === undefined) throw new Error('unreachable');
      const body = request.body;
      return { headers: request.headers as Record<string, string>, body, payload: JSON.parse(body) };
    }

    test('a mail is stored, parsed, threaded, delivered signed, and readable by REST and GraphQL', async () => {
      const sent = await send([
        `Message-ID: <first.${mode}@elsewhere.test>`,
        'From: "Ada Lovelace" <ada@elsewhere.test>',
        `To: Help <${address}>`,
        'Subject: =?utf-8?q?Caf=C3=A9_order?=',
        'Date: Thu, 19 Nov 2026 10:00:00 +0000',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: text/plain; charset=utf-8',
        '',
        'Where is my order?',
        '--b',
        'Content-Type: text/csv; name="orders.csv"',
        'Content-Disposition: attachment; filename="orders.csv"',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from('id,amount\n1,20\n').toString('base64'),
        '--b--',
      ]);
      expect(sent).toMatchObject({ code: 250 });
      const emailId = /em_[0-9a-f]{32}/.exec(sent.reply)?.[0] ?? '';
      const { headers, body, payload } = await awaitWebhook(`<first.${mode}@elsewhere.test>`);

      expect(payload.event).toBe('email.received');
      expect(payload.email).toMatchObject({
        id: emailId,
        messageId: `<first.${mode}@elsewhere.test>`,
        recipient: address,
        subject: 'Café order',
        threadPosition: 0,
        from: { addresses: [{ name: 'Ada Lovelace', address: 'ada@elsewhere.test' }] },
      });
      expect(payload.email.parsedData.textBody).toContain('Where is my order?');
      expect(payload.email.parsedData.raw).toBe(sent.bytes.toString());
      expect(payload.endpoint).toMatchObject({ id: endpointId, name: 'flow', type: 'webhook' });

      const endpoint = await account.call('GET', `/endpoints/${endpointId}`);
      const token = endpoint.body.config.verificationToken;
      expect(headers['x-service-signature']).toBe(token);
      expect(headers['x-webhook-verification-token']).toBe(token);
      const hmac = createHmac('sha256', token).update(body).digest();
      expect(
        timingSafeEqual(Buffer.from(headers['x-webhook-signature']?.replace('sha256=', '') ?? '', 'hex'), hmac),
      ).toBe(true);
      expect(headers['webhook-signature']).toMatch(/^v1,/);

      const email = await account.call('GET', `/emails/${emailId}`);
      expect(email.status).toBe(200);
      expect(email.body).toMatchObject({
        object: 'email',
        type: 'received',
        subject: 'Café order',
        has_attachments: true,
        thread_position: 0,
      });
      const list = await account.call('GET', '/emails?search=caf%C3%A9');
      expect(list.body.data.map((each: { id: string }) => each.id)).toEqual([emailId]);
      const threads = await account.call('GET', '/mail/threads');
      expect(threads.body.threads[0]).toMatchObject({ id: email.body.thread_id, message_count: 1, unread_count: 1 });
      const file = await account.call('GET', `/attachments/${emailId}/orders.csv`);
      expect(file.body.toString()).toBe('id,amount\n1,20\n');
      const graph = await account.graphql('query($id: ID!) { email(id: $id) { subject } }', { id: emailId });
      expect(graph.body).toMatchObject({ data: { email: { subject: 'Café order' } } });
    });

    test('a reply joins the thread of its original, and the webhook says so', async () => {
      await send([
        `Message-ID: <q.${mode}@elsewhere.test>`,
        'From: ada@elsewhere.test',
        `To: ${address}`,
        'Subject: A question',
        '',
        'Why?',
      ]);
      const first = await awaitWebhook(`<q.${mode}@elsewhere.test>`);
      await send([
        `Message-ID: <a.${mode}@elsewhere.test>`,
        `In-Reply-To: <q.${mode}@elsewhere.test>`,
        'From: bob@elsewhere.test',
        `To: ${address}`,
        'Subject: Re: A question',
        '',
        'Because.',
      ]);
      const second = await awaitWebhook(`<a.${mode}@elsewhere.test>`);
      expect(second.payload.email.threadId).toBe(first.payload.email.threadId);
      expect(second.payload.email.threadPosition).toBe(1);
      const thread = await account.call('GET', `/mail/threads/${first.payload.email.threadId}`);
      expect(thread.body).toMatchObject({
        total_count: 2,
        thread: { message_count: 2, normalized_subject: 'A question' },
      });
      expect(thread.body.messages.map((message: { thread_position: number }) => message.thread_position)).toEqual([
        0, 1,
      ]);
    });

    test('an unmarked copy of an original in HTML is removed from a reply in HTML', async () => {
      const original = '<p>Hello,</p><p>could you send the offer for the three green chairs until Friday?</p>';
      const listLines = (id: string, fields: string[], html: string) => [
        `Message-ID: <${id}.${mode}@elsewhere.test>`,
        ...fields,
        'From: ada@elsewhere.test',
        `To: ${address}`,
        'Content-Type: text/html; charset=utf-8',
        '',
        html,
      ];
      await send(listLines('html', ['Subject: Offer'], original));
      await awaitWebhook(`<html.${mode}@elsewhere.test>`);
      const fields = ['Subject: Re: Offer', `In-Reply-To: <html.${mode}@elsewhere.test>`];
      await send(listLines('html-copy', fields, `<p>Here it is, with the delivery in March.</p><br>${original}`));
      const { email } = (await awaitWebhook(`<html-copy.${mode}@elsewhere.test>`)).payload;
      expect(email.cleanedContent.html).toContain('Here it is');
      expect(email.cleanedContent.html).not.toContain('green chairs');
      expect(email.parsedData.htmlBody).toContain('green chairs');
    });

    test('an unmarked copy of the original is removed from the reply, for its own account only', async () => {
      const original = [
        'Hello,',
        '',
        'could you send the offer for the three',
        'green chairs until Friday?',
        '',
        'Ada',
      ];
      await send([
        `Message-ID: <copied.${mode}@elsewhere.test>`,
        'From: ada@elsewhere.test',
        `To: ${address}`,
        'Subject: Offer',
        '',
        ...original,
      ]);
      await awaitWebhook(`<copied.${mode}@elsewhere.test>`);
      const listLines = (id: string, inReplyTo: string) => [
        `Message-ID: <${id}.${mode}@elsewhere.test>`,
        `In-Reply-To: ${inReplyTo}`,
        'From: bob@elsewhere.test',
        `To: ${address}`,
        'Subject: Re: Offer',
        '',
        'Here it is, with the chairs in green and the delivery in March.',
        '',
        'Hello,',
        '',
        // Wrapped in another way.
        'could you send the offer for the three green chairs until Friday?',
        '',
        'Ada',
      ];
      const OWN = 'Here it is, with the chairs in green and the delivery in March.';
      await send(listLines('copy', `<copied.${mode}@elsewhere.test>`));
      const { email } = (await awaitWebhook(`<copy.${mode}@elsewhere.test>`)).payload;
      expect(email.cleanedContent.text).toBe(OWN);
      expect(email.cleanedContent.quotedText).toContain('green chairs until Friday?');
      expect(email.parsedData.textBody).toContain('green chairs until Friday?');

      // Another account that knows the msg-id gets nothing from the first account's mail.
      const stranger = await service.createAccount();
      const strangerAddress = `help@${stranger.domain}`;
      await stranger.call('POST', '/email-addresses', { address: strangerAddress, domainId: stranger.domainId });
      const sent = await send(listLines('stranger', `<copied.${mode}@elsewhere.test>`), [strangerAddress]);
      const emailId = /em_[0-9a-f]{32}/.exec(sent.reply)?.[0] ?? '';
      const isStored = async () => (await stranger.call('GET', `/emails/${emailId}`)).status === 200;
      await until('the mail of the other account', () => service.output.slice(-3000), isStored);
      const graph = await stranger.graphql('query($id: ID!) { email(id: $id) { content { cleanedText } } }', {
        id: emailId,
      });
      expect(graph.body.data.email.content.cleanedText).toContain('green chairs until Friday?');
    });

    test('the same bytes offered again get 250 with the first id and make no second row', async () => {
      const lines = [
        `Message-ID: <twice.${mode}@elsewhere.test>`,
        'From: ada@elsewhere.test',
        `To: ${address}`,
        'Subject: Twice',
        '',
        'Hello',
      ];
      const first = await send(lines);
      const second = await send(lines);
      expect(first.code).toBe(250);
      expect(second).toMatchObject({ code: 250, reply: first.reply.replace('queued as', 'accepted before as') });
      await awaitWebhook(`<twice.${mode}@elsewhere.test>`);
      const list = await account.call('GET', '/emails?search=Twice');
      expect(list.body.pagination.total).toBe(1);
    });

    test('an unknown recipient is 550 5.1.1 and a foreign domain is refused', async () => {
      expect(await send(['Subject: x', '', 'x'], [`nobody@${account.domain}`])).toMatchObject({
        code: 550,
        reply: expect.stringMatching(/5\.1\.1/),
      });
      expect((await send(['Subject: x', '', 'x'], ['who@elsewhere.example'])).code).toBe(550);
    });

    test('mail to a reply address carries its metadata, and is 550 5.1.1 once it is used up or revoked', async () => {
      const create = async (input: object) => {
        const made = await account.call('POST', '/reply-addresses', { domain: account.domain, ...input });
        expect(made.status, JSON.stringify(made.body)).toBe(201);
        return made.body as { id: string; address: string };
      };
      const once = await create({ metadata: { order: 4711 }, max_messages: 1, deliver_to: address });
      const lines = [`Message-ID: <reply.${mode}@elsewhere.test>`, 'From: ada@elsewhere.test', '', 'Hello'];
      const taken = await send(lines, [once.address]);
      expect(taken.code).toBe(250);
      const repeated = { reply: taken.reply.replace('queued as', 'accepted before as') };
      expect(await send(lines, [once.address]), 'the same bytes again').toMatchObject(repeated);
      const { payload } = await awaitWebhook(`<reply.${mode}@elsewhere.test>`);
      expect(payload.email.metadata).toEqual({ order: 4711 });
      const email = await account.call('GET', `/emails/${payload.email.id}`);
      expect(email.body).toMatchObject({ metadata: { order: 4711 }, envelope_recipient: once.address });
      const refused = { code: 550, reply: expect.stringMatching(/5\.1\.1/) };
      expect(await send([...lines, 'again'], [once.address])).toMatchObject(refused);
      const revoked = await create({});
      await account.call('DELETE', `/reply-addresses/${revoked.id}`);
      expect(await send(lines, [revoked.address])).toMatchObject(refused);
      const named = await create({ senders: ['ada@elsewhere.test'] });
      expect(await send(lines, [named.address]), 'the envelope sender is another').toMatchObject(refused);
    });

    test('a webhook that fails is retried after its delay with the same id and body', async () => {
      receiver.respond((_, earlier) => (earlier === 0 ? 500 : 200));
      await send([
        `Message-ID: <retry.${mode}@elsewhere.test>`,
        'From: ada@elsewhere.test',
        `To: ${address}`,
        'Subject: Retry me',
        '',
        'Hello',
      ]);
      await awaitWebhook(`<retry.${mode}@elsewhere.test>`);
      const client = new pg.Client({ connectionString: await service.databaseUrl() });
      await client.connect();
      try {
        const attempts = () =>
          receiver.requests.filter((request) => request.headers['x-message-id'] === `<retry.${mode}@elsewhere.test>`);
        const [id] = attempts().map((request) => request.webhookId);
        await until(
          'the failed attempt is recorded',
          () => service.output.slice(-2000),
          async () => {
            const { rows } = await client.query('select 1 from delivery where id = $1 and attempts >= 1', [id]);
            return rows.length === 1;
          },
        );
        await client.query(
          `update delivery set next_attempt_at = postroom_now()
           where id = $1 and status = 'pending' and attempts = 1 and next_attempt_at > postroom_now()`,
          [id],
        );
        await until(
          'the second attempt',
          () => service.output.slice(-2000),
          () => Promise.resolve(attempts().length === 2),
        );
        const [one, two] = attempts();
        expect(one?.headers['webhook-id']).toBe(two?.headers['webhook-id']);
        expect(one?.body).toBe(two?.body);
        await until(
          'the delivery is a success',
          () => '',
          async () => {
            const { rows } = await client.query(
              `select 1 from delivery where id = $1 and status = 'success' and attempts = 2`,
              [one?.headers['webhook-id']],
            );
            return rows.length === 1;
          },
        );
      } finally {
        await client.end();
      }
    });

    test('the payload query of an endpoint selects the payload, within its filter', async () => {
      const other = `other@${account.domain}`;
      const payloadQuery =
        '{ kind id cursor email { subject text } thread { id } domain { name } ...a } fragment a on Event { email { to { address } } }';
      const made = await account.call('POST', '/endpoints', {
        name: 'selected',
        type: 'webhook',
        config: { url: receiver.url },
        filter: { addresses: [address] },
        payloadQuery,
      });
      expect(made.status).toBe(201);
      const box = { address: other, domainId: account.domainId, endpointId: made.body.id };
      expect((await account.call('POST', '/email-addresses', box)).status).toBe(201);
      const within = { filter: { addresses: [other] } };
      expect((await account.call('PATCH', `/endpoints/${made.body.id}`, within)).status).toBe(200);
      const fields = [`Message-ID: <within.${mode}@elsewhere.test>`, `To: ${other}`, 'Subject: Selected'];
      expect((await send([...fields, '', 'This much.'], [other])).code).toBe(250);
      const { headers, payload } = await awaitWebhook(`<within.${mode}@elsewhere.test>`);
      expect(headers['x-webhook-event']).toBe('email.received');
      expect(payload).toMatchObject({
        type: 'email.received',
        data: { id: payload.id, cursor: payload.cursor, email: { subject: 'Selected', to: [{ address: other }] } },
        truncated: [],
        endpoint: { name: 'selected' },
      });
      const feed = await account.call('GET', `/events?limit=100&kinds=email.received`);
      const events = feed.body.data as { id: string; cursor: string }[];
      expect(events.find(({ id }) => id === payload.id)?.cursor).toBe(payload.cursor);
    });

    test('another account sees no part of it', async () => {
      const other = await service.createAccount();
      const own = await account.call('GET', '/emails?limit=1');
      const foreign = await other.call('GET', `/emails/${own.body.data[0].id}`);
      const unknown = await other.call('GET', `/emails/em_${createHash('md5').update('x').digest('hex')}`);
      expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
      expect(foreign.status).toBe(404);
      expect((await other.call('GET', '/emails')).body.pagination.total).toBe(0);
    });

    test('no trace is stored with a mail while traces are off', async () => {
      const url = await service.databaseUrl();
      const mine = [account.workspaceId];
      expect(await queryOnce(url, 'select id from email where workspace_id = $1', mine)).not.toEqual([]);
      expect(await queryOnce(url, 'select email_id from email_trace where workspace_id = $1', mine)).toEqual([]);
      expect(service.output).not.toMatch(/traces\.(?:on|away)/);
    });
  },
);
