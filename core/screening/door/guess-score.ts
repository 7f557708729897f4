/** How many unknown recipients a client or a network named, of which half are forgotten after each half-life. */
export interface GuessScore {
  score: number;
  /** milliseconds, on any clock */
  at: number;
}

/** After this time, half of the unknown recipients of a client are forgotten; milliseconds. */
export const GUESS_HALF_LIFE_MS = 600_000;
/** How often the delay doubles, at most: 250 ms become 4 s. */
const MAX_DOUBLINGS = 4;
/** How many times as many unknown recipients as of a client make a network hot, in which clients get no free ones. */
const CLIENTS_OF_HOT_NETWORK = 3;
/** Unknown recipients of a client of a hot network above which its session ends: the first one never ends it. */
const MAX_OF_HOT_CLIENT = 1.5;

/** Returns a score later. */
export function decayGuesses({ score, at }: GuessScore, now: number): number {
  return score * 2 ** (-Math.max(0, now - at) / GUESS_HALF_LIFE_MS);
}

/** Returns a score with further guesses at that time. */
export function addGuesses(known: GuessScore | undefined, times: number, now: number): GuessScore {
  return { score: (known === undefined ? 0 : decayGuesses(known, now)) + times, at: now };
}

export interface GuessLimits {
  /** unknown recipients that end a session; 0: no limit */
  unknownRecipients: number;
  /** unknown recipients that are refused without delay */
  freeUnknownRecipients: number;
  /** delay of the first one after those, which doubles up to 16 times; milliseconds */
  unknownRecipientDelayMs: number;
}

/** Unknown recipients, the one that is being refused included. */
export interface Guesses {
  ofSession: number;
  /** over its sessions, decayed; null: this client is counted by session only */
  ofClient: number | null;
  /** of all clients of its network, decayed */
  ofNetwork: number;
}

/**
 * Returns how long the refusal of an unknown recipient waits, and whether it ends the session. The first ones of a client cost nothing,
 * because each mailing list has some. Where many clients of one network guess, the first one of each waits, and the second one ends its
 * session: who mistypes one address next to them is only delayed, and their other recipients are accepted at once.
 */
export function judgeGuesses(guesses: Guesses, limits: GuessLimits): { delayMs: number; isEnded: boolean } {
  const { ofSession, ofClient, ofNetwork } = guesses;
  const { unknownRecipients: most, freeUnknownRecipients: free, unknownRecipientDelayMs } = limits;
  if (most === 0) return { delayMs: 0, isEnded: false };
  // The last one of a session is at once no longer counted in whole.
  const own = Math.max(ofSession, Math.round(ofClient ?? 0));
  if (ofClient !== null && ofNetwork >= most * CLIENTS_OF_HOT_NETWORK)
    return { delayMs: maxGuessDelayMs(limits), isEnded: own >= most || ofClient > MAX_OF_HOT_CLIENT };
  const beyond = own - free;
  const delayMs = beyond <= 0 ? 0 : unknownRecipientDelayMs * 2 ** Math.min(beyond - 1, MAX_DOUBLINGS);
  return { delayMs, isEnded: own >= most };
}

/** Maximum delay; milliseconds. */
export function maxGuessDelayMs({ unknownRecipientDelayMs }: Pick<GuessLimits, 'unknownRecipientDelayMs'>): number {
  return unknownRecipientDelayMs * 2 ** MAX_DOUBLINGS;
}
