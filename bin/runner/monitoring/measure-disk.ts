import { statfs } from 'node:fs/promises';
import { diskMetrics } from '../../../schema/metrics.ts';
import { beforeScrape } from './process-metrics.ts';

/** Has each scrape tell how full the disk of this directory is; null: the mail lies elsewhere, and nothing is told. */
export function measureDisk(directory: string | null): void {
  if (directory === null) return;
  beforeScrape(async () => {
    const disk = await statfs(directory);
    diskMetrics.free.set({ disk: 'mail' }, disk.bavail * disk.bsize);
    diskMetrics.size.set({ disk: 'mail' }, disk.blocks * disk.bsize);
  });
}
