import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { appendEvents } from '../../support/stages/event-feed.ts';

const APOLLO =
  'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9';
const EVENTS = 'subscription($after: String) { events(after: $after) { cursor kind } }';

let gateway: TestGateway;
let box: TestMailbox;
let port: number;
const ends: (() => void)[] = [];

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  port = (gateway.app.server.address() as AddressInfo).port;
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
});
afterAll(() => gateway.close());

interface Reply {
  status: number;
  contentType: string;
  /** what was received so far */
  text: () => string;
  /** resolves when the server ended the response */
  over: Promise<void>;
  end: () => void;
}

function send(accept: string, body: object, key = box.apiKey): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const call = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/graphql',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
    });
    ends.push(() => call.destroy());
    call.on('error', reject);
    call.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      const over = new Promise<void>((done) => response.on('end', done));
      const { statusCode: status = 0, headers } = response;
      const contentType = headers['content-type'] ?? '';
      resolve({ status, contentType, text: () => text, over, end: () => call.destroy() });
    });
    call.end(JSON.stringify(body));
  });
}

/** Returns the values of the complete parts, read by the rules of RFC 2046. */
function parts(text: string): unknown[] {
  const [preamble, ...pieces] = text.split('--graphql');
  expect(preamble).toBe('');
  const complete = pieces.slice(0, -1);
  return complete.map((piece) => {
    const [, head = '', value = ''] = /^\r\n(.*?)\r\n\r\n(.*)\r\n$/s.exec(piece) ?? [];
    expect(head).toBe('Content-Type: application/json');
    return JSON.parse(value);
  });
}

/** Returns the parts that are no heartbeats. */
const payloads = (stream: Reply) => parts(stream.text()).filter((each) => Object.keys(each as object).length > 0);

const opened = (count: number) => expect.poll(() => gateway.app.events.size()).toBe(count);
const append = (labels: string[]) => appendEvents(gateway.owner, box.workspaceId, { labels, bus: gateway.bus });

describe.each([
  ['Apollo Client', APOLLO],
  ['the protocol alone', 'multipart/mixed; boundary="graphql"; subscriptionSpec="1.0"'],
  ['another boundary', 'multipart/mixed;subscriptionSpec="1.0";boundary=other, application/json'],
])('a subscription whose Accept is that of %s', (_name, accept) => {
  test('is sent in parts as events happen, the first one empty', async () => {
    const before = gateway.app.events.size();
    const stream = await send(accept, { query: EVENTS });
    expect([stream.status, stream.contentType]).toEqual([
      200,
      'multipart/mixed; boundary=graphql; subscriptionSpec="1.0"',
    ]);
    await expect.poll(() => parts(stream.text())).toEqual([{}]);
    await opened(before + 1);
    await append(['one']);
    await expect.poll(() => payloads(stream)).toHaveLength(1);
    await append(['two']);
    await expect.poll(() => payloads(stream)).toHaveLength(2);
    expect(payloads(stream)).toEqual([
      {
        payload: {
          data: { events: { cursor: expect.any(String), kind: 'EMAIL_READ' } },
          extensions: { cost: { requested: 3, limit: 5_000 } },
        },
      },
      { payload: { data: { events: { cursor: expect.any(String), kind: 'EMAIL_READ' } } } },
    ]);
    stream.end();
    await opened(before);
  });
});

describe('a result that cannot be sent as Accept allows is refused with a body that lists the accepted types', () => {
  const QUERY = '{ viewer { id } }';

  test.each([
    ['a subscription as JSON', 'application/json', EVENTS],
    ['a subscription as the new JSON', 'application/graphql-response+json', EVENTS],
    ['a subscription as deferred parts', 'multipart/mixed;deferSpec=20220824, application/json', EVENTS],
    ['a subscription as parts of another version', 'multipart/mixed;subscriptionSpec=2.0', EVENTS],
    ['a subscription as an image', 'image/png', EVENTS],
    ['a query as an image', 'image/png', QUERY],
    ['a query as HTML alone', 'application/xhtml+xml', QUERY],
  ])('%s', async (_name, accept, query) => {
    const before = gateway.app.events.size();
    const response = await send(accept, { query });
    await response.over;
    const { errors } = JSON.parse(response.text());
    expect([response.status, errors.length, errors[0].extensions]).toEqual([
      406,
      1,
      { code: 'not_acceptable', statusCode: 406 },
    ]);
    for (const type of ['text/event-stream', 'multipart/mixed; subscriptionSpec="1.0"'])
      expect(errors[0].message).toContain(type);
    expect(gateway.app.events.size()).toBe(before);
  });

  test('a query is sent as JSON to clients that accept parts as well', async () => {
    for (const accept of [APOLLO, 'multipart/mixed;deferSpec=20220824,application/json']) {
      const response = await send(accept, { query: QUERY });
      await response.over;
      expect([response.status, JSON.parse(response.text()).data]).toEqual([200, { viewer: { id: box.workspaceId } }]);
    }
  });

  test('a subscription is sent as server-sent events to clients that accept anything', async () => {
    for (const accept of ['*/*', 'text/event-stream', 'text/event-stream, application/json']) {
      const stream = await send(accept, { query: EVENTS });
      expect([stream.status, stream.contentType]).toEqual([200, 'text/event-stream']);
      stream.end();
    }
  });

  test('errors before the subscription opens are sent as JSON', async () => {
    for (const query of ['subscription { events(after: "x") { kind } }', 'subscription { event { kind } }']) {
      const response = await send(APOLLO, { query });
      await response.over;
      expect([response.contentType, JSON.parse(response.text()).errors.length]).toEqual([
        expect.stringContaining('json'),
        1,
      ]);
    }
    const refused = await send(APOLLO, { query: EVENTS }, 'nobody');
    await refused.over;
    expect([refused.status, JSON.parse(refused.text()).errors.length]).toEqual([401, 1]);
  });
});

test('a subscription that the gateway ends says why in the last part, and ends with the closing delimiter', async () => {
  const own = await gateway.mailbox();
  const before = gateway.app.events.size();
  const stream = await send(APOLLO, { query: EVENTS }, own.apiKey);
  await opened(before + 1);
  await gateway.app.events.close();
  await stream.over;
  expect(stream.text().endsWith('\r\n--graphql--\r\n')).toBe(true);
  expect(parts(stream.text()).at(-1)).toMatchObject({
    payload: { errors: [{ extensions: { code: 'GOING_AWAY', cursor: expect.any(String) } }] },
  });
});
