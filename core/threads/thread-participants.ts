import type { Mailbox } from '../mime/address.ts';

/** The participants of a thread: addresses in lower case, and for each the text to show, `Name <address>` or the bare address. */
export interface Participants {
  emails: string[];
  names: string[];
}

/** Returns each participant with the address in lower case and its name, or null. */
export function participantList({ emails, names }: Participants): Mailbox[] {
  return emails.map((address, place) => {
    const name = /^(.*) <[^<]*>$/su.exec(names[place] ?? '')?.[1];
    return { name: name ?? null, address };
  });
}

/** Returns each address once, in lower case, in the order in which it comes first; with the first name that it has. */
export function distinctMailboxes(mailboxes: readonly Mailbox[]): Mailbox[] {
  const byAddress = new Map<string, Mailbox>();
  for (const { name, address } of mailboxes) {
    const key = address.toLowerCase();
    const present = byAddress.get(key);
    if (present === undefined) byAddress.set(key, { name, address: key });
    else present.name ??= name;
  }
  return [...byAddress.values()];
}

/** Maximum listed participants of a thread. */
const MAX_PARTICIPANTS = 100;
const MAX_NAME_LENGTH = 200;
const MAX_ADDRESS_LENGTH = 320;

/** The address fields that name participants; null when the field is absent. */
export type ParticipantFields = Record<'from' | 'to' | 'cc', { addresses: Mailbox[] } | null>;

/** Returns the mailboxes of From, To and Cc in this order. Bcc recipients are not participants: the others do not see them. */
export function listMailboxes(fields: ParticipantFields): Mailbox[] {
  return [fields.from, fields.to, fields.cc].flatMap((list) => list?.addresses ?? []);
}

/** Returns the participants with additional mailboxes; a name is added where only the address was known. */
export function addParticipants(present: Participants, mailboxes: readonly Mailbox[]): Participants {
  const emails = mailboxes.map((mailbox) => mailbox.address.toLowerCase());
  const names = mailboxes.map(({ name, address }) => shown(name, address));
  return mergeParticipants(present, { emails, names });
}

/** Returns the participants of both, like addParticipants. */
export function mergeParticipants(first: Participants, second: Participants): Participants {
  const shownAs = new Map(first.emails.map((email, place) => [email, first.names[place] ?? email]));
  for (const [place, email] of second.emails.entries()) {
    const name = second.names[place] ?? email;
    const present = shownAs.get(email);
    if (present === undefined) {
      if (email !== '' && email.length <= MAX_ADDRESS_LENGTH && shownAs.size < MAX_PARTICIPANTS)
        shownAs.set(email, name);
    } else if (present === email) {
      shownAs.set(email, name);
    }
  }
  return { emails: [...shownAs.keys()], names: [...shownAs.values()] };
}

/** Returns the text that thread searches match: subject and addresses in lower case. */
export function threadSearchText(subject: string, participantEmails: readonly string[]): string {
  return [subject.toLowerCase(), ...participantEmails].join('\n');
}

function shown(name: string | null, address: string): string {
  const trimmed = name?.trim().slice(0, MAX_NAME_LENGTH).toWellFormed() ?? '';
  return trimmed === '' ? address.toLowerCase() : `${trimmed} <${address}>`;
}
