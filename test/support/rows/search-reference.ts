import type { SearchTerm } from '../../../core/search/search-query.ts';
import type { Database } from '../../../db/connection/database.ts';
import { holdsWords } from './search-definition.ts';

/*
 * Searches by reading every email of an account and comparing each with every condition. Slow and plain, so that what an index finds can be
 * compared with it.
 */

/** The conditions of a search besides its terms, with plain values; see SearchConditions. */
export interface ReferenceConditions {
  tests?: readonly string[];
  status?: string | null;
  since?: Date | null;
  ownAddress?: string | null;
  ownDomain?: string | null;
  partyAddress?: string | null;
  isUnread?: boolean;
  isArchived?: boolean | null;
  participant?: string | null;
  participantDomain?: string | null;
}

interface ReferenceEmail {
  id: string;
  thread_id: string;
  created_at: Date;
  type: string;
  status: string;
  is_read: boolean;
  is_archived: boolean;
  is_trashed: boolean;
  is_held: boolean;
  has_attachments: boolean;
  own_address: string;
  own_domain: string;
  parties: string[];
  addresses: string[];
  subject: string;
  from_text: string;
  to_text: string | null;
  recipient: string | null;
  text: string;
}

interface ReferenceThread {
  id: string;
  last_message_at: Date;
  is_trashed: boolean;
  label_keys: string[];
  unread_count: number;
  received_count: number;
  archived_count: number;
  participant_emails: string[];
}

export interface SearchReference {
  /** Returns the emails that match, newest first. */
  emails: (terms: readonly SearchTerm[], conditions: ReferenceConditions) => { id: string; at: Date }[];
  /** Returns the threads of which one email matches, newest message first. */
  threads: (terms: readonly SearchTerm[], conditions: ReferenceConditions) => { id: string; at: Date }[];
}

/** Reads the account. `visible`: the text that a reader sees of emails whose body is HTML, by id. */
export async function readSearchReference(
  { pool }: Database,
  workspaceId: string,
  visible: ReadonlyMap<string, string>,
): Promise<SearchReference> {
  const { rows: stored } = await pool.query<ReferenceEmail>(
    `select e.id, e.thread_id, e.created_at, e.type, e.status, e.is_read, e.is_archived, e.trashed_at is not null as is_trashed,
       exists (select from route r where r.workspace_id = $1 and r.email_id = e.id and r.outcome in ('blocked', 'review')
         and r.released_at is null) as is_held,
       e.has_attachments, e.own_address, e.own_domain,
       coalesce((select s.parties from email_search s where s.workspace_id = $1 and s.email_id = e.id), '{}') as parties,
       array_remove(array[e.own_address, e.from_address, e.recipient] || e.to_addresses || e.cc_addresses, null) as addresses,
       e.subject, e.from_text, c.addresses->'to'->>'text' as to_text, e.recipient, coalesce(c.text_body, c.html_body, '') as text
     from email e left join email_content c on c.workspace_id = $1 and c.email_id = e.id where e.workspace_id = $1`,
    [workspaceId],
  );
  const emails = stored.map((email) => ({ ...email, text: visible.get(email.id) ?? email.text }));
  const { rows: threads } = await pool.query<ReferenceThread>(
    `select id, last_message_at, trashed_at is not null as is_trashed, label_keys, unread_count, received_count, archived_count,
       participant_emails from thread where workspace_id = $1`,
    [workspaceId],
  );
  const threadById = new Map(threads.map((thread) => [thread.id, thread]));
  const messages = Map.groupBy(emails, (email) => email.thread_id);
  return {
    emails: (terms, conditions) =>
      newestFirst(
        emails
          .filter((email) => matchesEmail(email, terms, conditions))
          .filter((email) => hasLabels(threadById.get(email.thread_id), terms))
          .map(({ id, created_at }) => ({ id, at: created_at })),
      ),
    threads: (terms, conditions) =>
      newestFirst(
        threads
          .filter((thread) => matchesThread(thread, conditions) && hasLabels(thread, terms))
          .filter(({ id }) => messages.get(id)?.some((email) => matchesEmail(email, terms, conditions)) === true)
          .map(({ id, last_message_at }) => ({ id, at: last_message_at })),
      ),
  };
}

