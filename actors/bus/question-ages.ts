/** Tells how long questions were on their way from askers whose clocks are unrelated to ours. */
export interface QuestionAges {
  /** Returns how much longer than the fastest recent question of this asker it took, in milliseconds; 0 for the first. */
  ageMs(asker: string, askedAtMs: number, nowMs: number): number;
}

/** Two windows are kept, so that a clock that jumped is trusted again after two windows at most. */
const WINDOW_MS = 60_000;
const MAX_ASKERS = 500;

interface Offsets {
  windowAtMs: number;
  lowest: number;
  lowestBefore: number;
}

/**
 * A question may reach its server after its asker gave up, for example when a broker that was suspended delivers everything it kept. Then
 * the server must not act on it. The clocks of two machines cannot be compared, but the difference between the time of asking on one and
 * the time of receipt on the other is lowest for the questions that traveled fastest. What exceeds that difference is age.
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
