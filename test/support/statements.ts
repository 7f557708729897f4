import pg from 'pg';
import { vi } from 'vitest';

/**
 * Counts the statements that this process sends to PostgreSQL during `work`, including those that begin and end transactions, but not those
 * that admission runs by the clock: it looks a key up again after 3 s and stores the uses of keys every 10 s (gateway/admission/credentials.ts).
 */
export async function countStatements<T>(work: () => Promise<T>): Promise<{ answer: T; statements: number }> {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const answer = await work();
    return { answer, statements: sent.mock.calls.filter(([query]) => !BY_CLOCK.test(textOf(query))).length };
  } finally {
    sent.mockRestore();
  }
}

const BY_CLOCK = /\b(?:credential_owner|note_key_uses)\(/;

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : String((query as { text?: unknown }).text);
}
