import { afterAll, beforeAll, expect, test } from 'vitest';
import { asWorkspace, inTransaction } from '../../../db/connection/transaction.ts';
import { storeBodiesApart } from '../../../db/queries/emails/bodies-in-message.ts';
import { readOriginalTexts } from '../../../db/queries/emails/original-texts.ts';
import { readParsed } from '../../../db/queries/emails/parse-again.ts';
import { findDeliveryContents } from '../../../db/queries/endpoints/delivery-body.ts';
import { readMailSizes, readPulledMail } from '../../../db/queries/endpoints/pulled-mail.ts';
import { readGuardedEmail } from '../../../db/queries/routing/guard-mail.ts';
import { removeBodies, removeRaws } from '../../../db/queries/upkeep/retention-sweep.ts';
import { exportAccount } from '../../../operations/accounts/export-account.ts';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import { putInMessage } from '../../support/rows/mail-bodies.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

let gateway: TestGateway;
let mail: GatewayMail;
let box: TestMailbox;
let count = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
  mail = await takeMail(gateway);
  box = await gateway.mailbox();
});
afterAll(async () => {
  await mail.stop();
  await gateway.close();
});

const sentence = (n: number) => `This is line ${n} about the orange harvest of valley ${n}.`;
const TEXT = Array.from({ length: 30 }, (_, n) => sentence(n)).join('\n');
const QUOTED = `${TEXT}\n\nOn Monday, Joe wrote:\n> What about it?\n> Joe`;
const HTML = `<p>${TEXT}</p>`;

const MESSAGES: [name: string, fields: string, content: string][] = [
  ['a text', 'Content-Type: text/plain; charset=utf-8', TEXT],
  ['a reply that quotes', 'Content-Type: text/plain; charset=utf-8', QUOTED],
  ['HTML alone', 'Content-Type: text/html; charset=utf-8', HTML],
  [
    'text and HTML',
    'Content-Type: multipart/alternative; boundary=b',
    ['--b', 'Content-Type: text/plain', '', TEXT, '--b', 'Content-Type: text/html', '', HTML, '--b--'].join('\n'),
  ],
];

async function deliver(fields: string, content: string): Promise<string> {
  const lines = ['From: Ann <ann@elsewhere.test>', `To: ${box.address}`, `Subject: Fruit ${count++}`];
  const id = await mail.deliver([...lines, 'MIME-Version: 1.0', fields, '', content, ''].join('\n'), box.address);
  await waitFor(async () => expect((await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).statusCode).toBe(200));
  expect(await putInMessage(gateway.actor, id), 'a body lies in the message').toBe(true);
  return id;
}

async function exported(id: string): Promise<unknown> {
  let found: unknown;
  await exportAccount(gateway.database, {
    workspaceId: box.workspaceId,
    secretKey: null,
    write: async ({ path, pieces }) => {
      const parts: Buffer[] = [];
      for await (const piece of pieces) parts.push(piece);
      if (!path.startsWith('emails')) return;
      for (const line of Buffer.concat(parts).toString().split('\n'))
        if (line.includes(`"${id}"`)) found = JSON.parse(line);
    },
  });
  return found;
}

const GRAPHQL = `query ($id: ID!) { email(id: $id) { content { text html cleanedText cleanedHtml quotedText headers { name value } } } }`;

/** Everything that shows the bodies of an email, by way. */
async function readEverywhere(id: string): Promise<Record<string, unknown>> {
  const get = async (path: string) => (await gateway.call(box.apiKey, 'GET', path)).json();
  const email = await get(`/emails/${id}`);
  const { rows } = await gateway.owner.pool.query('select message_id from email where id = $1', [id]);
  const client = gateway.actor.pool;
  const key = { workspaceId: box.workspaceId, messageId: rows[0].message_id };
  return {
    email,
    thread: email.thread_id === null ? null : await get(`/mail/threads/${email.thread_id}`),
    graphql: (await gateway.graphql(box.apiKey, GRAPHQL, { id })).json(),
    word: (await get(`/emails?search=${encodeURIComponent('harvest')}&limit=100`)).data?.some(
      (each: { id: string }) => each.id === id,
    ),
    phrase: (await get(`/emails?search=${encodeURIComponent('"orange harvest of valley 7"')}&limit=100`)).data?.some(
      (each: { id: string }) => each.id === id,
    ),
    delivery: await asWorkspace(gateway.database, box.workspaceId, (transaction) =>
      findDeliveryContents(transaction, box.workspaceId, [id]),
    ),
    pulled: await asWorkspace(gateway.database, box.workspaceId, (transaction) =>
      readPulledMail(transaction, box.workspaceId, { emailIds: [id], endpointId: null }),
    ),
    guard: await asWorkspace(gateway.database, box.workspaceId, (transaction) =>
      readGuardedEmail(transaction, box.workspaceId, id),
    ),
    originals: await readOriginalTexts(client, [key]),
    parsed: await readParsed(client, box.workspaceId, id),
    export: await exported(id),
  };
}

