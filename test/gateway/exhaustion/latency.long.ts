import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';

/** What 99 of 100 requests of another account may take during an attack. Milliseconds. */
const MOST_MS = 500;
const MOST_MEMORY = 600 * 1_024 * 1_024;
/** How long each attack lasts; milliseconds. */
const ATTACK_MS = 20_000;

let stage: ExhaustionStage;
beforeAll(async () => {
  // One character outside Latin-1 makes the strings of the process twice as long.
  stage = await openExhaustionStage(`\u{1f642}${'x'.repeat(14_000_000)}`);
});
afterAll(() => stage?.close());

async function drain(response: Response): Promise<void> {
  for await (const _ of response.body ?? []);
}

const aliases = Array.from({ length: 30 }, (_, at) => `a${at}: text`).join(' ');
const attacks: [name: string, clients: number, attack: () => Promise<unknown>][] = [
  [
    'aliases of a text in GraphQL',
    6,
    async () =>
      drain(
        await stage.graphql(stage.attacker, `query($id: ID!) { email(id: $id) { content { ${aliases} } } }`, {
          id: stage.largeId,
        }),
      ),
  ],
  ['large threads', 6, () => stage.drain(stage.attacker, `/mail/threads/${stage.threadId}`)],
  [
    'a hundred slow readers',
    100,
    async () => {
      await stage.hold(stage.attacker, `/emails/${stage.largeId}`).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 500));
    },
  ],
];

test.each(attacks)(
  '%s do not delay another account, and the gateway stays below 600 MiB',
  async (name, clients, attack) => {
    const endAt = performance.now() + ATTACK_MS;
    const isOver = () => performance.now() > endAt;
    const attackers = Array.from({ length: clients }, async () => {
      while (!isOver()) await attack().catch(() => undefined);
    });
    const times: number[] = [];
    while (!isOver()) {
      const startedAt = performance.now();
      const response = await stage.get(stage.other, '/emails');
      await drain(response);
      times.push(performance.now() - startedAt);
      expect(response.status).toBe(200);
    }
    stage.letGo();
    await Promise.all(attackers);
    const sorted = times.toSorted((a, b) => a - b);
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
    const peak = await stage.peakMemory();
    const figures = `${name}: ${times.length} requests, p99 ${Math.round(p99)} ms, peak ${Math.round(peak / 1_048_576)} MiB`;
    expect(p99, figures).toBeLessThan(MOST_MS);
    expect(peak, figures).toBeLessThan(MOST_MEMORY);
  },
);
