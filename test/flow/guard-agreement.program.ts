import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { queryOnce } from '../support/cluster/cluster.ts';
import { type CorpusMessage, hasCorpora, readEmlMessages, readThreadSet } from '../support/mail/corpora.ts';
import { type TestAccount, until } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

const MESSAGES = isQuick ? 60 : 150;

/** Rules in the order in which they are asked, each with what it is to do. */
const wishes = [
  { name: 'lists let through', action: 'allow', config: { to: ['*@spamassassin.taint.org', '*@lists.example.org'] } },
  {
    name: 'programs',
    action: 'block',
    config: { attachments: ['.exe', '.zip', 'application/x-*', 'application/octet-stream'] },
  },
  { name: 'pictures elsewhere', action: 'route', config: { attachments: { operator: 'OR', values: ['image/*'] } } },
  {
    name: 'words',
    action: 'block',
    config: { hasWords: { operator: 'OR', values: ['free', 'ÜBER', 'click here', '日本'] } },
  },
  { name: 'two words', action: 'block', config: { hasWords: { operator: 'AND', values: ['the', 'wrote:'] } } },
  {
    name: 'aligned, so never',
    action: 'block',
    config: { from: { values: ['*@gmail.com', '*@example.com'], aligned: true } },
  },
  { name: 'senders', action: 'block', config: { from: ['*@gmail.com', '*@example.com', '*@yahoo.com'] } },
  {
    name: 'subjects unsigned',
    action: 'block',
    config: { subject: ['re:', 'test'], dkim: 'none', hasAttachment: false },
  },
  { name: 'the rest with a good signature', action: 'allow', config: { dkim: ['pass', 'temperror'] } },
] as const;

describe.skipIf(!hasCorpora)('a back-test over real mail', () => {
  let service: SharedService;
  let receiver: WebhookReceiver;
  let account: TestAccount;
  let address = '';

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    service = await sharedService('single');
    const made = await service.createAccount();
    account = made;
    address = `list@${made.domain}`;
    const response = await made.call('POST', '/email-addresses', { address, domainId: made.domainId });
    expect(response.status).toBe(201);
  }, 300_000);
  afterAll(() => receiver?.stop());

  /** Sends the messages; returns the file of each email. */
  async function send(messages: CorpusMessage[], reversePath: string): Promise<Map<string, string>> {
    const wire = messages.map((message) => toWireForm(message.bytes));
    const results = await smtpLoad({
      host: '127.0.0.1',
      port: service.smtpPort,
      count: messages.length,
      sessions: 10,
      isReusingConnections: true,
      reversePath,
      recipients: () => [address],
      message: (n) => wire[n] ?? Buffer.alloc(0),
    });
    const sent = new Map(
      results.flatMap(({ n, reply }) => {
        const emailId = /em_[0-9a-f]{32}/.exec(reply)?.[0];
        const file = messages[n]?.file;
        return emailId === undefined || file === undefined ? [] : [[emailId, file] as const];
      }),
    );
    const databaseUrl = await service.databaseUrl();
    const decided = 'select from route where workspace_id = $1 and email_id = any ($2) and decided_at is not null';
    await until(
      'all are routed',
      () => service.output.slice(-2_000),
      async () => (await queryOnce(databaseUrl, decided, [account.workspaceId, [...sent.keys()]])).length === sent.size,
    );
    return sent;
  }

  interface Example {
    emailId: string;
    isDecisive: boolean;
    now: { ruleId: string | null; outcome: string; endpointId: string | null } | null;
    wouldBe: { outcome: string; endpointId: string | null };
  }

  test('says of each mail what the rule then does with the same mail', async () => {
    const messages = [...(await readEmlMessages()), ...(await readThreadSet('sa-easy-ham-2')).messages]
      .filter((_, n) => n % 4 === 0)
      .slice(0, MESSAGES);
    const before = await send(messages, 'one@elsewhere.test');
    expect(before.size).toBeGreaterThan(MESSAGES - 10);
    const endpoint = await account.call('POST', '/endpoints', {
      name: 'guard',
      type: 'webhook',
      config: { url: receiver.url },
    });

    // Each rule is tried behind those that are saved already, then saved.
    const foretold = new Map<string, { ruleId: string | null; outcome: string }>();
    const rules: { id: string; name: string; decided: number }[] = [];
    for (const [n, { name, config, action: kind }] of wishes.entries()) {
      const action = kind === 'route' ? { action: kind, endpointId: endpoint.body.id } : { action: kind };
      const rule = { type: 'explicit', config, action, priority: 100 - n };
      const tried = await account.call('POST', '/guard/backtest', { ...rule, limit: 500 });
      expect(tried.body).toMatchObject({ scanned: before.size, isComplete: true });
      const saved = await account.call('POST', '/guard', { ...rule, name });
      expect(saved.status).toBe(201);
      const { id } = saved.body.data;
      const decisive = (tried.body.examples as Example[]).filter(({ isDecisive }) => isDecisive);
      expect(decisive).toHaveLength(tried.body.decided);
      rules.push({ id, name, decided: tried.body.decided });
      for (const { emailId, wouldBe } of decisive) {
        const file = before.get(emailId) ?? '';
        expect(foretold.has(file), `${file} is decided on twice`).toBe(false);
        foretold.set(file, { ruleId: id, outcome: wouldBe.outcome === 'normal' ? 'stored' : wouldBe.outcome });
      }
    }
    process.stdout.write(`${rules.map(({ name, decided }) => `${name}: ${decided}`).join(', ')} of ${before.size}\n`);
    // The mail is such that rules have something to tell apart.
    expect(rules.filter(({ decided }) => decided >= MESSAGES / 30).length).toBeGreaterThanOrEqual(4);
    expect(foretold.size).toBeLessThan(before.size);

    const after = await send(messages, 'two@elsewhere.test');
    expect([...after.values()].toSorted()).toEqual([...before.values()].toSorted());
    const became = new Map<string, { ruleId: string | null; outcome: string }>();
    for (const [emailId, file] of after) {
      const { body: route } = await account.call('GET', `/emails/${emailId}/route`);
      if (route.guard_rule !== null) became.set(file, { ruleId: route.guard_rule.id, outcome: route.outcome });
      else expect(route.outcome, file).toBe('stored');
    }
    expect(byFile(became)).toEqual(byFile(foretold));

    // And looking back at what was really decided agrees, as do the counters.
    for (const { id, name, decided } of rules) {
      const shown = await account.call('GET', `/guard/${id}`);
      expect([name, shown.body.triggerCount]).toEqual([name, decided]);
      const again = await account.call('POST', `/guard/${id}/backtest`, { limit: 500 });
      const ofSecond = (again.body.examples as Example[]).filter(({ emailId }) => after.has(emailId));
      for (const { emailId, isDecisive, now } of ofSecond)
        expect([emailId, now?.ruleId === id]).toEqual([emailId, isDecisive]);
      expect(ofSecond.filter(({ isDecisive }) => isDecisive)).toHaveLength(decided);
    }
  });
});

function byFile(routes: ReadonlyMap<string, unknown>) {
  return [...routes].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
