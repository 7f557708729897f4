import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RANKED_MAIL, storeRankedMail } from '../../support/rows/ranked-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let mailbox: TestMailbox;
let other: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ now: () => new Date('2026-03-01T00:00:00Z') });
  mailbox = await gateway.mailbox();
  other = await gateway.mailbox();
  await storeRankedMail(gateway.actor, mailbox.workspaceId);
});
afterAll(() => gateway.close());

async function ask(field: 'emails' | 'inbox', given: string, { apiKey } = mailbox) {
  const node = field === 'emails' ? 'id' : 'latestMessage { id }';
  const query = `query { ${field}(${given}) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { ${node} } } } }`;
  const { data, errors } = (await gateway.graphql(apiKey, query)).json();
  const edges: { cursor: string; node: { id?: string; latestMessage?: { id: string } } }[] = data?.[field]?.edges ?? [];
  return {
    ids: edges.map(({ node: found }) => found.id ?? found.latestMessage?.id),
    cursors: edges.map(({ cursor }) => cursor),
    total: data?.[field]?.totalCount,
    errors,
  };
}

describe.each(['emails', 'inbox'] as const)('%s', (field) => {
  test('come by relevance, forward and backward in pages of one', async () => {
    const all = await ask(field, 'search: "numbat", orderBy: RELEVANCE');
    expect(all).toMatchObject({ ids: RANKED_MAIL, total: 3, errors: undefined });
    expect((await ask(field, 'search: "numbat", orderBy: RELEVANCE, last: 2')).ids).toEqual(RANKED_MAIL.slice(1));
    for (const [at, cursor] of all.cursors.entries()) {
      const page = (argument: string) => ask(field, `search: "numbat", orderBy: RELEVANCE, ${argument}: "${cursor}"`);
      expect((await page('first: 1, after')).ids).toEqual(RANKED_MAIL.slice(at + 1, at + 2));
      expect((await page('last: 1, before')).ids).toEqual(RANKED_MAIL.slice(0, at).slice(-1));
    }
  });

  test('come by time by default', async () => {
    const byTime = RANKED_MAIL.toReversed();
    for (const order of ['', ', orderBy: NEWEST', ', orderBy: null'])
      expect((await ask(field, `search: "numbat"${order}`)).ids).toEqual(byTime);
  });

  test('cannot be ranked without a wanted word', async () => {
    for (const search of ['', ', search: ""', ', search: "-numbat"', ', search: "is:unread"']) {
      const { errors } = await ask(field, `orderBy: RELEVANCE${search}`);
      expect(errors[0].message, search).toMatch(/only if the search has a word or phrase to find/);
    }
  });

  test('take only a cursor of the same order', async () => {
    for (const [former, order] of [
      ['NEWEST', 'RELEVANCE'],
      ['RELEVANCE', 'NEWEST'],
    ] as const) {
      const [cursor] = (await ask(field, `search: "numbat", orderBy: ${former}`)).cursors;
      const { errors } = await ask(field, `search: "numbat", orderBy: ${order}, after: "${cursor}"`);
      expect(errors[0].message).toBe(
        `\`after\` is a cursor of \`orderBy: ${former}\`, but the list is ordered by ${order}. Use cursors of the same order.`,
      );
      const invalid = await ask(field, `search: "numbat", orderBy: ${order}, after: "x"`);
      expect(invalid.errors[0].message).toBe('Invalid cursor');
    }
  });

  test('of another account are not ranked', async () => {
    expect(await ask(field, 'search: "numbat", orderBy: RELEVANCE', other)).toMatchObject({ ids: [], total: 0 });
  });
});
