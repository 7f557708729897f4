import { randomBytes } from 'node:crypto';
import type { Database } from '../../db/connection/database.ts';
import { createAccount, hasAccount } from '../../db/queries/accounts/account.ts';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { makeDkimKey } from '../../operations/domains/make-dkim-key.ts';
import { FIRST_DOMAIN } from '../config.ts';

/** The account of the first start. The key and the link are shown only once. */
export interface FirstAccount {
  email: string;
  apiKey: string;
  /** token of the link that signs in to the dashboard */
  signInToken: string | null;
  address: string;
}

const FIRST_EMAIL = `owner@${FIRST_DOMAIN}`;
const FIRST_ADDRESS = `hello@${FIRST_DOMAIN}`;

/**
 * Creates an account with one domain and two addresses at the first start, if the domain is trusted. Returns null if the account exists or
 * the domain belongs to another one. The pool must use the URL's own role.
 */
export async function createFirstAccount(
  database: Database,
  settings: { trustedDomains: string[]; secretKey: Uint8Array },
): Promise<FirstAccount | null> {
  if (!settings.trustedDomains.includes(FIRST_DOMAIN) || (await hasAccount(database, FIRST_EMAIL))) return null;
  const dkimKey = await makeDkimKey({
    secretKey: settings.secretKey,
    now: () => new Date(),
    random: (bytes) => randomBytes(bytes),
  });
  // The address of the account receives, too: mail to it would bounce, and suppress it.
  const mailbox = { domain: FIRST_DOMAIN, addresses: [FIRST_ADDRESS, FIRST_EMAIL], dkimKey };
  const account = await createAccount(database, { email: FIRST_EMAIL, password: null, apiKey: null, mailbox });
  if (account.outcome !== 'created') return null;
  const signInToken = await makeSignInLink(database, FIRST_EMAIL);
  return { email: FIRST_EMAIL, apiKey: account.apiKey, signInToken, address: FIRST_ADDRESS };
}
