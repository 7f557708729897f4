import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const get = async (path: string) => (await gateway.call(box.apiKey, 'GET', path)).json();
const graph = async (query: string) => {
  const headers = { authorization: `Bearer ${box.apiKey}` };
  return (await gateway.app.inject({ method: 'POST', url: '/graphql', headers, payload: { query } })).json();
};
const send = async (body: object): Promise<string> => {
  const response = await gateway.call(box.apiKey, 'POST', '/emails', {
    from: box.address,
    to: 'ada@elsewhere.test',
    subject: 'Hi',
    ...body,
  });
  expect(response.statusCode).toBe(200);
  return response.json().id;
};
const readRaw = async (id: string) => {
  const response = await gateway.call(box.apiKey, 'GET', `/emails/${id}/raw`);
  return { raw: response.body, parsed: await simpleParser(response.body, { skipHtmlToText: true }) };
};

test('is_read of sent mail is true everywhere', async () => {
  const { threadId, emailIds } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 2,
    lastMessageAt: new Date(),
  });
  const [received = '', sent = ''] = emailIds;
  await gateway.actor.pool.query(
    `update email set type = 'sent', status = 'delivered', sent_at = now(), is_read = false where workspace_id = $1 and id = $2`,
    [box.workspaceId, sent],
  );
  const listed: { id: string; is_read: boolean }[] = (await get('/emails?time_range=all&limit=100')).data;
  const { messages } = await get(`/mail/threads/${threadId}`);
  const legacy = await get(`/mail/${sent}/thread`);
  const found = (each: { id: string; is_read: boolean }[], id: string) =>
    each.find((email) => email.id === id)?.is_read;
  const inGraph = await graph(`{ node(id: "${sent}") { ... on Email { isRead } } }`);
  expect({
    list: found(listed, sent),
    get: (await get(`/emails/${sent}`)).is_read,
    thread: found(messages, sent),
    legacy: found(legacy.messages, sent),
    graph: inGraph.data.node.isRead,
    received: [found(listed, received), (await get(`/emails/${received}`)).is_read, found(messages, received)],
  }).toEqual({ list: true, get: true, thread: true, legacy: true, graph: true, received: [false, false, false] });
});

describe('mail with HTML only', () => {
  const html = '<p>Hello <b>Ada</b></p><p><a href="https://x.test/go">Go</a></p>';
  const text = 'Hello Ada\n\nGo (https://x.test/go)';

  test('is sent with a text part made of it, which is shown as its text', async () => {
    const id = await send({ html });
    expect(await get(`/emails/${id}`)).toMatchObject({ html, text });
    const { raw, parsed } = await readRaw(id);
    expect(raw).toMatch(/^Content-Type: multipart\/alternative/im);
    expect([parsed.text?.trim(), parsed.html]).toEqual([text, expect.stringContaining('<b>Ada</b>')]);
  });

  test('is sent without a text part when the text is given empty', async () => {
    const { raw } = await readRaw(await send({ html, text: '' }));
    expect(raw).toMatch(/^Content-Type: text\/html/im);
    expect(raw).not.toMatch(/multipart\/alternative|text\/plain/i);
  });

  test('shows a text made of it when it is received', async () => {
    const [id = ''] = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, ownAddress: box.address, html },
    ]);
    await gateway.actor.pool.query(
      'update email_content set text_body = null where workspace_id = $1 and email_id = $2',
      [box.workspaceId, id],
    );
    expect(await get(`/emails/${id}`)).toMatchObject({ type: 'received', html, text });
  });
});

test('50 recipients in each of to, cc and bcc get the email', async () => {
  const many = (letter: string) => Array.from({ length: 50 }, (_, at) => `${letter}${at}@x.test`);
  const id = await send({ to: many('a'), cc: many('b'), bcc: many('c'), text: 'x' });
  expect((await get(`/emails/${id}`)).recipients).toHaveLength(150);
});
