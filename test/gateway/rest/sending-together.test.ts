import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wrongTotals } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, readStoredMessage } from '../../support/rows/stored-message.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test' });
});
afterAll(() => gateway.close());

const email = (more: object = {}) => ({
  from: 'hello@mine.test',
  to: 'ada@elsewhere.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});
const post = (more: object = {}, key = box.apiKey) => gateway.call(key, 'POST', '/emails', email(more));
const postMany = (count: number, more: (n: number) => object = () => ({})) =>
  Promise.all(Array.from({ length: count }, (_, n) => post(more(n))));

async function expectWhole(ids: string[]): Promise<void> {
  const { rows } = await gateway.actor.pool.query(
    `select e.id, c.text_body, ${MESSAGE_COLUMNS}, s.text is not null as is_found,
       (select count(*)::integer from recipient q where q.email_id = e.id and q.status = 'pending') as recipients,
       (select count(*)::integer from event v where v.email_id = e.id) as events
     from email e join email_content c on c.email_id = e.id join email_search s on s.email_id = e.id
     join raw_message m on m.id = e.raw_id where e.id = any ($1)`,
    [ids],
  );
  expect(rows).toHaveLength(ids.length);
  for (const row of rows) {
    expect(readStoredMessage(row).length).toBe(row.size_bytes);
    expect(row).toMatchObject({ is_found: true, recipients: 1, events: 2 });
  }
}

test('concurrent emails of a user are stored together, each with its own content', async () => {
  // The gateway comes to know the key.
  await gateway.call(box.apiKey, 'GET', '/domains');
  const { response: responses, statements } = await countStatements(() =>
    postMany(60, (n) => ({
      subject: `Mail ${n}`,
      text: `Grüße ${n}\n`.repeat(n + 1),
      html: n % 2 === 0 ? `<p>${n}` : null,
    })),
  );
  expect(responses.map((response) => response.statusCode)).toEqual(Array(60).fill(200));
  const ids = responses.map((response) => response.json().id as string);
  expect(new Set(ids).size).toBe(60);
  await expectWhole(ids);
  // Four statements a transaction; one each would be 240.
  expect(statements).toBeLessThan(60);
  for (const [n, id] of ids.entries()) {
    const shown = (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json();
    expect([shown.subject, shown.text, shown.html]).toEqual([
      `Mail ${n}`,
      `Grüße ${n}\n`.repeat(n + 1),
      n % 2 === 0 ? `<p>${n}` : null,
    ]);
  }
  expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  const { rows } = await gateway.actor.pool.query('select seq from event where workspace_id = $1 order by seq', [
    box.workspaceId,
  ]);
  expect(rows.map((row) => row.seq)).toEqual(rows.map((_, n) => n + 1));
});

test('the text of sent mail that lies in its message is not stored beside it, and is shown as it was given', async () => {
  const lines = Array.from({ length: 20 }, (_, n) => `A line of text, number ${n}`);
  const texts = [lines.join('\n'), lines.join('\r\n'), `${lines.join('\n')}\r\n`];
  const responses = await postMany(texts.length, (n) => ({ text: texts[n] }));
  const later = await post({ text: texts[0], scheduled_at: 'tomorrow at 9am' });
  const ids = [...responses, later].map((response) => response.json().id as string);
  const { rows } = await gateway.actor.pool.query(
    `select c.text_body from unnest($1::text[]) with ordinality as i(id, n) join email_content c on c.email_id = i.id order by n`,
    [ids],
  );
  // A text of two kinds of line ends has other bytes than its message, and the message of scheduled mail may change.
  expect(rows.map((row) => row.text_body)).toEqual([null, null, texts[2], texts[0]]);
  for (const [n, id] of ids.entries()) {
    const shown = (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json();
    expect(shown.text).toBe(texts[n] ?? texts[0]);
  }
});

test('a refused email does not keep back those beside it', async () => {
  const responses = await postMany(30, (n) => (n % 3 === 0 ? { from: 'a@strange.test' } : {}));
  expect(responses.map((response) => response.statusCode)).toEqual(responses.map((_, n) => (n % 3 === 0 ? 403 : 200)));
  await expectWhole(responses.flatMap((response) => (response.statusCode === 200 ? [response.json().id] : [])));
});

describe('a row that PostgreSQL refuses', () => {
  beforeAll(async () => {
    await gateway.owner.pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse before insert on email for each row when (new.subject = 'Poison') execute function refuse()`);
  });
  afterAll(() => gateway.owner.pool.query('drop trigger refuse on email; drop function refuse'));

  test('fails alone with 500, and nothing of it is stored', async () => {
    const responses = await postMany(20, (n) => (n === 7 ? { subject: 'Poison', to: 'poisoned@x.test' } : {}));
    expect(responses.map((response) => response.statusCode)).toEqual(responses.map((_, n) => (n === 7 ? 500 : 200)));
    await expectWhole(responses.flatMap((response) => (response.statusCode === 200 ? [response.json().id] : [])));
    const { rows } = await gateway.actor.pool.query(
      `select (select count(*) from recipient where address = 'poisoned@x.test') + (select count(*) from email_search where text like '%poison%') as n`,
    );
    expect(rows).toEqual([{ n: 0 }]);
    expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
  });
});

test('concurrent emails of several users are stored separately', async () => {
  const boxes = await Promise.all(Array.from({ length: 5 }, (_, n) => gateway.mailbox({ domain: `user${n}.test` })));
  const responses = await Promise.all(
    boxes.flatMap((each) =>
      Array.from({ length: 10 }, async () => ({
        workspaceId: each.workspaceId,
        response: await post({ from: each.address }, each.apiKey),
      })),
    ),
  );
  const { rows } = await gateway.actor.pool.query('select id, workspace_id from email where id = any ($1)', [
    responses.map(({ response }) => response.json().id),
  ]);
  const owners = new Map(rows.map((row) => [row.id, row.workspace_id]));
  for (const { workspaceId, response } of responses) expect(owners.get(response.json().id)).toBe(workspaceId);
  // A user cannot send from the domain of another user.
  const [first, other] = boxes;
  expect((await post({ from: first?.address }, other?.apiKey)).statusCode).toBe(403);
});

describe('without PostgreSQL', () => {
  let away: TestGateway;
  let proxy: TcpProxy;
  let owner: TestMailbox;

  beforeAll(async () => {
    away = await openTestGateway({
      databasePort: async (server) => {
        proxy = await startTcpProxy(server);
        return proxy.port;
      },
    });
    owner = await away.mailbox();
    expect((await away.call(owner.apiKey, 'POST', '/emails', email({ from: owner.address }))).statusCode).toBe(200);
  });
  afterAll(async () => {
    proxy.setMode('pass');
    await away.close();
    await proxy.close();
  });

  const count = async () => (await away.actor.pool.query('select count(*)::integer as n from email')).rows[0].n;
  const sendMany = (more: object = {}) =>
    Promise.all(
      Array.from({ length: 10 }, () =>
        away.call(owner.apiKey, 'POST', '/emails', email({ from: owner.address, ...more })),
      ),
    );

  test.each([
    ['refuses', 'refuse'],
    ['is paused', 'stall'],
  ] as const)('that %s, sending is 503, stores nothing, and recovers by itself', async (_what, mode) => {
    const before = await count();
    proxy.setMode(mode);
    for (const responses of [await sendMany(), mode === 'refuse' ? await sendMany({ scheduled_at: 'in 2 days' }) : []])
      for (const response of responses)
        expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5']);
    proxy.setMode('pass');
    await expect
      .poll(async () => (await sendMany()).map((response) => response.statusCode))
      .toEqual(Array(10).fill(200));
    // What was answered 503 did not come to be stored after all.
    const { rows } = await away.actor.pool.query('select count(*)::integer as n from email where type = $1', [
      'scheduled',
    ]);
    expect(rows).toEqual([{ n: 0 }]);
    expect((await count()) - before).toBe(10);
  });
});
