import pg from 'pg';
import { vi } from 'vitest';

/**
 * Returns the statements that this process sends to PostgreSQL during `work`, including those that begin and end transactions, but not those
 * that actors run by the clock to find due work, nor those of admission: it looks a key up again after 3 s and stores the uses of keys every 10 s (gateway/admission/credentials.ts).
 */
export async function recordStatements<T>(work: () => Promise<T>): Promise<{ response: T; texts: string[] }> {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const response = await work();
    return {
      response,
      texts: sent.mock.calls.map(([query]) => readText(query)).filter((text) => !BY_CLOCK.test(text)),
    };
  } finally {
    sent.mockRestore();
  }
}

/** Counts the statements that recordStatements returns. */
export async function countStatements<T>(work: () => Promise<T>): Promise<{ response: T; statements: number }> {
  const { response, texts } = await recordStatements(work);
  return { response, statements: texts.length };
}

const BY_CLOCK = /\b(?:credential_owner|note_key_uses|store_api_requests)\(|\brecursive clock_now as materialized\b/;

function readText(query: unknown): string {
  return typeof query === 'string' ? query : String((query as { text?: unknown }).text);
}
