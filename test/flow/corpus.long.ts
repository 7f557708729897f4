import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CorpusMessage,
  hasCorpora,
  readEmlMessages,
  readThreadSet,
  scoreThreads,
  shuffled,
  threadSets,
} from '../support/mail/corpora.ts';
import {
  type FactScore,
  printScore,
  REQUIRED_AGREEMENT,
  type ReadMessage,
  readFacts,
  scoreFacts,
} from '../support/mail/score-facts.ts';
import { Service, type TestAccount } from '../support/servers/service.ts';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { awaitDrained, checkLedger, type Offer } from '../support/stages/ledger.ts';

/** Files of eml/ that are refused, and why; every other message of the corpora gets 250. */
const refusals: Record<string, { reason: string; reply: RegExp }> = {
  'eml/mimekit__stack-overflow.eml': { reason: '2,715 header lines, more than 1,000', reply: /^552 5\.3\.4/ },
};

/**
 * Orders in which each thread set comes in: five of the small sets, and of the two large ones two, or what CORPUS_SHUFFLES says. That
 * five orders of every set end in the same threads, test/corpus/threads.long.ts shows on the same statements without SMTP.
 */
const countShuffles = (messages: readonly CorpusMessage[]): number =>
  messages.length < 100 ? 5 : Number(process.env['CORPUS_SHUFFLES'] ?? 2);

describe.skipIf(!hasCorpora)('the corpora through SMTP on one machine', () => {
  let service: Service;
  let receiver: WebhookReceiver;
  const offers: Offer[] = [];

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    service = await Service.start('single');
  }, 300_000);
  afterAll(async () => {
    await service?.stop();
    await receiver?.stop();
  });

  /** Sends the messages in this order over as many sessions; returns the email id of each file that got 250, and the refused. */
  async function send(address: string, messages: CorpusMessage[], sessions: number) {
    const wire = messages.map((message) => toWireForm(message.bytes));
    const results = await smtpLoad({
      host: '127.0.0.1',
      port: service.smtpPort,
      count: messages.length,
      sessions,
      isReusingConnections: true,
      reversePath: 'sender@elsewhere.test',
      recipients: () => [address],
      message: (n) => wire[n] ?? Buffer.alloc(0),
    });
    const emailIds = new Map<string, string>();
    const refused = new Map<string, string>();
    for (const result of results) {
      const message = messages[result.n];
      const bytes = wire[result.n];
      if (message === undefined || bytes === undefined) continue;
      offers.push({ bytes: fromWireForm(bytes), recipients: [address], result });
      const emailId = /em_[0-9a-f]{32}/.exec(result.reply)?.[0];
      if (result.code === 250 && emailId !== undefined) emailIds.set(message.file, emailId);
      else refused.set(message.file, result.reply);
    }
    return { emailIds, refused };
  }

  async function mailbox(withWebhook: boolean): Promise<{ account: TestAccount; address: string }> {
    const account = await service.createAccount();
    const address = `list@${account.domain}`;
    const endpoint = withWebhook
      ? await account.call('POST', '/endpoints', { name: 'corpus', type: 'webhook', config: { url: receiver.url } })
      : null;
    const made = await account.call('POST', '/email-addresses', {
      address,
      domainId: account.domainId,
      ...(endpoint === null ? {} : { endpointId: endpoint.body.id }),
    });
    expect(made.status).toBe(201);
    return { account, address };
  }

  describe('of eml/', () => {
    let account: TestAccount;
    let sent: Awaited<ReturnType<typeof send>>;

    beforeAll(async () => {
      const box = await mailbox(true);
      account = box.account;
      sent = await send(box.address, await readEmlMessages(), 10);
      await awaitDrained(await service.databaseUrl(), 120_000);
    });

    test('every message gets a 250, except the listed refusals, and is posted as a webhook', () => {
      const { emailIds, refused } = sent;
      expect([...refused.keys()].toSorted()).toEqual(Object.keys(refusals).toSorted());
      for (const [file, reply] of refused) expect(reply, file).toMatch(refusals[file]?.reply ?? /^$/);
      expect(emailIds.size + refused.size).toBe(520);
      const delivered = new Set(receiver.requests.map((request) => request.headers['x-email-id']));
      expect([...emailIds.values()].filter((emailId) => !delivered.has(emailId))).toEqual([]);
    });

    test('webhooks and downloads agree with at least 98 of 100 facts, refused messages counted as wrong', async () => {
      const payloads = new Map<string, WebhookPayload>();
      for (const { body } of receiver.requests) {
        const payload = JSON.parse(body) as WebhookPayload;
        payloads.set(payload.email.id, payload);
      }
      const facts = await readFacts();
      const score: FactScore = await scoreFacts(facts, async (file) => {
        const payload = payloads.get(sent.emailIds.get(file) ?? '');
        return payload === undefined ? null : readByReceiver(payload, service.url, account.apiKey);
      });
      printScore('the service', score);
      expect(facts).toHaveLength(520);
      expect(score.agree / score.asserted).toBeGreaterThanOrEqual(REQUIRED_AGREEMENT);
    });
  });

  test.each(threadSets)(
    'threads of %s are the same by GET /mail/threads in shuffled orders, each for a fresh user',
    async (name) => {
      const { messages, truth } = await readThreadSet(name);
      const partitions: string[][] = [];
      for (let seed = 1; seed <= countShuffles(messages); seed++) {
        const { account, address } = await mailbox(false);
        const { emailIds, refused } = await send(address, shuffled(messages, seed), 10);
        expect([...refused]).toEqual([]);
        await awaitDrained(await service.databaseUrl(), 120_000);
        const threadOfEmail = await readThreads(account);
        const threadOfFile = new Map(
          [...emailIds].map(([file, emailId]) => [file, threadOfEmail.get(emailId) ?? emailId]),
        );
        const got = new Map(
          Object.entries(truth.files).map(([id, file]) => [id, threadOfFile.get(`threads/${name}/${file}`) ?? id]),
        );
        const { recall, justified, pairs } = scoreThreads(truth, got);
        process.stdout.write(
          `${name} shuffle ${seed}: recall ${recall.toFixed(5)}, justified ${justified.toFixed(5)} of ${pairs} pairs\n`,
        );
        expect(recall).toBeGreaterThanOrEqual(0.995);
        expect(justified).toBeGreaterThanOrEqual(0.99);
        partitions.push(canonical(threadOfFile));
      }
      for (const partition of partitions) expect(partition).toEqual(partitions[0]);
    },
    240_000,
  );

  test('the bytes of all messages are stored as they were sent', async () => {
    const report = await checkLedger({
      databaseUrl: await service.databaseUrl(),
      offers,
      webhooks: webhooks(receiver),
    });
    expect(report.violations).toEqual([]);
    expect(report.accepted).toBe(offers.length - Object.keys(refusals).length);
  });
});

