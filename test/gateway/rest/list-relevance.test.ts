import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RANKED_MAIL, storeRankedMail } from '../../support/rows/ranked-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let other: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 }, now: () => new Date('2026-03-01T00:00:00Z') });
  box = await gateway.mailbox();
  other = await gateway.mailbox();
  await storeRankedMail(gateway.actor, box.workspaceId);
});
afterAll(() => gateway.close());

interface Found {
  status: number;
  ids: string[];
  hasMore: boolean;
  total: number | undefined;
  cursor: string | null;
  message: string;
}

async function get(path: string, { apiKey } = box): Promise<Found> {
  const response = await gateway.call(apiKey, 'GET', path);
  const body = response.json();
  const threads: { latest_message: { id: string } }[] = body.threads ?? [];
  const rows: { id: string }[] = body.data ?? threads.map(({ latest_message: message }) => message);
  return {
    status: response.statusCode,
    ids: rows.map(({ id }) => id),
    hasMore: body.pagination?.has_more,
    total: body.pagination?.total,
    cursor: body.pagination?.next_cursor ?? null,
    message: JSON.stringify(body),
  };
}

const byTime = RANKED_MAIL.toReversed();

describe('GET /emails', () => {
  test('orders by relevance when it is asked to, in pages by offset and beside an email', async () => {
    const list = (more: string) => get(`/emails?search=numbat&order_by=relevance${more}`);
    expect(await list('')).toMatchObject({ ids: RANKED_MAIL, total: 3, hasMore: false });
    for (const [at, id] of RANKED_MAIL.entries()) {
      expect(await list(`&limit=1&offset=${at}`)).toMatchObject({ ids: [id], total: 3, hasMore: at < 2 });
      expect(await list(`&limit=1&after=${id}`)).toMatchObject({
        ids: RANKED_MAIL.slice(at + 1, at + 2),
        hasMore: at < 1,
      });
      expect(await list(`&limit=1&before=${id}`)).toMatchObject({
        ids: RANKED_MAIL.slice(0, at).slice(-1),
        hasMore: at > 1,
      });
    }
    expect(await list('&offset=3')).toMatchObject({ ids: [], total: 3, hasMore: false });
  });

  test('orders by time otherwise', async () => {
    for (const order of ['', '&order_by=newest'])
      expect((await get(`/emails?search=numbat${order}`)).ids).toEqual(byTime);
  });

  test('ranks only what its filters leave', async () => {
    const list = (more: string) => get(`/emails?search=numbat&order_by=relevance&${more}`);
    expect((await list('type=sent')).ids).toEqual([]);
    expect((await list('status=unread')).ids.toSorted()).toEqual(
      (await get('/emails?search=numbat&status=unread')).ids.toSorted(),
    );
    expect((await list('time_range=24h')).ids).toEqual([]);
  });

  test.each(['em_other', 'em_unknown', '%20'])('refuses the page after %s, which is not in the list', async (id) => {
    expect(await get(`/emails?search=numbat&order_by=relevance&after=${id}`)).toMatchObject({
      status: 400,
      message: expect.stringContaining('Invalid cursor') as string,
    });
  });
});

describe('GET /mail/threads', () => {
  test('orders by relevance when it is asked to, page by page', async () => {
    expect((await get('/mail/threads?search=numbat&order_by=relevance')).ids).toEqual(RANKED_MAIL);
    const found: string[] = [];
    let cursor: string | null = '';
    do {
      const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = await get(`/mail/threads?search=numbat&order_by=relevance&limit=1${after}`);
      expect(page.hasMore).toBe(page.cursor !== null);
      found.push(...page.ids);
      cursor = page.cursor;
    } while (cursor !== null);
    expect(found).toEqual(RANKED_MAIL);
    expect((await get('/mail/threads?search=numbat')).ids).toEqual(byTime);
  });

  test('ranks only threads that are claimed, or only the others', async () => {
    const { threads } = (await gateway.call(box.apiKey, 'GET', '/mail/threads?search=numbat')).json();
    const claimed: { id: string; latest_message: { id: string } } = threads[0];
    const path = `/mail/threads/${claimed.id}/claim`;
    const response = await gateway.call(box.apiKey, 'POST', path, { holder: 'agent-7', ttl: 60 });
    expect(response.statusCode, response.body).toBeLessThan(300);
    const list = (isClaimed: boolean) => get(`/mail/threads?search=numbat&order_by=relevance&claimed=${isClaimed}`);
    expect((await list(true)).ids).toEqual([claimed.latest_message.id]);
    expect((await list(false)).ids).toEqual(RANKED_MAIL.filter((id) => id !== claimed.latest_message.id));
  });

  test('refuses a cursor of another order', async () => {
    const { cursor: ranked } = await get('/mail/threads?search=numbat&order_by=relevance&limit=1');
    const { cursor: newest } = await get('/mail/threads?search=numbat&limit=1');
    for (const [order, cursor] of [
      ['newest', ranked],
      ['relevance', newest],
    ] as const)
      expect(await get(`/mail/threads?search=numbat&order_by=${order}&cursor=${cursor}`)).toMatchObject({
        status: 400,
        message: expect.stringContaining('Invalid cursor') as string,
      });
  });
});

describe.each(['/emails', '/mail/threads'])('%s', (path) => {
  test.each(['', 'search=', 'search=-numbat', 'search=is:unread', 'search=%25'])(
    'cannot be ordered by relevance with "%s"',
    async (search) => {
      const found = await get(`${path}?order_by=relevance&${search}`);
      expect(found).toMatchObject({ status: 400 });
      expect(found.message).toContain('only if the search has a word or phrase to find');
    },
  );

  test('names the orders it has', async () => {
    const found = await get(`${path}?search=numbat&order_by=oldest`);
    expect(found.status).toBe(400);
    expect(found.message).toContain('relevance');
  });

  test('ranks no mail of another account', async () => {
    expect((await get(`${path}?search=numbat&order_by=relevance`, other)).ids).toEqual([]);
  });
});
