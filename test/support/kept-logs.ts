import { appendFileSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/** What must not stand in a log. */
export type SecretKind =
  | 'API key'
  | 'hash of an API key'
  | 'password'
  | 'session cookie'
  | 'one-time link'
  | 'webhook secret'
  | 'verification token'
  | 'SECRET_KEY'
  | 'password of a server'
  | 'private key'
  | 'mail body';

export interface Secret {
  kind: SecretKind;
  /** its bytes as Latin-1 */
  value: string;
}

/** The environment's name for the folder in which a command of tests keeps what is logged and what is secret; absent: nothing is kept. */
export const KEPT_LOGS = 'POSTROOM_KEPT_LOGS';

/** Of the folder: a file per process and what it wrote. */
export const LOGS = 'logs';
/** Of the folder: a file per process that learned secrets, a line each: its kind, a tab, and itself. */
export const SECRETS = 'secrets';

/** Shorter ones may stand anywhere by chance. Characters. */
export const SHORTEST_SECRET = 12;
/** Of bodies one process keeps no more than so many lines: a corpus has more than anybody can look for. */
const MAX_BODIES = 3_000;

/** Makes the folder ready. */
export function makeKeptLogs(folder: string): void {
  for (const name of [LOGS, SECRETS]) mkdirSync(path.join(folder, name), { recursive: true });
}

/** Adds to what is kept as the log of that process. */
export function keepLog(name: string, text: string | Uint8Array): void {
  const folder = process.env[KEPT_LOGS];
  if (folder !== undefined) appendFileSync(path.join(folder, LOGS, `${name}.log`), text);
}

/** Keeps a log file as it is now; does nothing when there is none. */
export function keepLogFile(name: string, file: string): void {
  const folder = process.env[KEPT_LOGS];
  if (folder !== undefined && existsSync(file)) copyFileSync(file, path.join(folder, LOGS, `${name}.log`));
}

/** Says that these must not stand in any log of the run. */
export function keepSecrets(secrets: readonly Secret[]): void {
  const folder = process.env[KEPT_LOGS];
  if (folder === undefined) return;
  const lines = secrets.filter(isNew).map(({ kind, value }) => `${kind}\t${value}\n`);
  if (lines.length > 0) appendFileSync(path.join(folder, SECRETS, String(process.pid)), lines.join(''), 'latin1');
}

const known = new Set<string>();
let bodies = 0;

function isNew({ kind, value }: Secret): boolean {
  if (value.length < SHORTEST_SECRET || known.has(value)) return false;
  if (kind === 'mail body' && bodies++ >= MAX_BODIES) return false;
  known.add(value);
  return true;
}
