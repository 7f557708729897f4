import { createWorkerThreads } from '../../actors/work/worker-threads.ts';
import { pendingMigrations } from '../../db/migrate.ts';

const PROGRAM = new URL('./migrate-worker.ts', import.meta.url);

/**
 * Like `migrate`, in a thread that ends afterwards: what migrations load takes some 10 MiB, which the first run of a process would keep.
 * Throws SchemaTooNew.
 */
export async function migrateInThread(url: string): Promise<string[]> {
  if ((await pendingMigrations(url)).length === 0) return [];
  const threads = createWorkerThreads<string, string[]>({ program: PROGRAM, threads: 1 });
  try {
    return await threads.run(url);
  } finally {
    await threads.end();
  }
}
