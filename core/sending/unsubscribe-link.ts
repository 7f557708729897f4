import { decryptSecret, encryptSecret, SecretBoxError } from '../shared/secret-box.ts';

/** Who unsubscribes from what. */
export interface Unsubscription {
  workspaceId: string;
  emailId: string;
  /** lower case */
  address: string;
  list: string;
}

/** Path of the page and the one-click request, in front of the token. */
export const UNSUBSCRIBE_PATH = '/unsubscribe/';
/** The list of mail that names none. */
export const DEFAULT_LIST = 'default';
const LIST_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9])?$/;

/** Returns whether a text can be the name of a list: 1 to 64 letters, digits, spaces, dots, hyphens and underscores of ASCII. */
export function isListName(name: string): boolean {
  return LIST_NAME.test(name);
}

/** Returns List-Unsubscribe (RFC 2369 §3.2) and List-Unsubscribe-Post (RFC 8058 §3.1) for one recipient. */
export function unsubscribeFields(
  baseUrl: string,
  secretKey: Uint8Array,
  unsubscription: Unsubscription,
  nonce: Uint8Array,
): [name: string, value: string][] {
  const { workspaceId, emailId, address, list } = unsubscription;
  // Encrypted, so that the link can neither be guessed nor shows what it contains.
  const token = encryptSecret(secretKey, 'unsubscribe', JSON.stringify([workspaceId, emailId, address, list]), nonce);
  return [
    ['List-Unsubscribe', `<${baseUrl}${UNSUBSCRIBE_PATH}${token}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ];
}

/** Returns the contents of a token; null when it was not made by this service. */
export function readUnsubscribeToken(secretKey: Uint8Array, token: string): Unsubscription | null {
  try {
    const [workspaceId, emailId, address, list] = JSON.parse(
      decryptSecret(secretKey, 'unsubscribe', token),
    ) as string[];
    if (workspaceId === undefined || emailId === undefined || address === undefined || list === undefined) return null;
    return { workspaceId, emailId, address, list };
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}
