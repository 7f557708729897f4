import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { processEnvironment } from '../environment.ts';
import { CommandError } from './command-error.ts';

/** What `postroom login` got. */
const tokens = z.object({
  access: z.string().min(1),
  refresh: z.string().min(1),
  /** when the access token expires */
  expiresAt: z.iso.datetime(),
});
export type StoredTokens = z.output<typeof tokens>;

/** A server, and the API key for it that `postroom init` stores, or the tokens of `postroom login`. */
const shape = z.union([z.object({ url: z.url(), key: z.string().min(1) }), z.object({ url: z.url(), tokens })]);
export type StoredServer = z.output<typeof shape>;

/** Returns the path of the file: below XDG_CONFIG_HOME, or ~/.config. */
export function configFile(): string {
  const { XDG_CONFIG_HOME } = processEnvironment();
  // The XDG Base Directory Specification says to ignore relative paths.
  const base =
    XDG_CONFIG_HOME !== undefined && path.isAbsolute(XDG_CONFIG_HOME)
      ? XDG_CONFIG_HOME
      : path.join(homedir(), '.config');
  return path.join(base, 'postroom', 'config.json');
}

/** Returns what was stored, or null if there is no file. Throws CommandError when the file is not valid. */
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
      next: 'Run postroom login or postroom init to write it again.',
    });
  }
}

/** Writes the file, which only the user can read. It is on the disk when this resolves. */
export async function storeServer(server: StoredServer): Promise<string> {
  const file = configFile();
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(server, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(draft, 0o600);
  await rename(draft, file);
  return file;
}

/** Removes the file. */
export function forgetServer(): Promise<void> {
  return rm(configFile(), { force: true });
}
