import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';

/** A file that holds the secrets of the first start, and that only the user of the service reads. */
export interface FirstStartFile {
  path: string;
  /** Writes the text, to the disk. */
  write(text: string): Promise<void>;
  /** Removes the file, because there was nothing to write. */
  discard(): Promise<void>;
}

const NAME = 'first-start';
/** Files of earlier first starts in a data directory, such as one whose accounts were erased. */
const MAX_FILES = 1_000;

/**
 * Creates `first-start.txt` in the data directory with mode 0600, or a file with a number when that exists: no file is overwritten, and no
 * link is followed (O_EXCL). Throws when the directory takes no file.
 */
export async function createFirstStartFile(directory: string): Promise<FirstStartFile> {
  for (let number = 1; ; number++) {
    const file = path.resolve(directory, `${NAME}${number === 1 ? '' : `-${number}`}.txt`);
    try {
      return firstStartFile(file, await open(file, 'wx', 0o600));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number === MAX_FILES) throw error;
    }
  }
}

function firstStartFile(file: string, handle: FileHandle): FirstStartFile {
  return {
    path: file,
    async write(text) {
      await handle.writeFile(text);
      await handle.sync();
      await handle.close();
    },
    async discard() {
      await handle.close();
      await rm(file);
    },
  };
}
