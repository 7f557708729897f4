import { expect } from 'vitest';
import type { ExhaustionStage } from './exhaustion-stage.ts';

/** The most memory that a gateway may have under attacks. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;

/** Expects that the other account is served, and that the gateway has stayed below so much memory. */
export async function expectBounded(stage: ExhaustionStage): Promise<void> {
  expect((await stage.get(stage.other, '/emails')).status).toBe(200);
  const peak = await stage.peakMemory();
  expect(peak, `${Math.round(peak / 1_000_000)} MB`).toBeLessThan(MAX_MEMORY);
}

/** Expects that each of these beginnings of responses is 200, or says when to try again. Returns how many are 200; at least one is. */
export function expectServedOrRefused(heads: readonly string[]): number {
  for (const head of heads) {
    expect(head).toMatch(/^HTTP\/1\.1 (?:200|429|503) /);
    if (!head.startsWith('HTTP/1.1 200')) expect(head.toLowerCase()).toContain('\r\nretry-after: ');
  }
  const served = heads.filter((head) => head.startsWith('HTTP/1.1 200')).length;
  expect(served).toBeGreaterThan(0);
  return served;
}
