import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../../support/rows/stored-message.ts';
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

/** Suppresses addresses, each a minute after the one before; returns their ids. */
async function suppress(...rows: [address: string, reason: 'bounce' | 'complaint', detail?: string][]) {
  const { rows: made } = await gateway.actor.pool.query<{ id: string }>(
    `insert into suppression (workspace_id, id, address, reason, detail, refusal_reason, email_id, created_at)
     select $1, 'sup_' || md5($1 || address), address, reason, detail, case reason when 'bounce' then 'mailbox_disabled' end, 'em_one', timestamptz '2026-11-26T10:00:00Z' + n * interval '1 minute'
     from jsonb_to_recordset($2) as x(n integer, address text, reason text, detail text) order by n returning id`,
    [
      mailbox.workspaceId,
      JSON.stringify(rows.map(([address, reason, detail = null], n) => ({ n, address, reason, detail }))),
    ],
  );
  return made.map(({ id }) => id);
}

const addresses = async (path: string) =>
  (await call('GET', path)).json().data.map((suppression: { address: string }) => suppression.address);

describe('the list', () => {
  test('shows all fields of a suppression, newest first', async () => {
    const ids = await suppress(['a@x.test', 'bounce', '550 5.1.1 No such user'], ['b@x.test', 'complaint']);
    expect((await call('GET', '/suppressions')).json()).toEqual({
      object: 'list',
      data: [
        {
          object: 'suppression',
          id: ids[1],
          address: 'b@x.test',
          reason: 'complaint',
          list: null,
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
          list: null,
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
  ])('is read and removed by %s', async (_, readName) => {
    const [id = ''] = await suppress(['ann+news@x.test', 'bounce', 'gone'], ['other@x.test', 'bounce']);
    const path = `/suppressions/${readName(id)}`;
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
      const response = await call(method, path);
      expect([response.statusCode, response.json()]).toMatchObject([404, { error: 'Suppression not found' }]);
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

  test('to a suppressed address is refused and names it; once it is removed, mail is sent', async () => {
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

describe('list_unsubscribe', () => {
  const email = (more: object = {}) => ({
    from: mailbox.address,
    to: 'Ada <Ada@elsewhere.test>',
    subject: 'News',
    text: 'Hello',
    ...more,
  });
  const send = (more: object) => call('POST', '/emails', email(more));

  /** Returns the fields of a sent email, and the path of its link. */
  async function readLink(id: string): Promise<{ fields: Record<string, string>; path: string }> {
    const { rows } = await gateway.actor.pool.query<MessageColumns>(
      `select ${MESSAGE_COLUMNS} from raw_message m join email e on e.raw_id = m.id where e.id = $1`,
      [id],
    );
    const header =
      rows
        .map((row) => readStoredMessage(row).toString('latin1'))
        .join('')
        .split('\r\n\r\n')[0] ?? '';
    const lines = header.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
    const fields = Object.fromEntries(
      lines.filter((line) => /^list-/i.test(line)).map((line) => line.split(/: ?(.*)/s).slice(0, 2)),
    );
    return { fields, path: /<https:\/\/postroom\.test(\/.*)>/.exec(fields['List-Unsubscribe'] ?? '')?.[1] ?? '' };
  }
  const visit = (
    method: 'GET' | 'POST' | 'PUT',
    url: string,
    payload?: string,
    type = 'application/x-www-form-urlencoded',
  ) =>
    gateway.app.inject({
      method,
      url,
      ...(payload === undefined ? {} : { payload, headers: { 'content-type': type } }),
    });

  test('adds a link to a page, whose click stops the mail of that list only, until the suppression is removed', async () => {
    const sent = await send({ list_unsubscribe: { list: 'news' } });
    expect(sent.statusCode).toBe(200);
    const { fields, path } = await readLink(sent.json().id);
    expect(fields).toEqual({
      'List-Unsubscribe': `<https://postroom.test${path}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    const page = await visit('GET', path);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('Stop mail to ada@elsewhere.test from the list &quot;news&quot;?');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(await addresses('/suppressions')).toEqual([]);

    for (let time = 0; time < 2; time++)
      expect((await visit('POST', path, 'List-Unsubscribe=One-Click')).statusCode).toBe(200);
    const list = (await call('GET', '/suppressions?reason=unsubscribe')).json().data;
    expect(list).toMatchObject([
      { address: 'ada@elsewhere.test', reason: 'unsubscribe', list: 'news', email_id: sent.json().id },
    ]);

    const refused = await send({ list_unsubscribe: { list: 'news' } });
    expect(refused.statusCode).toBe(400);
    expect(refused.json()).toMatchObject({
      message: 'Cannot send to Ada@elsewhere.test: the recipient unsubscribed from the list "news"',
      suppressedRecipients: ['Ada@elsewhere.test'],
    });
    expect((await send({})).statusCode).toBe(200);
    expect((await send({ list_unsubscribe: true })).statusCode).toBe(200);
    expect((await call('DELETE', `/suppressions/${list[0].id}`)).statusCode).toBe(200);
    expect((await send({ list_unsubscribe: { list: 'news' } })).statusCode).toBe(200);
  });

  test('accepts multipart and empty one-click requests, and scheduled mail remembers its list', async () => {
    const { id } = (await send({ list_unsubscribe: true, scheduled_at: 'in 2 hours' })).json();
    const { path } = await readLink(id);
    const boundary = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
    expect((await visit('POST', path, boundary, 'multipart/form-data; boundary=x')).statusCode).toBe(200);
    expect((await visit('POST', path)).statusCode).toBe(200);
    const { rows } = await gateway.actor.pool.query('select list from recipient where email_id = $1', [id]);
    expect(rows).toEqual([{ list: 'default' }]);
    expect((await call('GET', '/suppressions/ada@elsewhere.test')).json()).toMatchObject({ list: 'default' });
  });

  test('changes nothing by a forged, foreign or cut link, and refuses a long body', async () => {
    const { path } = await readLink((await send({ list_unsubscribe: true })).json().id);
    const last = path.at(-2) === 'A' ? 'B' : 'A';
    for (const wrong of [
      `${path.slice(0, -2)}${last}${path.at(-1)}`,
      path.slice(0, -20),
      '/unsubscribe/x',
      '/unsubscribe/v1.a.b',
    ])
      expect((await visit('POST', wrong)).statusCode).toBe(404);
    expect((await visit('POST', path, 'x'.repeat(10_000))).statusCode).toBe(413);
    expect(await addresses('/suppressions')).toEqual([]);
  });

  test.each([
    [{ list_unsubscribe: { list: 'no\r\nline' } }, 'The name of a list has 1 to 64'],
    [{ list_unsubscribe: true, cc: 'bob@elsewhere.test' }, 'An email with list_unsubscribe has one recipient'],
    [
      { list_unsubscribe: true, headers: { 'List-Unsubscribe': '<https://x.test>' } },
      'Header cannot be set together with list_unsubscribe: List-Unsubscribe',
    ],
  ])('rejects %j', async (more, message) => {
    const refused = await send(more);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().message).toContain(message);
  });

  test('adds the same link over GraphQL and shows the list of a suppression', async () => {
    const input = {
      from: mailbox.address,
      to: ['eve@elsewhere.test'],
      subject: 'News',
      text: 'Hi',
      listUnsubscribe: { list: 'news' },
    };
    const sent = await gateway.graphql(
      mailbox.apiKey,
      'mutation ($input: SendEmailInput!) { sendEmail(input: $input) { __typename ... on SendEmailPayload { email { id } } } }',
      { input },
    );
    const { path } = await readLink(sent.json().data.sendEmail.email.id);
    await visit('POST', path);
    const shown = await gateway.graphql(
      mailbox.apiKey,
      '{ suppressions(first: 5) { edges { node { address reason list } } } }',
    );
    expect(shown.json().data.suppressions.edges).toEqual([
      { node: { address: 'eve@elsewhere.test', reason: 'UNSUBSCRIBE', list: 'news' } },
    ]);
  });

  test('needs a public URL: the error names the missing setting', async () => {
    const other = await openTestGateway({ config: { unsubscribeUrl: null } });
    try {
      const box = await other.mailbox();
      const refused = await other.call(box.apiKey, 'POST', '/emails', {
        ...email({ list_unsubscribe: true }),
        from: box.address,
      });
      expect(refused.statusCode).toBe(400);
      expect(refused.json().message).toContain('Set PUBLIC_URL');
    } finally {
      await other.close();
    }
  });
});
