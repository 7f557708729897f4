import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let mailbox: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  mailbox = await gateway.mailbox();
});

const call = (method: string, path: string, body?: unknown) => gateway.call(mailbox.apiKey, method, path, body);

/** Suppresses addresses, each a minute after the one before; answers their ids. */
async function suppress(...rows: [address: string, reason: 'bounce' | 'complaint', detail?: string][]) {
  const { rows: made } = await gateway.actor.pool.query<{ id: string }>(
    `insert into suppression (user_id, id, address, reason, detail, refusal_reason, email_id, created_at)
     select $1, 'sup_' || md5($1 || address), address, reason, detail, case reason when 'bounce' then 'mailbox_disabled' end, 'em_one', timestamptz '2026-11-26T10:00:00Z' + n * interval '1 minute'
     from jsonb_to_recordset($2) as x(n integer, address text, reason text, detail text) order by n returning id`,
    [
      mailbox.userId,
      JSON.stringify(rows.map(([address, reason, detail = null], n) => ({ n, address, reason, detail }))),
    ],
  );
  return made.map(({ id }) => id);
}

const addresses = async (path: string) =>
  (await call('GET', path)).json().data.map((suppression: { address: string }) => suppression.address);

describe('the list', () => {
  test('shows all of a suppression, newest first', async () => {
    const ids = await suppress(['a@x.test', 'bounce', '550 5.1.1 No such user'], ['b@x.test', 'complaint']);
    expect((await call('GET', '/suppressions')).json()).toEqual({
      object: 'list',
      data: [
        {
          object: 'suppression',
          id: ids[1],
          address: 'b@x.test',
          reason: 'complaint',
          detail: null,
          refusal: null,
          email_id: 'em_one',
          email: 'b@x.test',
          origin: 'complaint',
          source_id: 'em_one',
          created_at: '2026-11-26T10:01:00.000Z',
        },
        {
          object: 'suppression',
          id: ids[0],
          address: 'a@x.test',
          reason: 'bounce',
          detail: '550 5.1.1 No such user',
          refusal: expect.objectContaining({ reason: 'mailbox_disabled', type: 'soft' }),
          email_id: 'em_one',
          email: 'a@x.test',
          origin: 'bounce',
          source_id: 'em_one',
          created_at: '2026-11-26T10:00:00.000Z',
        },
      ],
      has_more: false,
      pagination: { limit: 50, offset: 0, total: 2, hasMore: false },
    });
  });

  test('is paged', async () => {
    await suppress(['a@x.test', 'bounce'], ['b@x.test', 'bounce'], ['c@x.test', 'bounce']);
    expect((await call('GET', '/suppressions?limit=2')).json()).toMatchObject({
      data: [{ address: 'c@x.test' }, { address: 'b@x.test' }],
      has_more: true,
      pagination: { limit: 2, offset: 0, total: 3, hasMore: true },
    });
    expect((await call('GET', '/suppressions?limit=2&offset=2')).json()).toMatchObject({
      data: [{ address: 'a@x.test' }],
      pagination: { total: 3, hasMore: false },
    });
    expect((await call('GET', '/suppressions?offset=9')).json()).toMatchObject({ data: [], pagination: { total: 3 } });
  });

  test('is filtered by reason and by part of the address, taken literally', async () => {
    await suppress(['ann_b@x.test', 'bounce'], ['annab@x.test', 'complaint'], ['bob@y.test', 'bounce']);
    expect(await addresses('/suppressions?reason=bounce')).toEqual(['bob@y.test', 'ann_b@x.test']);
    expect(await addresses('/suppressions?search=ANN')).toEqual(['annab@x.test', 'ann_b@x.test']);
    expect(await addresses('/suppressions?search=ann_b')).toEqual(['ann_b@x.test']);
    expect(await addresses('/suppressions?search=%25')).toEqual([]);
    expect(await addresses('/suppressions?search=x.test&reason=complaint')).toEqual(['annab@x.test']);
  });

  test.each(['limit=0', 'limit=x', 'offset=-1', 'reason=spite', `search=${'x'.repeat(101)}`, 'search=%00'])(
    '?%s is refused',
    async (query) => {
      expect((await call('GET', `/suppressions?${query}`)).statusCode).toBe(400);
    },
  );
});

describe('one suppression', () => {
  test.each([
    ['its id', (id: string) => id],
    ['its address', () => 'Ann+News@X.test'],
    ['its address, encoded', () => 'ann%2Bnews%40x.test'],
  ])('is read and lifted by %s', async (_, nameOf) => {
    const [id = ''] = await suppress(['ann+news@x.test', 'bounce', 'gone'], ['other@x.test', 'bounce']);
    const path = `/suppressions/${nameOf(id)}`;
    expect((await call('GET', path)).json()).toMatchObject({ id, address: 'ann+news@x.test', detail: 'gone' });
    const lifted = await call('DELETE', path);
    expect([lifted.statusCode, lifted.json()]).toEqual([
      200,
      {
        success: true,
        message: 'Mail is sent to ann+news@x.test again',
        object: 'suppression',
        id,
        deleted: true,
      },
    ]);
    expect(await addresses('/suppressions')).toEqual(['other@x.test']);
    for (const method of ['GET', 'DELETE']) {
      const answer = await call(method, path);
      expect([answer.statusCode, answer.json()]).toMatchObject([404, { error: 'Suppression not found' }]);
    }
  });

  test('the legacy path deletes a suppression', async () => {
    const [id = ''] = await suppress(['ann@x.test', 'bounce']);
    const unblock = () => call('POST', '/blocklist/unblock', { emailAddress: ' Ann@x.test ' });
    expect((await unblock()).json()).toMatchObject({ success: true, id });
    expect((await unblock()).statusCode).toBe(404);
    expect((await call('POST', '/blocklist/unblock', {})).statusCode).toBe(400);
  });
});

describe('sending', () => {
  const send = (to: string[]) =>
    call('POST', '/emails', { from: mailbox.address, to, subject: 'Hello', text: 'Hello' });

  test('to a suppressed address is refused and names it; once it is lifted, mail goes', async () => {
    await suppress(['joe@x.test', 'bounce'], ['eve@x.test', 'complaint'], ['idle@x.test', 'bounce']);
    const refused = await send(['Joe@x.test', 'ann@x.test', 'eve@x.test']);
    expect([refused.statusCode, refused.json().error]).toEqual([
      400,
      'Cannot send to blocked recipient(s): Joe@x.test, eve@x.test',
    ]);
    await call('DELETE', '/suppressions/joe@x.test');
    await call('POST', '/blocklist/unblock', { emailAddress: 'eve@x.test' });
    expect((await send(['Joe@x.test', 'ann@x.test', 'eve@x.test'])).statusCode).toBe(200);
  });

  test('to an address that another user’s mail bounced from is not refused', async () => {
    await suppress(['joe@x.test', 'bounce']);
    mailbox = await gateway.mailbox();
    expect((await send(['joe@x.test'])).statusCode).toBe(200);
  });
});
