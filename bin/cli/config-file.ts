import { chmod, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { processEnvironment } from '../environment.ts';
import { CommandError } from './command-error.ts';

/** What `postroom init` stores: a server and the API key for it. */
interface StoredServer {
  url: string;
  key: string;
}

const shape = z.object({ url: z.url(), key: z.string().min(1) });

/** Returns the path of the file: below XDG_CONFIG_HOME, or ~/.config. */
function configFile(): string {
  const { XDG_CONFIG_HOME } = processEnvironment();
  // The XDG Base Directory Specification says to ignore relative paths.
  const base =
    XDG_CONFIG_HOME !== undefined && path.isAbsolute(XDG_CONFIG_HOME)
      ? XDG_CONFIG_HOME
      : path.join(homedir(), '.config');
  return path.join(base, 'postroom', 'config.json');
}

/** Returns what `postroom init` stored, or null if there is no file. Throws CommandError when the file is not valid. */
export async function readStoredServer(): Promise<StoredServer | null> {
  const file = configFile();
  try {
    const [text, { mode }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
    if ((mode & 0o077) !== 0 && process.platform !== 'win32')
      process.stderr.write(
        `${file} has an API key that other users of this machine can read. Run: chmod 600 ${file}\n`,
      );
    return shape.parse(JSON.parse(text));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandError(`${file} is not readable as the settings of postroom.`, {
      next: 'Run postroom init to write it again.',
    });
  }
}

/** Writes the file, which only the user can read. */
export async function storeServer(server: StoredServer): Promise<string> {
  const file = configFile();
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(server, null, 2)}\n`);
  } finally {
    await handle.close();
  }
  await chmod(draft, 0o600);
  await rename(draft, file);
  return file;
}
