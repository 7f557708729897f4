/** What a member does with a thread at the moment; `gone` ends it. */
export const PRESENCE_STATES = ['reading', 'replying', 'gone'] as const;
export type PresenceState = (typeof PRESENCE_STATES)[number];

/** Milliseconds after which a presence that is not renewed ends. */
export const PRESENCE_MS = 60_000;
/** Milliseconds in which a repeated presence is not announced again. */
export const PRESENCE_REPEAT_MS = 15_000;
/** Maximum members that a thread shows. */
export const MAX_PRESENT = 50;
