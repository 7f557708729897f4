/** A header field of messages that the thread of hanging-forward-worker.ts never finishes. */
export const HANG_FIELD = 'X-Test-Composer: hang';
