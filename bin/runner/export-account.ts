import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../../db/connection/database.ts';
import { type AccountExport, type ExportCounts, exportAccount } from '../../operations/accounts/export-account.ts';

export interface DirectoryExport extends Pick<AccountExport, 'workspaceId' | 'secretKey'> {
  /** created if missing; must be empty */
  directory: string;
}

/** Readable only by the user that runs the process. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Writes an export of the account to files. Throws if the directory is not empty. */
export async function exportToDirectory(
  database: Database,
  { workspaceId, secretKey, directory }: DirectoryExport,
): Promise<ExportCounts> {
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty`);
  let made = directory;
  return exportAccount(database, {
    workspaceId,
    secretKey,
    async write({ path: name, number, pieces }) {
      const file = path.join(directory, name);
      const folder = path.dirname(file);
      if (folder !== made) await mkdir(folder, { recursive: true, mode: DIRECTORY_MODE });
      made = folder;
      const flag = number === 1 ? 'wx' : 'a';
      await writeFile(file, pieces, { flag, mode: FILE_MODE, flush: name.endsWith('.jsonl') });
    },
  });
}
