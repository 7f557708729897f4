import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { processEnvironment } from '../environment.ts';

/** How far a program that reads the event feed has come. */
export interface CursorFile {
  /** null: it has not run before */
  cursor: string | null;
  /** Stores a cursor; what was stored before stays if this process ends meanwhile. */
  write(cursor: string): Promise<void>;
}

/** Opens the file for a program with these settings, below XDG_STATE_HOME, or ~/.local/state. */
export async function openCursorFile(settings: readonly string[]): Promise<CursorFile> {
  const { XDG_STATE_HOME: given } = processEnvironment();
  const base = given !== undefined && path.isAbsolute(given) ? given : path.join(homedir(), '.local', 'state');
  const folder = path.join(base, 'postroom');
  const name = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 32);
  const file = path.join(folder, `listen-${name}`);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    cursor: text.trim() === '' ? null : text.trim(),
    async write(cursor) {
      const draft = `${file}.${process.pid}`;
      await writeFile(draft, `${cursor}\n`, { mode: 0o600 });
      await rename(draft, file);
    },
  };
}
