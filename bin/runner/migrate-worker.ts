import { serveThread } from '../../actors/work/worker-threads.ts';
import { migrate } from '../../db/migrate.ts';

// The worker program of migrate-in-thread.ts.
serveThread((url: string) => migrate(url));
