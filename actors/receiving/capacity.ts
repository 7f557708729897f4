import { statfs } from 'node:fs/promises';

/** Free bytes below which no message is taken: room for one and a half of the largest. SIZE is 15,000,000. */
const MIN_FREE_BYTES = 1.5 * 15_000_000;
/** Part of the disk that has to stay free. */
const MIN_FREE_PART = 0.05;
/** Milliseconds for which an answer holds. */
const ANSWER_AGE_MS = 1_000;

/**
 * Returns a function that tells whether the disk of this directory has room for another message. The directory is null when the data are elsewhere;
 * then there always is, as far as we know. Throws when the directory cannot be asked.
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

/** Whether a disk with that much free still takes mail. Bytes. */
export function hasRoom(freeBytes: number, sizeBytes: number): boolean {
  return freeBytes >= Math.max(MIN_FREE_BYTES, MIN_FREE_PART * sizeBytes);
}
