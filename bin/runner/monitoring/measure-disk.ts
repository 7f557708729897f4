import { statfs } from 'node:fs/promises';
import { diskMetrics } from '../../../schema/metrics.ts';
import { beforeScrape } from './process-metrics.ts';

/** Adds the disk usage of this directory to each scrape. Null: the mail is stored elsewhere, and nothing is reported. */
export function measureDisk(directory: string | null): void {
  if (directory === null) return;
  beforeScrape(async () => {
    const disk = await statfs(directory);
    diskMetrics.free.set({ disk: 'mail' }, disk.bavail * disk.bsize);
    diskMetrics.size.set({ disk: 'mail' }, disk.blocks * disk.bsize);
  });
}
