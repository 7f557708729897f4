import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSampleOperations } from '../../../gateway/graphql/sample-operations.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

/*
 * A published operation that is asked for by its hash is admitted like its text: with each key that has less, and with none.
 */

const samples = readSampleOperations();
let gateway: TestGateway;
let box: TestMailbox;
const keys: [name: string, secret: string | null][] = [['no key', null]];

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  box = await gateway.mailbox();
  const rival = await gateway.mailbox();
  for (const scope of ['read', 'send', 'manage', 'approve', 'workspaces'] as const)
    keys.push([scope, (await insertKey(gateway.owner, box, { scopes: [scope] })).secret]);
  const limited = { scopes: ['read', 'send'], addresses: [`other@${box.address.split('@')[1]}`] } as const;
  keys.push(['an address', (await insertKey(gateway.owner, box, limited)).secret], ['a rival', rival.apiKey]);
});
afterAll(() => gateway.close());

/** Returns the status, and for each error its code and field: what a request was refused. */
async function refusals(key: string | null, body: object): Promise<unknown> {
  const response = await gateway.call(key, 'POST', '/graphql', body);
  const { errors = [] } = response.json() as { errors?: { path?: unknown; extensions?: { code?: string } }[] };
  return [response.statusCode, ...errors.map(({ path, extensions }) => [path ?? null, extensions?.code])];
}

test.each(samples.filter(({ text }) => !/^subscription/m.test(text)).map((sample) => [sample.name, sample] as const))(
  '%s gives no key more by its hash than by its text',
  async (_name, { text, sha256, variables }) => {
    const given = variables === null ? {} : { variables: JSON.parse(variables) };
    const persistedQuery = { version: 1, sha256Hash: sha256 };

    for (const [name, key] of keys) {
      const byText = await refusals(key, { query: text, ...given });
      expect([name, await refusals(key, { extensions: { persistedQuery }, ...given })]).toEqual([name, byText]);
      if (key === null) expect(byText).toEqual([401, expect.anything()]);
    }
  },
);

test('a request with a text and the hash of another operation runs the text alone, or nothing', async () => {
  const mutation = samples.find(({ text }) => /^mutation/m.test(text));
  const persistedQuery = { version: 1, sha256Hash: mutation?.sha256 };
  const query = '{ viewer { id } }';
  const response = await gateway.call(box.apiKey, 'POST', '/graphql', { query, extensions: { persistedQuery } });
  expect(response.json().data ?? {}).toEqual(response.statusCode === 200 ? { viewer: { id: box.workspaceId } } : {});
});

test('a mutation is not run by a GET request with its hash', async () => {
  const before = await gateway.owner.pool.query('select count(*) from audit_entry');
  for (const { text, sha256, variables } of samples) {
    if (!/^mutation/m.test(text)) continue;
    const extensions = encodeURIComponent(JSON.stringify({ persistedQuery: { version: 1, sha256Hash: sha256 } }));
    const given = variables === null ? '' : `&variables=${encodeURIComponent(variables)}`;
    const response = await gateway.call(box.apiKey, 'GET', `/graphql?extensions=${extensions}${given}`);
    expect([response.statusCode >= 400, response.json().data ?? null]).toEqual([true, null]);
  }
  expect((await gateway.owner.pool.query('select count(*) from audit_entry')).rows).toEqual(before.rows);
});
