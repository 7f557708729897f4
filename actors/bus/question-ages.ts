/** Tells how long questions were on their way, from senders whose clocks are unrelated to ours. */
export interface QuestionAges {
  /** Milliseconds beyond the quickest way that a question of this asker had lately; 0 for its first. */
  ageMs(asker: string, askedAtMs: number, nowMs: number): number;
}

/** Two windows are kept: a clock that jumped is believed again after at most two. */
const WINDOW_MS = 60_000;
const MAX_ASKERS = 500;

interface Offsets {
  windowAtMs: number;
  lowest: number;
  lowestBefore: number;
}

/**
 * A question may reach its server after its asker gave up (a broker that was held up delivers all that it kept); then nothing may be
 * done in its name. Clocks of two machines cannot be compared, but the difference between reading one at asking and the other at
 * receipt is lowest for the questions that travelled fastest; what is above that is age.
 */
export function createQuestionAges(): QuestionAges {
  const askers = new Map<string, Offsets>();
  return {
    ageMs(asker, askedAtMs, nowMs) {
      const offset = nowMs - askedAtMs;
      let seen = askers.get(asker);
      if (!seen) {
        if (askers.size >= MAX_ASKERS) forgetOldest(askers);
        seen = { windowAtMs: nowMs, lowest: offset, lowestBefore: offset };
        askers.set(asker, seen);
      } else if (nowMs - seen.windowAtMs > WINDOW_MS) {
        seen.lowestBefore = seen.lowest;
        seen.lowest = offset;
        seen.windowAtMs = nowMs;
      }
      seen.lowest = Math.min(seen.lowest, offset);
      return offset - Math.min(seen.lowest, seen.lowestBefore);
    },
  };
}

function forgetOldest(askers: Map<string, Offsets>): void {
  let oldest: [string, number] | null = null;
  for (const [asker, { windowAtMs }] of askers) if (!oldest || windowAtMs < oldest[1]) oldest = [asker, windowAtMs];
  if (oldest) askers.delete(oldest[0]);
}