function newestFirst(rows: { id: string; at: Date }[]): { id: string; at: Date }[] {
  return rows.sort((one, other) => other.at.getTime() - one.at.getTime() || (one.id < other.id ? 1 : -1));
}

function matchesEmail(email: ReferenceEmail, terms: readonly SearchTerm[], conditions: ReferenceConditions): boolean {
  const { tests = [], status, since, ownAddress, ownDomain, partyAddress } = conditions;
  const isOfTrash =
    tests.includes('trashed') ||
    terms.some((term) => term.kind === 'flag' && term.flag === 'trashed' && !term.isNegated);
  return (
    email.is_trashed === isOfTrash &&
    tests.every((name) => (name.startsWith('!') ? !hasFlag(email, name.slice(1)) : hasFlag(email, name))) &&
    (status == null || email.status === status) &&
    (since == null || email.created_at >= since) &&
    (ownAddress == null ||
      email.own_address === ownAddress ||
      (partyAddress != null && email.parties.includes(partyAddress))) &&
    (ownDomain == null || email.own_domain === ownDomain) &&
    terms.every((term) => term.kind === 'label' || hasTerm(email, term) !== term.isNegated)
  );
}

function matchesThread(thread: ReferenceThread, conditions: ReferenceConditions): boolean {
  const { isUnread = false, isArchived, participant, participantDomain } = conditions;
  const areAllArchived = thread.received_count > 0 && thread.archived_count === thread.received_count;
  return (
    (!isUnread || thread.unread_count > 0) &&
    (isArchived == null || areAllArchived === isArchived) &&
    (participant == null || thread.participant_emails.includes(participant)) &&
    (participantDomain == null ||
      thread.participant_emails.some((address) => address.endsWith(`@${participantDomain}`)))
  );
}

function hasLabels(thread: ReferenceThread | undefined, terms: readonly SearchTerm[]): boolean {
  return terms.every(
    (term) => term.kind !== 'label' || (thread?.label_keys.includes(term.key) === true) !== term.isNegated,
  );
}

function hasTerm(email: ReferenceEmail, term: SearchTerm): boolean {
  switch (term.kind) {
    case 'words':
      return listPlaces(email, term.place).some((text) => holdsWords(text, term.words, term.isWhole));
    case 'domain':
      return email.addresses.some((address) => address.endsWith(`@${term.name}`));
    case 'before':
      return email.created_at < term.at;
    case 'after':
      return email.created_at >= term.at;
    case 'flag':
      return hasFlag(email, term.flag);
    case 'label':
    case 'assigned':
    case 'unreadBy':
      return false;
  }
}

function listPlaces(email: ReferenceEmail, place: 'anywhere' | 'subject' | 'from' | 'to'): string[] {
  const to = [email.to_text ?? '', email.recipient ?? ''];
  const texts = { subject: [email.subject], from: [email.from_text], to };
  return place === 'anywhere' ? [...texts.subject, ...texts.from, ...texts.to, email.text] : texts[place];
}

function hasFlag(email: ReferenceEmail, flag: string): boolean {
  const isReceived = email.type === 'received';
  const flags: Record<string, boolean> = {
    unread: isReceived && !email.is_read,
    read: isReceived && email.is_read,
    archived: isReceived && email.is_archived,
    inbox: isReceived && !email.is_archived,
    received: isReceived,
    sent: email.type === 'sent',
    scheduled: email.type === 'scheduled',
    attachment: email.has_attachments,
    trashed: email.is_trashed,
    snoozed: false,
    'marked read': email.is_read,
    'marked archived': email.is_archived,
    held: email.is_held,
  };
  const isSet = flags[flag];
  if (isSet === undefined) throw new Error(`unknown flag ${flag}`);
  return isSet;
}
