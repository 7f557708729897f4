import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '../../../core/accounts/key-rights.ts';
import { encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { sendPolicyShape } from '../../../core/sending/send-policy.ts';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { repository } from '../../support/runner.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { until } from '../../support/servers/service.ts';
import { openShell, type ShellSession } from '../../support/servers/shell-session.ts';

describe('the events guide', () => {
  const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/events.md'), 'utf8');
  const queries = [...guide.matchAll(/```graphql\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  let gateway: TestGateway;
  let mail: GatewayMail;
  let box: TestMailbox;
  let environment: Record<string, string>;
  beforeAll(async () => {
    gateway = await openTestGateway();
    mail = await takeMail(gateway);
    box = await gateway.mailbox({ domain: 'inbox.test', address: 'hello@inbox.test' });
    const SINCE = new Date().toISOString();
    const BASE = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    environment = { BASE, SINCE, KEY: box.apiKey };
    await mail.deliver(
      'From: Shop <a@shop.example>\r\nSubject: Your code\r\n\r\nYour code is 482913.\r\n',
      box.address,
    );
    await until(
      'it has its thread',
      () => '',
      async () => (await gateway.call(box.apiKey, 'GET', '/events')).json().data.length >= 2,
    );
    environment['CURSOR'] = encodeEventCursor(box.workspaceId, 1);
  });
  afterAll(async () => {
    await mail.stop();
    await gateway.close();
  });

  test('has the queries and the subscription of the feed', async () => {
    const [subscription = '', past = '', wait = ''] = queries;
    const events = (await gateway.graphql(box.apiKey, past)).json();
    expect(events.errors).toBeUndefined();
    expect(events.data.events.totalCount).toBeGreaterThanOrEqual(2);
    const found = (await gateway.graphql(box.apiKey, wait, { since: environment['SINCE'] })).json();
    expect(found.data.waitForEmail.extracts.codes[0].code).toBe('482913');
    const hangUp = new AbortController();
    const response = await fetch(`${environment['BASE']}/graphql`, {
      method: 'POST',
      signal: hangUp.signal,
      headers: {
        authorization: `Bearer ${box.apiKey}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: subscription, variables: { after: environment['CURSOR'] } }),
    });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('"emailReceived"')) break;
    }
    hangUp.abort();
    expect(text).toContain('"subject":"Your code"');
  });
});

test('the guides to API keys and send policies describe every scope, and every rule', () => {
  const [keys = '', policies = ''] = ['api-keys', 'send-policy'].map((name) =>
    readFileSync(path.resolve(import.meta.dirname, `../../../docs/${name}.md`), 'utf8'),
  );
  for (const scope of SCOPES) expect(keys).toContain(`| \`${scope}\` |`);
  for (const rule of Object.keys(sendPolicyShape.shape))
    expect(policies).toMatch(new RegExp(`^\\| .*\`${rule}\`.* \\|`, 'm'));
});

