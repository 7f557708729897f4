import * as tokens from '../../core/accounts/browser-token.ts';
import { hasScope, scopeMissing } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findTokenAddresses } from '../../db/queries/accounts/browser-token.ts';
import { invalid, isValidId, type OperationContext } from '../context.ts';

export interface NewBrowserToken {
  rights: readonly tokens.BrowserRight[];
  addresses?: readonly string[] | null | undefined;
  /** seconds */
  ttl?: number | null | undefined;
  origins: readonly string[];
}

/**
 * Returns a signed token with which a page of these origins reads and sends the mail of a workspace: the one of the request, or one that it
 * keeps for a customer. It ends with the API key of the request. Throws not_found, validation, forbidden.
 */
export async function createBrowserToken(
  context: OperationContext,
  targetId: string,
  input: NewBrowserToken,
): Promise<{ token: string; expiresAt: Date }> {
  const { database, workspaceId, rights, settings, now } = context;
  const { keyId } = rights;
  if (keyId === null)
    throw new UserError(
      'forbidden',
      'A browser token ends with the API key that creates it. Send the request with a key.',
      {
        title: 'Forbidden',
        reason: 'API_KEY_REQUIRED',
      },
    );
  const given = tokens.BROWSER_RIGHTS.filter((right) => input.rights.includes(right));
  if (given.length === 0) throw invalid('Give at least one of read and send', 'rights');
  for (const right of given)
    if (!hasScope(rights, right)) throw scopeMissing(`A token with the right ${right}`, right, rights);
  const seconds = readSeconds(input.ttl ?? tokens.DEFAULT_TOKEN_SECONDS);
  const origins = readOrigins(input.origins);
  const addresses = readAddresses(input.addresses ?? null);
  const found = isValidId(targetId)
    ? await asWorkspace(database, workspaceId, (transaction) =>
        findTokenAddresses(transaction, workspaceId, { workspaceId: targetId, addresses: addresses ?? [] }),
      )
    : null;
  if (found === null) throw new UserError('not_found', 'Workspace not found');
  const missing = addresses?.find((address) => !found.includes(address));
  if (missing !== undefined) throw invalid(`The workspace has no email address ${missing}`, 'addresses');
  const iat = Math.floor(now().getTime() / 1_000);
  const exp = iat + seconds;
  const token = tokens.openBrowserTokens(settings.secretKey, settings.publicUrl).sign({
    sub: targetId,
    iat,
    exp,
    key: keyId,
    parent: workspaceId,
    rights: given,
    addresses,
    origins,
  });
  return { token, expiresAt: new Date(exp * 1_000) };
}

function readSeconds(given: number): number {
  const { MIN_TOKEN_SECONDS: least, MAX_TOKEN_SECONDS: most } = tokens;
  if (!Number.isInteger(given) || given < least || given > most)
    throw invalid(`A token is valid for ${least} to ${most} seconds (24 hours)`, 'ttl');
  return given;
}

function readOrigins(given: readonly string[]): string[] {
  if (given.length === 0 || given.length > tokens.MAX_TOKEN_ENTRIES)
    throw invalid(`Give 1 to ${tokens.MAX_TOKEN_ENTRIES} origins`, 'origins');
  for (const origin of given)
    if (!/^https?:\/\//.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
      throw invalid(`${origin} is not an origin. Use the form https://app.example.com, without a path.`, 'origins');
  return [...new Set(given)];
}

function readAddresses(given: readonly string[] | null): string[] | null {
  if (given === null) return null;
  if (given.length === 0 || given.length > tokens.MAX_TOKEN_ENTRIES)
    throw invalid(`Give 1 to ${tokens.MAX_TOKEN_ENTRIES} addresses, or omit them for the whole workspace`, 'addresses');
  return [...new Set(given.map((address) => address.toLowerCase()))];
}