const apart = (id: string) => inTransaction(gateway.actor, (client) => storeBodiesApart(client, box.workspaceId, [id]));

test.each(MESSAGES)(
  '%s is the same everywhere, whether its bodies lie in the message or beside it',
  async (_name, fields, content) => {
    const id = await deliver(fields, content);
    const before = await readEverywhere(id);
    expect(JSON.stringify(before['email'])).toContain(sentence(7));
    expect([before['word'], before['phrase']]).toEqual([true, true]);
    const sizes = () =>
      asWorkspace(gateway.database, box.workspaceId, (transaction) =>
        readMailSizes(transaction, box.workspaceId, [id]),
      );
    const sizesBefore = await sizes();
    await apart(id);
    expect(await readEverywhere(id)).toEqual(before);
    expect(await sizes()).toEqual(sizesBefore);
  },
);

test('bodies stay when the message is removed, and go when they are to be removed', async () => {
  const id = await deliver('Content-Type: text/plain; charset=utf-8', QUOTED);
  const raw = () => gateway.call(box.apiKey, 'GET', `/emails/${id}/raw`);
  const before = await readEverywhere(id);
  expect((await raw()).statusCode).toBe(200);
  await inTransaction(gateway.actor, (client) => removeRaws(client, box.workspaceId, [id]));
  expect((await raw()).statusCode).toBe(404);
  const after = await readEverywhere(id);
  expect(after['graphql']).toEqual(before['graphql']);
  expect([after['word'], after['phrase']]).toEqual([true, true]);

  const other = await deliver('Content-Type: text/plain; charset=utf-8', TEXT);
  await inTransaction(gateway.actor, (client) => removeBodies(client, box.workspaceId, [other]));
  expect(JSON.stringify(await readEverywhere(other))).not.toContain(sentence(7));
  expect((await gateway.call(box.apiKey, 'GET', `/emails/${other}/raw`)).body).toContain(sentence(7));
});

test('bodies of a damaged message are missing, while the email and its thread are shown', async () => {
  const id = await deliver('Content-Type: text/plain; charset=utf-8', TEXT);
  await gateway.owner.pool.query(
    `update raw_message m set packed = set_byte(packed, 40, get_byte(packed, 40) # 1) from email e where e.raw_id = m.id and e.id = $1`,
    [id],
  );
  const response = await gateway.call(box.apiKey, 'GET', `/emails/${id}`);
  expect(response.statusCode).toBe(200);
  expect(response.body).not.toContain(sentence(7));
});

test('bodies that lie in a message are not shown to another account, which names the email', async () => {
  const id = await deliver('Content-Type: text/plain; charset=utf-8', TEXT);
  const other = await gateway.mailbox();
  expect((await gateway.call(other.apiKey, 'GET', `/emails/${id}`)).statusCode).toBe(404);
  const ask = 'select placed_message($1, $2) as packed';
  const octetsFor = (workspaceId: string) =>
    inTransaction(gateway.database, async (client) => {
      await client.query(`select set_config('postroom.workspace_id', $1, true)`, [workspaceId]);
      return (await client.query(ask, [box.workspaceId, id])).rows[0].packed;
    });
  expect(await octetsFor(other.workspaceId)).toBeNull();
  expect(await octetsFor(box.workspaceId)).not.toBeNull();
  expect((await gateway.database.pool.query(ask, [box.workspaceId, id])).rows).toEqual([{ packed: null }]);
});

test('large bodies of a delivery are read whole, whatever their characters take', async () => {
  const text = 'x\u00e9\u20ac\u{1f600}'.repeat(100_000);
  const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, text }]);
  const found = await asWorkspace(gateway.actor, box.workspaceId, (transaction) =>
    findDeliveryContents(transaction, box.workspaceId, [id]),
  );
  const content = found.get(id);
  expect([content?.text_body === text, content?.html_body ?? null]).toEqual([true, null]);
  expect(content).not.toHaveProperty('large');
});
