import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const ask = async (query: string) => (await gateway.graphql(box.apiKey, query)).json();

test.each(['after', 'before'])('a wrong cursor is refused by the name of its argument: %s', async (argument) => {
  const { errors } = await ask(`{ domains(${argument}: "zzz") { edges { cursor } } }`);
  expect(errors[0].extensions).toMatchObject({
    code: 'validation_error',
    details: [{ field: argument, message: 'Invalid cursor' }],
  });
});

test.each(['first', 'last'])('a size below 0 is refused as any other bad value: %s', async (argument) => {
  const { errors } = await ask(`{ domains(${argument}: -1) { edges { cursor } } }`);
  const message = `${argument} must not be negative`;
  expect(errors[0]).toMatchObject({
    message,
    extensions: { statusCode: 400, details: [{ field: argument, message }] },
  });
  expect(errors[0].extensions.requestId).toBeTruthy();
});

test('a page of no rows has no cursors', async () => {
  const { data } = await ask('{ domains(first: 0) { edges { cursor } pageInfo { startCursor endCursor } } }');
  expect(data.domains).toEqual({ edges: [], pageInfo: { startCursor: null, endCursor: null } });
});
