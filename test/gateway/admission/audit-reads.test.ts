import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { auditReads: true } });
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const makeEmail = async () => {
  const [id = ''] = await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, ownAddress: box.address, text: 'Hi' },
  ]);
  return id;
};

/** Returns who read an email, as the log has it, and how often. */
async function listReaders(emailId: string): Promise<{ actor: string; times: number }[]> {
  await gateway.call(box.apiKey, 'GET', '/audit?limit=1');
  const { rows } = await gateway.owner.pool.query(
    `select actor_id as actor, sum(times)::integer as times from audit_entry where action = 'email.read' and object_id = $1 group by 1`,
    [emailId],
  );
  return rows;
}

describe('with AUDIT_READS=on', () => {
  test.each([
    ['GET /emails/:id', (id: string, key: string) => gateway.call(key, 'GET', `/emails/${id}`)],
    [
      'the content of an email in GraphQL',
      (id: string, key: string) => gateway.graphql(key, `{ email(id: "${id}") { content { text } } }`),
    ],
  ])('%s leaves an entry of the email and its reader', async (_name, read) => {
    const id = await makeEmail();
    const key = await insertKey(gateway.owner, box, { scopes: ['read'] });
    const response = await read(id, key.secret);
    expect([response.statusCode, response.json().errors]).toEqual([200, undefined]);
    expect(await listReaders(id)).toEqual([{ actor: key.id, times: 1 }]);
  });

  test('a list leaves no entry, because it shows no texts', async () => {
    const id = await makeEmail();
    await gateway.call(box.apiKey, 'GET', '/emails');
    expect(await listReaders(id)).toEqual([]);
  });

  test('an email of another account leaves no entry', async () => {
    const id = await makeEmail();
    const other = await gateway.mailbox();
    expect((await gateway.call(other.apiKey, 'GET', `/emails/${id}`)).statusCode).toBe(404);
    expect(await listReaders(id)).toEqual([]);
  });

  test('50 reads at once are all stored when the gateway stops', async () => {
    const other = await gateway.beside();
    const ids = await Promise.all(Array.from({ length: 50 }, makeEmail));
    await Promise.all(ids.map((id) => other.call(box.apiKey, 'GET', `/emails/${id}`)));
    await other.app.close();
    const { rows } = await gateway.owner.pool.query(
      `select count(distinct object_id)::integer as read from audit_entry where action = 'email.read' and object_id = any ($1)`,
      [ids],
    );
    expect(rows).toEqual([{ read: 50 }]);
  });
});

test('without AUDIT_READS, reads leave no entry', async () => {
  const quiet = await openTestGateway();
  try {
    const own = await quiet.mailbox();
    const [id = ''] = await insertMail(quiet.actor, [
      { workspaceId: own.workspaceId, ownAddress: own.address, text: 'Hi' },
    ]);
    expect((await quiet.call(own.apiKey, 'GET', `/emails/${id}`)).statusCode).toBe(200);
    const log = (await quiet.call(own.apiKey, 'GET', '/audit?action=email.read')).json();
    expect(log.data).toEqual([]);
  } finally {
    await quiet.close();
  }
});
