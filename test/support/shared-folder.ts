import { access, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { SHARED_FOLDERS } from './servers/orphans.ts';

/** How long one test file waits for another that makes a folder. For hangs, not for slowness. */
const LIMIT_MS = 240_000;

/**
 * Returns the path of a folder that the test files of a run share. The first file that needs it makes it: `make` fills a draft, which then
 * gets its name. The others wait. When `make` throws, the next file tries.
 */
export async function sharedFolder(name: string, make: (draft: string) => Promise<void>): Promise<string> {
  const folder = path.join(inject('runDirectory'), SHARED_FOLDERS, name);
  const draft = `${folder}.draft`;
  for (const deadline = Date.now() + LIMIT_MS; ; await sleep(100)) {
    if (await exists(folder)) return folder;
    const isOurs = await mkdir(draft).then(
      () => true,
      () => false,
    );
    if (isOurs) break;
    if (Date.now() > deadline) throw new Error(`${draft} was not finished in time`);
  }
  try {
    // Another file can have finished between the look for the folder and the making of the draft.
    if (await exists(folder)) await rm(draft, { recursive: true });
    else {
      await make(draft);
      await rename(draft, folder);
    }
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
