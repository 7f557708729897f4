import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CommandError, EXIT } from './command-error.ts';
import { configFile, readStoredServer, type StoredTokens, storeServer } from './config-file.ts';

/** The ID that the server knows this program by. */
const CLIENT_ID = 'postroom-cli';
/** An access token is replaced this long before it expires. Milliseconds. */
const EARLY_MS = 60_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** How long a run waits for another that refreshes, and how often it looks. Milliseconds. */
const LOCK_WAIT_MS = 30_000;
const LOCK_LOOK_MS = 100;

const tokenBody = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
  scope: z.string(),
});
const errorBody = z.object({ error: z.string(), error_description: z.string().optional() });

/** A response of the token endpoint. */
export type TokenReply =
  | { tokens: StoredTokens; level: string; error: null }
  | { tokens: null; error: string; description: string };

/**
 * Returns an access token of the server that `postroom login` stored, a new one if it expires soon. Only one run at a time refreshes: a refresh
 * token works once, and its second use would end the access. Throws CommandError.
 */
export async function readAccessToken(url: string): Promise<string> {
  const known = await readTokens(url);
  if (isFresh(known)) return known.access;
  return underLock(async () => {
    const { access, refresh, expiresAt } = await readTokens(url);
    // Another run was faster.
    if (isFresh({ expiresAt })) return access;
    const reply = await requestTokens(url, { grant_type: 'refresh_token', refresh_token: refresh });
    if (reply.tokens === null)
      throw new CommandError(`Your sign-in at ${url} has ended: ${reply.description}`, {
        exitCode: EXIT.auth,
        next: 'Run postroom login.',
      });
    await storeServer({ url, tokens: reply.tokens });
    return reply.tokens.access;
  });
}

async function readTokens(url: string): Promise<StoredTokens> {
  const stored = await readStoredServer();
  if (stored === null || !('tokens' in stored) || stored.url !== url)
    throw new CommandError(`You are not signed in to ${url}.`, { exitCode: EXIT.auth, next: 'Run postroom login.' });
  return stored.tokens;
}

const isFresh = ({ expiresAt }: Pick<StoredTokens, 'expiresAt'>) => Date.parse(expiresAt) - Date.now() > EARLY_MS;

/** Asks for tokens. Throws CommandError when the server cannot be reached, or is no Postroom. */
export async function requestTokens(url: string, form: Record<string, string>): Promise<TokenReply> {
  const { status, body } = await postForm(url, '/oauth/token', form);
  const made = tokenBody.safeParse(body);
  if (status === 200 && made.success) {
    const { access_token: access, refresh_token: refresh, expires_in: seconds, scope: level } = made.data;
    const expiresAt = new Date(Date.now() + seconds * 1_000).toISOString();
    return { tokens: { access, refresh, expiresAt }, level, error: null };
  }
  const refused = errorBody.safeParse(body);
  if (status >= 500 || !refused.success)
    throw new CommandError(`${url} responds with ${status}.`, { exitCode: EXIT.unavailable });
  const { error, error_description: description = error } = refused.data;
  return { tokens: null, error, description };
}

/** Sends a form of OAuth, without following redirects. */
export async function postForm(
  url: string,
  target: string,
  form: Record<string, string>,
): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(`${url}${target}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: CLIENT_ID, ...form }),
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    return { status: response.status, body: await response.json().catch(() => null) };
  } catch (error) {
    const { cause } = error as { cause?: { message?: string } };
    throw new CommandError(`${url} cannot be reached: ${cause?.message ?? (error as Error).message}.`, {
      exitCode: EXIT.unavailable,
      next: 'Check that the server runs, and the URL: --url or POSTROOM_URL.',
    });
  }
}

/** Runs work while no other run of postroom does. The lock of a run that was killed is taken over. */
async function underLock<T>(work: () => Promise<T>): Promise<T> {
  const lock = `${configFile()}.lock`;
  await mkdir(path.dirname(lock), { recursive: true, mode: 0o700 });
  const until = Date.now() + LOCK_WAIT_MS;
  while (!(await takeLock(lock))) {
    if (Date.now() > until)
      throw new CommandError(`Another run of postroom keeps ${lock}.`, {
        exitCode: EXIT.unavailable,
        next: 'Wait for it to end, or remove the file.',
      });
    await sleep(LOCK_LOOK_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx', 0o600);
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
    // Zero: it is about to write its number, or has just ended.
    if (holder > 0 && !isAlive(holder)) await rm(lock, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
