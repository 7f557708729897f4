import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { allowedErrors, countErrors, typedWords } from '../../../core/search/near-words.ts';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { findNearWords } from '../../../db/queries/search/near-words.ts';
import { someMail, storeMail } from '../../support/rows/searched-mail.ts';
import { seededRandom } from '../../support/rows/thread-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import type { BrowserSession } from '../../support/stages/browser-session.ts';
import { buildAllWords } from '../../support/stages/build-all-words.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

const byteCount = (value: unknown) => (value instanceof Uint8Array ? value.length : 0);

describe('a mistyped word', () => {
  test.each([
    ['webhok', 'webhook', 1],
    ['wbehook', 'webhook', 1],
    ['webhoook', 'webhook', 1],
    ['wabhook', 'webhook', 1],
    ['delivrey', 'delivery', 1],
    ['adress', 'address', 1],
    ['invioce', 'invoices', 2],
    ['same', 'same', 0],
    ['wombat', 'webhook', null],
    ['web', 'webhook', null],
  ] as const)('%s has as many errors of %s as letters differ', (word, other, errors) => {
    expect(countErrors(word, other, 2)).toBe(errors);
  });

  test('may have one error, from 8 letters two; short words and numbers none', () => {
    expect(['web', 'mail', 'webhook', 'delivery', '20261129', 'x'.repeat(33)].map(allowedErrors)).toEqual([
      0, 1, 1, 2, 0, 0,
    ]);
  });

  test('is found outside of quotes and of operators but that of the subject', () => {
    const search =
      'webhok from:ann "exact wrods" -draf Subject:databse subject:"exact wrods" -subject:databse 2026 über';
    expect(typedWords(search).map(({ from, to }) => search.slice(from, to))).toEqual(['webhok', 'databse', 'über']);
  });
});

describe('a search that finds nothing', () => {
  let gateway: TestGateway;
  let team: TeamStage;
  let limited: TeamPerson;

  beforeAll(async () => {
    gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
    team = await openTeam(gateway, 'typo');
    const { workspaceId, address } = team.box;
    await gateway.mailbox({ workspaceId, domain: 'typo.test', address: 'sales@typo.test' });
    limited = await team.makeMember('agent', { addresses: ['sales@typo.test'] });
    await put(workspaceId, [
      { ownAddress: address, text: 'The webhook failed' },
      { ownAddress: 'sales@typo.test', text: 'Webhooks in general' },
      { ownAddress: 'sales@typo.test', text: 'An invoice of March' },
      { ownAddress: address, text: 'Confidential acquisition' },
    ]);
    await buildAllWords(gateway.actor);
  });
  afterAll(() => gateway.close());

  /** Stores received emails, each in a thread of its own. */
  async function put(workspaceId: string, mails: readonly { ownAddress: string; text: string }[]): Promise<void> {
    const made = someMail(seededRandom(1), mails.length).map((mail, at) => ({
      ...mail,
      ...mails[at],
      id: `em_${at}`,
      type: 'received' as const,
      subject: `Mail ${at}`,
      html: null,
      isArchived: false,
      inReplyTo: [],
    }));
    await storeMail(gateway.actor, workspaceId, made);
    for (let at = 0; at < made.length; at += 100)
      await assignThreads(
        testActorContext(gateway.actor),
        workspaceId,
        made.slice(at, at + 100).map(({ id }) => id),
      );
  }
  const suggest = async (browser: BrowserSession, search: string, more = ''): Promise<string | null> => {
    const response = await browser.graphql(
      `{ inbox(first: 1, search: ${JSON.stringify(search)}${more}) { suggestedSearch } }`,
    );
    return response.json().data.inbox.suggestedSearch;
  };

  test.each([
    ['webhok', 'webhook'],
    ['Webhok FAILLED', 'webhook failed'],
    ['subject:other invoce', null],
    ['invoce', 'invoice'],
    ['subject:mial', 'subject:mail'],
    ['subject:webhok', null],
    ['invoce subject:mial', 'invoice subject:mail'],
    ['confidental aqcuisition', 'confidential acquisition'],
    ['webhook', null],
    ['webh', null],
    ['zzzzzzz', null],
    ['webhok zzzzzzz', null],
    ['"webhok"', null],
    ['-webhok', null],
    ['is:unread', null],
    ['', null],
  ])('%s is suggested as %s', async (search, suggested) => {
    expect(await suggest(team.owner.browser, search)).toBe(suggested);
  });

  test('has suggestions within its filters only', async () => {
    const { browser } = team.owner;
    expect(await suggest(browser, 'invoce', ', filter: { archived: ARCHIVED }')).toBeNull();
    expect(await suggest(browser, 'invoce', ', filter: { address: "sales@typo.test" }')).toBe('invoice');
  });

  test('has no word of mail that a limited member, or another workspace, may not see', async () => {
    expect(await suggest(limited.browser, 'invoce')).toBe('invoice');
    expect(await suggest(limited.browser, 'confidental')).toBeNull();
    // The member sees "webhooks" only: the singular is a word of other mail.
    expect(await suggest(limited.browser, 'webhok')).not.toBe('webhook');
    const stranger = await openTeam(gateway, 'stranger');
    expect(await suggest(stranger.owner.browser, 'confidental')).toBeNull();
  });

  test('reads few blocks among 200,000 words', async () => {
    const big = await openTeam(gateway, 'big');
    const { workspaceId, address } = big.box;
    // Without b, so that only one word is near.
    const letters = 'acdefghijklmnopqrstuvwxyz';
    let seed = 7;
    const random = (most: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % most;
    };
    const word = () => `we${Array.from({ length: 8 + random(5) }, () => letters[random(25)]).join('')}`;
    const texts = Array.from({ length: 200 }, (_, n) =>
      [...(n === 0 ? ['webhook'] : []), ...Array.from({ length: 1_000 }, word)].join(' '),
    );
    await put(
      workspaceId,
      texts.map((text) => ({ ownAddress: address, text })),
    );
    await buildAllWords(gateway.actor);
    const { rows } = await gateway.actor.pool.query<{ bytes: number }>(
      'select sum(length(bytes))::integer as bytes from word_block where workspace_id = $1 and number >= 0',
      [workspaceId],
    );
    const blockBytes = rows[0]?.bytes ?? 0;
    for (const [search, suggested] of [
      ['webhok', 'webhook'],
      ['wxqzjvkq', null],
    ] as const) {
      // First: what is read is kept.
      let readBytes = 0;
      const counting: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          readBytes += result.rows
            .flatMap((row): unknown[] => Object.values(row as Record<string, unknown>))
            .reduce<number>((sum, value) => sum + byteCount(value), 0);
          return result;
        },
      };
      await asWorkspace(gateway.actor, workspaceId, (transaction) =>
        findNearWords(transaction.withPlugin(counting), workspaceId, search, 3),
      );
      // Of the segment, and of no mail: its table and a few of its blocks.
      expect(readBytes).toBeGreaterThan(0);
      expect(readBytes).toBeLessThan(blockBytes / 4);
      expect(await suggest(big.owner.browser, search)).toBe(suggested);
    }
  });
});
