import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type ExhaustionStage,
  LARGE_TEXT,
  openExhaustionStage,
  THREAD_MESSAGES,
} from '../../support/stages/exhaustion-stage.ts';

/** The longest time in which a request of one account may hold up all others; milliseconds of CPU. */
/** Three times what it takes here, for slower processors. */
const MAX_BLOCK_MS = 300;

const texts = [
  ['one byte per character', 'x'.repeat(LARGE_TEXT)],
  ['one character that doubles its string', `€${'x'.repeat(LARGE_TEXT - 3)}`],
] as const;

describe.each(texts)('the event loop of the gateway, with a text of %s, is held below 300 ms of CPU', (_name, text) => {
  let stage: ExhaustionStage;
  beforeAll(async () => {
    stage = await openExhaustionStage(text);
    // Loads the modules, and compiles what is used often.
    await stage.graphql(stage.other, '{ __typename }');
    for (let at = 0; at < 20; at++) await stage.get(stage.other, '/emails');
  });
  afterAll(() => stage?.close());
  beforeEach(() => stage.gateway.longestBlock());

  async function expectShortBlocks(): Promise<void> {
    expect(await stage.gateway.longestBlock()).toBeLessThan(MAX_BLOCK_MS);
  }

  test('by six operations with 30 aliases of the text', async () => {
    const fields = Array.from({ length: 30 }, (_, at) => `a${at}: text`).join(' ');
    const query = `query($id: ID!) { email(id: $id) { content { ${fields} } } }`;
    await Promise.all(
      Array.from({ length: 6 }, async () =>
        (await stage.graphql(stage.attacker, query, { id: stage.largeId })).arrayBuffer(),
      ),
    );
    await expectShortBlocks();
  });

  test(`by six threads of ${THREAD_MESSAGES} such emails`, async () => {
    await Promise.all(
      Array.from({ length: 6 }, async () =>
        (await stage.get(stage.attacker, `/mail/threads/${stage.threadId}`)).arrayBuffer(),
      ),
    );
    await expectShortBlocks();
  });

  test('by 30 readers of the email', async () => {
    await Promise.all(
      Array.from({ length: 30 }, async () =>
        (await stage.get(stage.attacker, `/emails/${stage.largeId}`)).arrayBuffer(),
      ),
    );
    await expectShortBlocks();
  });
});
