import pg from 'pg';
import { vi } from 'vitest';

/** How many statements this process sent to PostgreSQL while the work went on, transaction brackets included. */
export async function countStatements<T>(work: () => Promise<T>): Promise<{ answer: T; statements: number }> {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const answer = await work();
    return { answer, statements: sent.mock.calls.length };
  } finally {
    sent.mockRestore();
  }
}
