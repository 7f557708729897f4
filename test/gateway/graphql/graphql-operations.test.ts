import { hash } from 'node:crypto';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSampleOperations } from '../../../gateway/graphql/sample-operations.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const samples = readSampleOperations();
let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

test.each(samples.map((sample) => [sample.name, sample] as const))(
  '%s is valid, and has a description',
  (_, sample) => {
    expect(validate(schema, parse(sample.text))).toEqual([]);
    expect(sample.text).toMatch(/^# \S/);
    if (sample.variables !== null) expect(JSON.parse(sample.variables)).toBeTypeOf('object');
  },
);

describe('a published operation', () => {
  const ask = (body: unknown) => gateway.call(box.apiKey, 'POST', '/graphql', body);
  const viewer = samples.find(({ name }) => name === 'viewer');

  test('is found by its hash', async () => {
    const persistedQuery = { version: 1, sha256Hash: viewer?.sha256 };
    const response = await ask({ extensions: { persistedQuery } });
    expect([response.statusCode, response.json().data.viewer.id]).toEqual([200, box.workspaceId]);
    expect(response.json()).toEqual((await ask({ query: viewer?.text })).json());
    const url = `/graphql?extensions=${encodeURIComponent(JSON.stringify({ persistedQuery }))}`;
    expect((await gateway.call(box.apiKey, 'GET', url)).json()).toEqual(response.json());
  });

  test('with an unknown hash is refused as an automatic persisted query, which runs when its text is sent', async () => {
    const query = '{ viewer { email } }';
    const persistedQuery = { version: 1, sha256Hash: hash('sha256', query, 'hex') };
    for (let round = 0; round < 2; round++) {
      const byHash = await ask({ extensions: { persistedQuery } });
      expect([byHash.statusCode, byHash.json().errors]).toEqual([
        400,
        [
          {
            message: 'PersistedQueryNotSupported',
            extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', statusCode: 400 },
          },
        ],
      ]);
      // The text is not stored, so that the hash stays unknown.
      const byText = await ask({ query, extensions: { persistedQuery } });
      expect([byText.statusCode, byText.json().data]).toEqual([200, { viewer: { email: expect.any(String) } }]);
    }
  });

  test('with a malformed hash is refused in the same way', async () => {
    for (const sha256Hash of ['', 'x'.repeat(100_000), '__proto__']) {
      const refused = await ask({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
      expect([refused.statusCode, refused.json().errors[0].extensions.code]).toEqual([
        400,
        'PERSISTED_QUERY_NOT_SUPPORTED',
      ]);
    }
  });

  test('is required where there is no query at all', async () => {
    for (const body of [{}, { extensions: {} }, { query: '' }]) {
      const response = await ask(body);
      expect([response.statusCode, response.json().errors.length]).toEqual([400, 1]);
    }
  });
});
