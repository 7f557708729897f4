import { participantList } from '../../core/threads/thread-participants.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as contacts from '../../db/queries/emails/contacts.ts';
import { invalid, type OperationContext } from '../context.ts';
import { MAX_SEARCH_LENGTH } from './emails.ts';

/** An address that the user has exchanged mail with. */
export interface Contact {
  name: string | null;
  /** lower case */
  address: string;
}

/** Contacts or senders per call. */
export const MAX_CONTACTS = 50;

/**
 * Suggests contacts whose address, domain, or a word of whose name starts with the prefix, ignoring case. Contacts of
 * the newest threads come first, without duplicates and without the user's own addresses. Throws validation.
 */
export async function suggestContacts(
  { database, workspaceId }: OperationContext,
  prefix: string,
  first: number,
): Promise<Contact[]> {
  const start = checkPrefix(prefix);
  const most = checkFirst(first);
  return asWorkspace(database, workspaceId, async (transaction) => {
    const threads = await contacts.readParticipants(transaction, workspaceId, start);
    const found = new Map<string, Contact>();
    for (const contact of threads.flatMap(participantList)) {
      if (!isMeant(contact, start)) continue;
      const known = found.get(contact.address);
      if (known === undefined || known.name === null) found.set(contact.address, { ...contact });
    }
    const own = await contacts.findOwn(transaction, workspaceId, [...found.keys()]);
    return [...found.values()].filter(({ address }) => !own.has(address)).slice(0, most);
  });
}

/** Returns addresses that the user can send from and that start with the prefix, ignoring case. Throws validation. */
export function listSenders(
  { database, workspaceId }: OperationContext,
  prefix: string,
  first: number,
): Promise<contacts.SenderAddress[]> {
  const start = checkPrefix(prefix);
  const most = checkFirst(first);
  return asWorkspace(database, workspaceId, (transaction) =>
    contacts.readSenders(transaction, workspaceId, start, most),
  );
}

function isMeant({ name, address }: Contact, start: string): boolean {
  if (address.startsWith(start) || address.slice(address.lastIndexOf('@') + 1).startsWith(start)) return true;
  const words = name?.toLowerCase() ?? '';
  return words.startsWith(start) || words.includes(` ${start}`);
}

function checkPrefix(prefix: string): string {
  if (prefix.length > MAX_SEARCH_LENGTH || prefix.includes('\0'))
    throw invalid(`prefix must have at most ${MAX_SEARCH_LENGTH} characters, and no NUL`, 'prefix');
  return prefix.trim().toLowerCase();
}

function checkFirst(first: number): number {
  if (first < 1 || first > MAX_CONTACTS) throw invalid(`first must be 1 to ${MAX_CONTACTS}`, 'first');
  return first;
}
