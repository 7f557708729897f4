import { execFile } from 'node:child_process';
import { chmod, mkdtemp, open, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file system of a fixed size, in memory. */
export interface SmallDisk {
  directory: string;
  /** Takes every byte that is free. */
  fill(): Promise<void>;
  /** Gives back what fill took. */
  free(): Promise<void>;
  /** Unmounts and removes it, whoever still uses it. */
  remove(): Promise<void>;
}

/** Why no small disk can be mounted here; null when one can. */
export async function smallDiskRefusal(): Promise<string | null> {
  try {
    const disk = await mountSmallDisk(1);
    await disk.remove();
    return null;
  } catch (error) {
    return `mounting a tmpfs is not permitted: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** Mounts a tmpfs of that size. Throws where that is not permitted. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  // Not in the folder of a run: that one is removed whole, which a mounted file system prevents.
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', directory]);
  } catch (error) {
    await rmdir(directory);
    throw error;
  }
  await chmod(directory, 0o755);
  const ballast = path.join(directory, 'ballast');
  return {
    directory,
    async fill() {
      const file = await open(ballast, 'w');
      try {
        for (let sizeBytes = 1_048_576; sizeBytes >= 1; ) {
          const chunk = Buffer.alloc(sizeBytes, 1);
          // A write that does not fit whole is short, or refused when nothing fits.
          const { bytesWritten } = await file.write(chunk).catch((error: NodeJS.ErrnoException) => {
            if (error.code !== 'ENOSPC') throw error;
            return { bytesWritten: 0 };
          });
          if (bytesWritten < sizeBytes) sizeBytes = Math.floor(sizeBytes / 2);
        }
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    async remove() {
      await run('umount', ['-l', directory]);
      await rmdir(directory);
    },
  };
}
