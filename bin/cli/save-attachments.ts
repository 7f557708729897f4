import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { CommandError } from './command-error.ts';
import type { Server } from './connect.ts';
import { oneLine } from './output.ts';

/**
 * Saves the attachments of an email into a directory, under their names. A name that exists gets a number. Returns the paths. Throws
 * CommandError when a file cannot be written.
 */
export async function saveAttachments(
  server: Server,
  emailId: string,
  attachments: readonly { filename: string }[],
  directory: string,
): Promise<string[]> {
  const saved: string[] = [];
  try {
    await mkdir(directory, { recursive: true });
    for (const [index, { filename }] of attachments.entries()) {
      const response = await server.fetch(`/attachments/${encodeURIComponent(emailId)}/parts/${index}`);
      saved.push(await writeNew(directory, fileName(filename, index), new Uint8Array(await response.arrayBuffer())));
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The attachments cannot be saved: ${(error as Error).message}.`, {
      next: 'Choose a directory that you can write to.',
    });
  }
  return saved;
}

const MAX_NAME_BYTES = 200;

/** Returns the name that the sender chose without what leads out of the directory, hides the file, or controls the terminal. */
export function fileName(given: string, index: number): string {
  const name = oneLine(given)
    .replaceAll(/[/\\:*?"<>|]/g, '_')
    .replace(/^[.\s-]+/, '');
  const { name: stem, ext } = path.parse(name);
  const room = MAX_NAME_BYTES - Buffer.byteLength(ext);
  if (name === '' || room < 1) return `attachment-${index + 1}`;
  return `${Buffer.from(stem)
    .subarray(0, room)
    .toString('utf8')
    .replace(/\u{fffd}+$/u, '')}${ext}`;
}

/** Never replaces a file, nor follows a link. */
async function writeNew(directory: string, name: string, bytes: Uint8Array): Promise<string> {
  const { name: stem, ext } = path.parse(name);
  for (let number = 1; ; number += 1) {
    const file = path.join(directory, number === 1 ? name : `${stem} (${number})${ext}`);
    const handle = await open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return null;
      throw error;
    });
    if (handle === null) continue;
    try {
      await handle.writeFile(bytes);
    } finally {
      await handle.close();
    }
    return file;
  }
}