describe('the GraphQL guide', () => {
  interface Example {
    /** the heading above it, and its number in that section */
    name: string;
    language: string;
    text: string;
    /** what the guide says that it answers */
    response: unknown;
  }

  const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/graphql.md'), 'utf8');
  const examples = readExamples();
  let gateway: TestGateway;
  let mail: GatewayMail;
  let box: TestMailbox;
  let shell: ShellSession;
  let url: string;

  beforeAll(async () => {
    gateway = await openTestGateway({ config: { publicUrl: 'http://localhost:3000' } });
    mail = await takeMail(gateway);
    box = await gateway.mailbox({ domain: 'inbox.test', address: 'hello@inbox.test' });
    await gateway.owner.pool.query(`update person set email = 'owner@inbox.test' where id = $1`, [box.workspaceId]);
    url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    shell = openShell(repository, { KEY: box.apiKey, CURSOR: encodeEventCursor(box.workspaceId, 1) });
  });
  afterAll(async () => {
    await shell.end();
    await mail.stop();
    await gateway.close();
  });

  function readExamples(): Example[] {
    return guide.split(/^## /m).flatMap((section) => {
      const [heading = ''] = section.split('\n', 1);
      const blocks = [...section.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
      return blocks.flatMap(([, language = '', text = ''], at) => {
        if (language === 'json') return [];
        const next = blocks[at + 1];
        const response: unknown = next?.[1] === 'json' ? JSON.parse(next[2] ?? '') : null;
        return [{ name: `${heading}, ${at + 1}`, language, text, response }];
      });
    });
  }

  /** What differs from run to run, by what it is: ids by their kind, cursors, ids of requests. */
  function settled(response: unknown): unknown {
    return JSON.parse(JSON.stringify(response), (key, value: unknown) => {
      if (typeof value !== 'string') return value;
      if (/^(cursor|endCursor|requestId)$/.test(key)) return `a ${key}`;
      return value.replace(/^([a-z]+_)[0-9a-f]{2,}$/, '$1');
    });
  }

  const here = (text: string) => text.replaceAll('http://localhost:3000', url).replace('KEY=...', `KEY=${box.apiKey}`);

  /** The latest email and its thread, as the variables of the guide. */
  async function variables(): Promise<Record<string, unknown>> {
    const { rows } = await gateway.actor.pool.query<{ id: string; thread_id: string }>(
      'select id, thread_id from email where workspace_id = $1 order by created_at desc limit 1',
      [box.workspaceId],
    );
    return { email: rows[0]?.id ?? null, thread: rows[0]?.thread_id ?? null };
  }

  /** Resolves when all that came in has its thread. */
  async function untilThreaded(): Promise<void> {
    const { pool } = gateway.actor;
    const open = `select (select count(*) from reception where parsed_at is null) + (select count(*) from email where thread_id is null) as open`;
    await expect.poll(async () => (await pool.query(open)).rows[0].open).toBe(0);
  }

  async function run({ language, text }: Example): Promise<unknown> {
    if (language === 'graphql') return (await gateway.graphql(box.apiKey, text, await variables())).json();
    const printed = await shell.run(here(text));
    return JSON.parse(printed);
  }

  describe('every example works as printed', () => {
    test('and there are examples of all kinds', () => {
      expect(examples.filter(({ language }) => language === 'graphql')).toHaveLength(8);
      expect(examples.filter(({ language }) => language === 'sh')).toHaveLength(8);
    });

    test.each(examples.map((example) => [example.name, example] as const))('%s', async (_, example) => {
      if (example.text.includes('curl -sN')) return follow(example.text);
      const response = await run(example);
      const cost = { extensions: { cost: { requested: expect.any(Number), limit: 5_000 } } };
      if (example.response === null) expect(response).toEqual({ data: expect.anything(), ...cost });
      // Most examples leave the cost out.
      else expect(settled(response)).toEqual({ ...cost, ...(settled(example.response) as object) });
      await untilThreaded();
    });
  });

  async function follow(text: string): Promise<void> {
    const before = gateway.app.events.size();
    const stream = shell.follow(here(text));
    try {
      await expect.poll(() => gateway.app.events.size()).toBe(before + 1);
      const subject = `Live ${text.length}`;
      await mail.deliver(`From: Bob <bob@example.org>\r\nSubject: ${subject}\r\n\r\nHello\r\n`, box.address);
      await expect.poll(stream.printed).toContain(`"subject":"${subject}"`);
      expect(stream.printed()).toContain('event: next\ndata: {"data":');
      expect(stream.printed()).not.toContain('"errors"');
      // After a cursor, past events come first.
      expect(stream.printed().includes('"subject":"An invoice"')).toBe(text.includes('$CURSOR'));
    } finally {
      await stream.end();
      await untilThreaded();
    }
  }

  test('returns the first response to a repeated request with its key', async () => {
    const again = examples.find(({ name }) => name.startsWith('Idempotency'));
    if (again === undefined) throw new Error('there is no example');
    const responses = [await run(again), await run(again)];
    expect(responses[0]).toEqual(responses[1]);
    const { rows } = await gateway.actor.pool.query(
      `select from email where workspace_id = $1 and subject = 'Your order'`,
      [box.workspaceId],
    );
    expect(rows).toHaveLength(1);
  });

  test('describes the inbox correctly', async () => {
    const response = await shell.run('run 03-thread "{\\"id\\":\\"$THREAD\\"}"');
    const { thread } = JSON.parse(response).data;
    expect(thread).toMatchObject({ messageCount: 2, unreadCount: 0, isArchived: true, labels: ['orders'] });
  });

  test('has links to existing places', () => {
    const links = [...guide.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links)
      expect(() => readFileSync(path.resolve(repository, 'docs', link)), link).not.toThrow(/ENOENT/);
  });
});
