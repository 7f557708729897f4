import { beforeAll, expect, test } from 'vitest';
import type { TestAccount } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';

const MAILS = 200;
const SESSIONS = 4;

let service: SharedService;
let account: TestAccount & { domain: string; domainId: string };
let address: string;

beforeAll(async () => {
  service = await sharedService('single');
  account = await service.createAccount();
  address = `help@${account.domain}`;
  const made = await account.call('POST', '/email-addresses', { address, domainId: account.domainId });
  expect(made.status).toBe(201);
}, 300_000);

/** Repeats a request that the service has no time for on a busy machine, as its clients do. */
async function ask(method: string, route: string, body?: unknown) {
  for (;;) {
    const response = await account.call(method, route, body);
    if (response.status !== 503 && response.status !== 429) return response;
  }
}

/** Sends a message and returns the id that the reply to DATA names. */
async function send(n: number): Promise<string> {
  // Every fourth answers the one before.
  const link = n % 4 === 3 ? [`In-Reply-To: <mail-${n - 1}@elsewhere.test>`] : [];
  const lines = [
    `From: a@elsewhere.test`,
    `To: ${address}`,
    `Subject: Mail ${n}`,
    `Message-ID: <mail-${n}@elsewhere.test>`,
  ];
  const bytes = Buffer.from([...lines, ...link, '', 'Hello', ''].join('\r\n'));
  const { code, reply } = await sendOne({
    port: service.smtpPort,
    reversePath: 'a@elsewhere.test',
    recipients: [address],
    bytes,
  });
  expect(code, reply).toBe(250);
  return /\b(em_\w+)/.exec(reply)?.[1] ?? '';
}

test('received mail is never shown without its thread while mail arrives', async () => {
  const without: string[] = [];
  const note = (where: string, emails: readonly { id: string; thread: unknown }[]) => {
    for (const { id, thread } of emails) if (thread == null) without.push(`${where}: ${id}`);
  };
  const received = new Set<string>();
  let isOver = false;
  const untilOver = async (look: () => Promise<void>) => {
    while (!isOver) await look();
  };

  let next = 0;
  const senders = Array.from({ length: SESSIONS }, async () => {
    while (next < MAILS) {
      const id = await send(next++);
      received.add(id);
      const { status, body } = await ask('GET', `/emails/${id}`);
      // Parsing may take longer than the read waits.
      if (status === 200) note('get after the 250', [{ id, thread: body.thread_id }]);
      else expect(status).toBe(404);
    }
  });
  let after: string | null = null;
  const readers = [
    untilOver(async () => {
      const { body } = await ask('GET', '/emails?limit=100&time_range=all');
      const shown = body.data.filter(({ type }: { type: string }) => type !== 'scheduled');
      note(
        'list',
        shown.map((email: { id: string; thread_id: unknown }) => ({ id: email.id, thread: email.thread_id })),
      );
      if (!body.pagination.has_more) expect(body.data).toHaveLength(body.pagination.total);
    }),
    untilOver(async () => {
      const { body } = await ask('GET', '/emails?search=mail&limit=100');
      note(
        'search',
        body.data.map((email: { id: string; thread_id: unknown }) => ({ id: email.id, thread: email.thread_id })),
      );
    }),
    untilOver(async () => {
      const query = '{ emails(first: 50) { edges { node { id thread { id } } } } }';
      const { status, body } = await account.graphql(query);
      if (status !== 200) return;
      const edges: { node: { id: string; thread: unknown } }[] = body.data.emails.edges;
      note(
        'graph',
        edges.map(({ node }) => node),
      );
    }),
    untilOver(async () => {
      const { body } = await ask(
        'GET',
        `/events?limit=100&kinds=email.received${after === null ? '' : `&after=${after}`}`,
      );
      for (const event of body.data) {
        const id = event.email_id;
        const { status, body: email } = await ask('GET', `/emails/${id}`);
        expect(status).toBe(200);
        note('event', [{ id, thread: email.thread_id }]);
      }
      after = body.next_cursor ?? after;
    }),
    untilOver(async () => {
      const { body } = await ask('POST', '/emails/wait', { address, timeout: 1 });
      if (body.email != null) note('wait', [{ id: body.email.id, thread: body.email.thread_id }]);
    }),
  ];

  try {
    await Promise.all(senders);
  } finally {
    isOver = true;
  }
  await Promise.all(readers);
  expect(without).toEqual([]);
  expect(received.size).toBe(MAILS);
  for (const id of received)
    await expect
      .poll(async () => (await ask('GET', `/emails/${id}`)).body.thread_id ?? null, { timeout: 120_000 })
      .toMatch(/^th_/);
}, 600_000);