/** What of the webhook's body the facts are about. */
interface WebhookPayload {
  email: {
    id: string;
    parsedData: Pick<ReadMessage, 'subject' | 'from' | 'to' | 'cc'> & {
      textBody: string | null;
      htmlBody: string | null;
      attachments: { filename: string; contentType: string; size: number }[];
    };
  };
}

/** A message as a receiver of webhooks reads it, the bytes of its attachments by place. */
async function readByReceiver({ email }: WebhookPayload, url: string, apiKey: string): Promise<ReadMessage> {
  const { subject, from, to, cc, textBody, htmlBody, attachments } = email.parsedData;
  const download = async (index: number) => {
    const response = await fetch(`${url}/api/e2/attachments/${email.id}/parts/${index}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    if (!response.ok) throw new Error(`attachment ${index} of ${email.id}: ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
  return {
    subject,
    from,
    to,
    cc,
    text: textBody,
    html: htmlBody,
    attachments: await Promise.all(
      attachments.map(async (attachment, index) => ({ ...attachment, bytes: await download(index) })),
    ),
  };
}

function webhooks(receiver: WebhookReceiver) {
  return receiver.requests.map((request) => ({ webhookId: request.webhookId, body: request.body }));
}

/** The thread of each email, by the thread list and its cursor, then each thread. */
async function readThreads(account: TestAccount): Promise<Map<string, string>> {
  const threads = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const page = await account.call('GET', `/mail/threads?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`);
    if (page.status !== 200) throw new Error(`GET /mail/threads: ${page.status} ${JSON.stringify(page.body)}`);
    await Promise.all(
      page.body.threads.map(async ({ id }: { id: string }) => {
        const thread = await account.call('GET', `/mail/threads/${id}`);
        for (const message of thread.body.messages) threads.set(message.id, id);
      }),
    );
    cursor = page.body.pagination.next_cursor;
  } while (cursor !== null);
  return threads;
}

/** The groups of files, each sorted, as text: equal for equal partitions. */
function canonical(threadOfFile: Map<string, string>): string[] {
  return [...Map.groupBy([...threadOfFile.keys()], (file) => threadOfFile.get(file)).values()]
    .map((files) => files.toSorted().join(' '))
    .toSorted();
}

function fromWireForm(wire: Buffer): Buffer {
  const body = wire.subarray(0, wire.length - '.\r\n'.length).toString('latin1');
  return Buffer.from(body.replace(/(^|\r\n)\.\./g, '$1.'), 'latin1');
}
