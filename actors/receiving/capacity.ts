import { statfs } from 'node:fs/promises';

/** Minimum free bytes to accept a message: room for one and a half of the largest. SIZE is 15,000,000. */
const MIN_FREE_BYTES = 1.5 * 15_000_000;
/** Part of the disk that must stay free. */
const MIN_FREE_PART = 0.05;
/** How long an answer is cached; milliseconds. */
const ANSWER_AGE_MS = 1_000;

/**
 * Returns a function that tells whether the disk of this directory has room for another message. With null, the data are stored elsewhere
 * and there is always room as far as this process knows. The function throws when the disk cannot be queried.
 */
export function watchCapacity(dataDirectory: string | null): () => Promise<boolean> {
  if (dataDirectory === null) return () => Promise.resolve(true);
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<boolean> = Promise.resolve(true);
  return () => {
    if (performance.now() - askedAt > ANSWER_AGE_MS) {
      askedAt = performance.now();
      answer = statfs(dataDirectory).then((disk) => hasRoom(disk.bavail * disk.bsize, disk.blocks * disk.bsize));
    }
    return answer;
  };
}

/** Whether a disk with this many free bytes still accepts mail. */
export function hasRoom(freeBytes: number, sizeBytes: number): boolean {
  return freeBytes >= Math.max(MIN_FREE_BYTES, MIN_FREE_PART * sizeBytes);
}
