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
  '%s is sound, and says what it is for',
  (_, sample) => {
    expect(validate(schema, parse(sample.text))).toEqual([]);
    expect(sample.text).toMatch(/^# \S/);
    if (sample.variables !== null) expect(JSON.parse(sample.variables)).toBeTypeOf('object');
  },
);

describe('a published operation', () => {
  const ask = (body: unknown) => gateway.call(box.apiKey, 'POST', '/graphql', body);
  const viewer = samples.find(({ name }) => name === 'viewer');

  test('is known by its hash', async () => {
    const persistedQuery = { version: 1, sha256Hash: viewer?.sha256 };
    const answer = await ask({ extensions: { persistedQuery } });
    expect([answer.statusCode, answer.json().data.viewer.id]).toEqual([200, box.userId]);
    expect(answer.json()).toEqual((await ask({ query: viewer?.text })).json());
    const url = `/graphql?extensions=${encodeURIComponent(JSON.stringify({ persistedQuery }))}`;
    expect((await gateway.call(box.apiKey, 'GET', url)).json()).toEqual(answer.json());
  });

  test('is told to be unknown where it is', async () => {
    const answer = await ask({ extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } });
    expect([answer.statusCode, answer.json().errors[0].extensions.code]).toEqual([400, 'PERSISTED_QUERY_NOT_FOUND']);
  });

  test('is missed where there is no query at all', async () => {
    for (const body of [{}, { extensions: {} }, { query: '' }]) {
      const answer = await ask(body);
      expect([answer.statusCode, answer.json().errors.length]).toEqual([400, 1]);
    }
  });
});
