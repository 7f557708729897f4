import { afterAll, beforeAll, expect, test } from 'vitest';
import { RANKED_MAIL, storeRankedMail } from '../../support/rows/ranked-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  await storeRankedMail(gateway.actor, box.workspaceId);
});
afterAll(() => gateway.close());

interface Found {
  emails?: { id: string }[];
  threads?: { latest_message: { id: string } }[];
  next_cursor: string | null;
}

test.each(['search_emails', 'search_threads'])('%s orders by relevance, page by page', async (name) => {
  const client = await connectInjected(gateway, box.apiKey);
  const call = async (args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    const found = result.structuredContent as Found | undefined;
    const rows = found?.emails ?? found?.threads?.map(({ latest_message: message }) => message) ?? [];
    return { result, ids: rows.map(({ id }) => id), cursor: found?.next_cursor };
  };
  const found: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await call({
      search: 'numbat',
      order_by: 'relevance',
      limit: 1,
      ...(cursor == null ? {} : { cursor }),
    });
    found.push(...page.ids);
    cursor = page.cursor;
  } while (cursor != null);
  expect(found).toEqual(RANKED_MAIL);
  expect((await call({ search: 'numbat' })).ids).toEqual(RANKED_MAIL.toReversed());

  const wordless = await call({ order_by: 'relevance' });
  expect(wordless.result.isError).toBe(true);
  expect(JSON.stringify(wordless.result.content)).toContain('only if the search has a word or phrase to find');
  const { cursor: other } = await call({ search: 'numbat', limit: 1 });
  const refused = await call({ search: 'numbat', order_by: 'relevance', cursor: other });
  expect(JSON.stringify(refused.result.content)).toContain('Not a cursor of this list');
  await client.close();
});
