import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServiceResponse, until } from '../support/servers/service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { readField, type SendingStage, type StageAccount } from '../support/stages/sending-stage.ts';

const DOMAIN = 'newcomer.test';

/** Declares the tests of a newcomer with a domain of their own, on a stage with a service of its own that `open` returns. */
export function describeNewcomer(open: () => SendingStage): void {
  describe('a newcomer with a domain of their own', () => {
    let stage: SendingStage;
    let hook: WebhookReceiver;
    let chat: WebhookReceiver;
    let account: StageAccount;
    const endpoints: Record<string, string> = {};

    beforeAll(async () => {
      stage = open();
      hook = await startWebhookReceiver();
      chat = await startWebhookReceiver({ script: [204] });
    });
    afterAll(async () => {
      await hook?.stop();
      await chat?.stop();
    });

    const ask = (method: string, path: string, body?: unknown): Promise<ServiceResponse> =>
      stage.account.call(method, path, body);

    /** Resolves with the response's body when it fits. */
    async function awaitBody(
      what: string,
      path: string,
      // oxlint-disable-next-line typescript/no-explicit-any -- what is in it is under test
      isMet: (body: any) => boolean,
      // oxlint-disable-next-line typescript/no-explicit-any -- what is in it is under test
    ): Promise<any> {
      let last: ServiceResponse | null = null;
      await until(
        what,
        () => `${JSON.stringify(last?.body)}\n${stage.service.output.slice(-3000)}`,
        async () => {
          last = await ask('GET', path);
          return isMet(last.body);
        },
      );
      return (last as ServiceResponse | null)?.body;
    }

    /** Sends a mail to an address by SMTP; returns its id. */
    async function mailTo(address: string, message: { from?: string; subject: string }): Promise<string> {
      const { from = 'bob@elsewhere.test', subject } = message;
      const lines = [`From: Bob <${from}>`, `To: ${address}`, `Subject: ${subject}`, '', `${subject}, says Bob.`];
      const offered = await sendOne({
        port: stage.service.smtpPort,
        reversePath: from,
        recipients: [address],
        bytes: Buffer.from(lines.join('\r\n')),
      });
      expect(offered.reply).toMatch(/^250/);
      return /em_[0-9a-f]{32}/.exec(offered.reply ?? '')?.[0] ?? '';
    }

    const awaitRoute = (emailId: string) =>
      awaitBody(`${emailId} is routed`, `/emails/${emailId}/route`, (body) => body.outcome != null);

    test('proves it by DNS', async () => {
      const made = await ask('POST', '/domains', { domain: DOMAIN });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ domain: DOMAIN, status: 'pending', canReceiveEmails: false });
      account = { ...stage.account, domain: DOMAIN, domainId: made.body.id };
      const tooEarly = await ask('POST', '/email-addresses', { address: `a@${DOMAIN}`, domainId: account.domainId });
      expect(tooEarly.status).toBe(400);

      await stage.publish(account);
      const checked = await ask('GET', `/domains/${account.domainId}?check=true`);
      expect(checked.status).toBe(200);
      expect(checked.body).toMatchObject({ status: 'verified', canReceiveEmails: true, hasMxRecords: true });
      for (const record of checked.body.dnsRecords) expect(record, record.name).toMatchObject({ isVerified: true });
      expect(checked.body.verificationCheck.isFullyVerified).toBe(true);
    });

    test('makes an endpoint of each kind, tests each, and routes an address to each', async () => {
      const wanted = {
        webhook: { type: 'webhook', config: { url: hook.url } },
        discord: { type: 'webhook', webhookFormat: 'chat_a', config: { url: `${chat.url}/discord` } },
        slack: { type: 'webhook', webhookFormat: 'chat_b', config: { url: `${chat.url}/slack` } },
        single: { type: 'email', config: { forwardTo: 'boss@elsewhere.test' } },
        group: { type: 'email_group', config: { emails: ['one@elsewhere.test', 'two@elsewhere.test'] } },
      };
      for (const [name, endpoint] of Object.entries(wanted)) {
        const made = await ask('POST', '/endpoints', { name, ...endpoint });
        expect(made.status, JSON.stringify(made.body)).toBe(201);
        endpoints[name] = made.body.id;
        const tested = await ask('POST', `/endpoints/${made.body.id}/test`);
        expect(tested.body, JSON.stringify(tested.body)).toMatchObject({ success: true });
        const address = { address: `${name}@${DOMAIN}`, domainId: account.domainId, endpointId: made.body.id };
        expect((await ask('POST', '/email-addresses', address)).status).toBe(201);
      }
      expect(hook.requests).toHaveLength(1);
      expect(chat.requests.map(({ path }) => path).toSorted()).toEqual(['/discord', '/slack']);

      for (const name of Object.keys(wanted)) {
        const emailId = await mailTo(`${name}@${DOMAIN}`, { subject: `For ${name}` });
        const deliveries = await awaitBody(
          `the mail for ${name} is delivered`,
          `/emails/${emailId}/deliveries`,
          (body) => body.data?.[0]?.status === 'success',
        );
        expect(deliveries.data).toMatchObject([{ endpointId: endpoints[name], attempts: 1 }]);
        expect(await awaitRoute(emailId)).toMatchObject({
          outcome: 'endpoint',
          via: 'address',
          endpoint: { id: endpoints[name], name },
        });
      }
      expect(JSON.parse(hook.requests[1]?.body ?? '{}').email.subject).toBe('For webhook');
      expect(JSON.stringify(chat.requests.map(({ body }) => body))).toContain('For slack');
      const copies = stage.sink.messages.filter(({ bytes }) =>
        /^For (single|group)$/.test(readField(bytes, 'Subject') ?? ''),
      );
      expect(copies.flatMap(({ recipients }) => recipients).toSorted()).toEqual([
        'boss@elsewhere.test',
        'one@elsewhere.test',
        'two@elsewhere.test',
      ]);
      for (const copy of copies)
        expect(await stage.verify(copy)).toMatchObject({ spf: { result: 'pass' }, dmarc: 'pass' });
    });

    test('sees a failing webhook retried, and replays it', async () => {
      hook.respond((_request, earlier) => (earlier === 0 ? { status: 500, body: 'not today' } : 200));
      const emailId = await mailTo(`webhook@${DOMAIN}`, { subject: 'Twice' });
      await awaitBody('the first try failed', `/emails/${emailId}/deliveries`, (body) => body.data?.[0]?.attempts >= 1);
      await stage.passSeconds(7);
      const retried = await awaitBody(
        'the second try went well',
        `/emails/${emailId}/deliveries`,
        (body) => body.data?.[0]?.status === 'success',
      );
      expect(retried.data[0].attemptLog).toMatchObject([
        { number: 1, outcome: 'failed', statusCode: 500, responseBody: 'not today' },
        { number: 2, outcome: 'success', statusCode: 200 },
      ]);

      hook.respond([410]);
      const lost = await mailTo(`webhook@${DOMAIN}`, { subject: 'Gone' });
      await awaitBody(
        'it failed for good',
        `/emails/${lost}/deliveries`,
        (body) => body.data?.[0]?.status === 'failed',
      );
      const off = await ask('GET', `/endpoints/${endpoints['webhook']}`);
      expect(off.body).toMatchObject({ isActive: false, inactiveReason: expect.stringContaining('410') });
      hook.respond([200]);
      await ask('PATCH', `/endpoints/${endpoints['webhook']}`, { isActive: true });
      const before = hook.requests.length;
      const replayed = await ask('POST', `/endpoints/${endpoints['webhook']}/replay`, {
        since: new Date(Date.now() - 3_600_000).toISOString(),
      });
      expect(replayed.body, JSON.stringify(replayed.body)).toMatchObject({ replayed: 1 });
      const requests = await hook.received(before + 1);
      expect(JSON.parse(requests.at(-1)?.body ?? '{}').email.subject).toBe('Gone');
    });

    test('blocks a sender, reads why, and lets one through', async () => {
      const rule = await ask('POST', '/guard', {
        name: 'No spam',
        type: 'explicit',
        config: { from: { operator: 'OR', values: ['*@spam.test'] } },
        action: { action: 'block' },
      });
      expect(rule.status, JSON.stringify(rule.body)).toBe(201);
      const before = hook.requests.length;
      // Rules are remembered for a moment.
      const blockedId = await mailTo(`webhook@${DOMAIN}`, { from: 'offer@spam.test', subject: 'Buy now' });
      expect(await awaitRoute(blockedId)).toMatchObject({
        outcome: 'blocked',
        guard_rule: { id: rule.body.data.id, name: 'No spam' },
        reason: expect.stringContaining('No spam'),
      });
      expect((await ask('GET', `/emails/${blockedId}`)).body).toMatchObject({ guard_status: 'blocked' });
      expect((await ask('GET', '/emails?status=blocked')).body.data.map(({ id }: { id: string }) => id)).toEqual([
        blockedId,
      ]);
      expect((await ask('GET', `/guard/${rule.body.data.id}`)).body).toMatchObject({ triggerCount: 1 });
      expect(hook.requests).toHaveLength(before);

      expect((await ask('POST', `/emails/${blockedId}/release`)).status).toBe(200);
      const requests = await hook.received(before + 1);
      expect(JSON.parse(requests.at(-1)?.body ?? '{}').email.subject).toBe('Buy now');
      expect((await ask('GET', '/emails?status=blocked')).body.data).toEqual([]);
    });
  });
}
