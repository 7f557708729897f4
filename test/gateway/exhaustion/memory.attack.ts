import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ExhaustionStage,
  LARGE_TEXT,
  openExhaustionStage,
  THREAD_MESSAGES,
} from '../../support/stages/exhaustion-stage.ts';

/** The most memory that a gateway may ever have under these attacks. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;

/** Characters outside Latin-1 make a string twice as long in memory, and escapes its JSON six times. */
const texts = [
  ['one byte per character', 'x'.repeat(LARGE_TEXT)],
  ['one character that doubles its string', `€${'x'.repeat(LARGE_TEXT - 3)}`],
] as const;

describe.each(texts)('with a text of %s, the gateway', (_name, text) => {
  let stage: ExhaustionStage;
  beforeAll(async () => {
    stage = await openExhaustionStage(text);
  });
  afterAll(() => stage?.close());

  async function expectBounded(): Promise<void> {
    const peak = await stage.peakMemory();
    expect(peak, `${Math.round(peak / MB)} MB`).toBeLessThan(MAX_MEMORY);
  }

  test('refuses a GraphQL operation whose aliases repeat a text of 14 MB, and stays below 600 MiB', async () => {
    const fields = Array.from({ length: 30 }, (_, at) => `a${at}: text`).join(' ');
    const query = `query($id: ID!) { email(id: $id) { content { ${fields} } } }`;
    const results = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const response = await stage.graphql(stage.attacker, query, { id: stage.largeId });
        return { status: response.status, body: await response.text() };
      }),
    );
    for (const { status, body } of results) {
      expect([400, 503], body.slice(0, 500)).toContain(status);
      expect(body.length).toBeLessThan(2_000);
    }
    expect(results.map(({ status }) => status)).toContain(400);
    await expectBounded();
  });

  test('sends a thread with 196 MB of text message by message, and stays below 600 MiB', async () => {
    const results = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const response = await stage.get(stage.attacker, `/mail/threads/${stage.threadId}`);
        if (response.status !== 200) return { status: response.status, length: 0 };
        let length = 0;
        for await (const chunk of response.body ?? []) {
          length += chunk.length;
          if (length > 3 * LARGE_TEXT) break;
        }
        return { status: 200, length };
      }),
    );
    const sent = results.filter(({ status }) => status === 200);
    expect(sent.length).toBeGreaterThan(0);
    for (const { length } of sent) expect(length).toBeGreaterThan(3 * LARGE_TEXT);
    for (const { status } of results) expect([200, 503]).toContain(status);
    const whole = await (await stage.get(stage.attacker, `/mail/threads/${stage.threadId}`)).text();
    expect(whole.length).toBeGreaterThan(THREAD_MESSAGES * text.length);
    expect(whole.slice(-40)).toContain(`],"total_count":${THREAD_MESSAGES}}`);
    await expectBounded();
  });

  test('refuses most of 100 slow readers with 503 before it loads anything, serves another account, and stays below 600 MiB', async () => {
    const path = `/emails/${stage.largeId}`;
    const begun = await Promise.all(Array.from({ length: 100 }, () => stage.hold(stage.attacker, path)));
    const served = begun.filter((head) => head.startsWith('HTTP/1.1 200'));
    const refused = begun.filter((head) => head.startsWith('HTTP/1.1 503'));
    expect(served.length + refused.length).toBe(100);
    expect(served.length).toBeGreaterThan(0);
    expect(served.length * LARGE_TEXT).toBeLessThanOrEqual(48 * MB);
    for (const head of refused) {
      expect(head.toLowerCase()).toContain('\r\nretry-after: 5\r\n');
      expect(head).toContain('"statusCode":503,"name":"application_error"');
    }
    expect((await stage.get(stage.attacker, path)).status).toBe(503);
    expect((await stage.get(stage.attacker, '/emails')).status).toBe(200);
    expect((await stage.get(stage.other, '/emails')).status).toBe(200);
    const large = (await (await stage.get(stage.other, `/emails/${stage.otherLargeId}`)).json()) as { text: string };
    expect(large.text).toBe(text);
    await expectBounded();
  });
});
