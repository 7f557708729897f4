import type { Mailbox } from '../mime/address.ts';

/** Who takes part in a thread: addresses in lower case, and beside each what to show, `Name <address>` or the bare address. */
export interface Participants {
  emails: string[];
  names: string[];
}

/** Each with its address in lower case and the name that goes with it, or null. */
export function participantList({ emails, names }: Participants): Mailbox[] {
  return emails.map((address, place) => {
    const name = /^(.*) <[^<]*>$/su.exec(names[place] ?? '')?.[1];
    return { name: name ?? null, address };
  });
}

/** More participants of one thread than this are not listed. */
const MAX_PARTICIPANTS = 100;
const MAX_NAME_LENGTH = 200;
const MAX_ADDRESS_LENGTH = 320;

/** The address fields that name participants; null when the field is absent. */
export type ParticipantFields = Record<'from' | 'to' | 'cc', { addresses: Mailbox[] } | null>;

/** The mailboxes of From, To and Cc in this order. Bcc is no participant: others of the thread do not see it. */
export function mailboxesOf(fields: ParticipantFields): Mailbox[] {
  return [fields.from, fields.to, fields.cc].flatMap((list) => list?.addresses ?? []);
}

/** Adds mailboxes to those that a thread has; a name fills in where only the address was known. Answers a new value. */
export function addParticipants(present: Participants, mailboxes: readonly Mailbox[]): Participants {
  const emails = mailboxes.map((mailbox) => mailbox.address.toLowerCase());
  const names = mailboxes.map(({ name, address }) => shown(name, address));
  return mergeParticipants(present, { emails, names });
}

/** Those of the first and then those of the second, as addParticipants does. Answers a new value. */
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

/** What a search of threads looks through: subject and addresses in lower case. */
export function threadSearchText(subject: string, participantEmails: readonly string[]): string {
  return [subject.toLowerCase(), ...participantEmails].join('\n');
}

function shown(name: string | null, address: string): string {
  const trimmed = name?.trim().slice(0, MAX_NAME_LENGTH) ?? '';
  return trimmed === '' ? address.toLowerCase() : `${trimmed} <${address}>`;
}
