import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { migrationNames } from './names.ts';

/** The functions of searches, which the newest migration that changes them runs again. */
export const SEARCH_FUNCTIONS = new URL('../queries/search/search-functions.sql', import.meta.url);

/** A migration that ran, with `computeDigest` of that time; null: there were no digests yet. */
export interface RanMigration {
  name: string;
  digest: string | null;
}

/**
 * Returns what the `migration` table keeps of a migration that runs now: the digest of the SQL files in the folder of its name, a dot, and
 * that of the search functions.
 */
export function computeDigest(name: string): string {
  return `${digestOfFolder(name)}.${digestOfFiles([SEARCH_FUNCTIONS])}`;
}

/** Returns whether one of these, in the order in which they ran, ran with other SQL than this code has. Unknown migrations may. */
export function isRunWithOtherSql(ran: readonly RanMigration[]): boolean {
  const known = new Set<string>(migrationNames);
  if (ran.some(({ name, digest }) => known.has(name) && digest?.split('.')[0] !== digestOfFolder(name))) return true;
  // Each migration may change the search functions: they are those of the last one.
  const last = ran.at(-1);
  const isUpToDate = ran.length === known.size && ran.every(({ name }) => known.has(name));
  return last !== undefined && isUpToDate && last.digest !== computeDigest(last.name);
}

function digestOfFolder(name: string): string {
  const folder = new URL(`${name}/`, import.meta.url);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return digestOfFiles(files.filter((file) => file.endsWith('.sql')).map((file) => new URL(file, folder)));
}

/** Lines of comments and white space do not count: a better comment asks for no new database. */
function digestOfFiles(files: readonly URL[]): string {
  const statements = files.map((file) => readFileSync(file, 'utf8').replaceAll(/^\s*--.*$/gm, ''));
  return hash('sha256', statements.join('\n').replaceAll(/\s+/g, ' ').trim());
}
