import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { useIsInTeam, useViewer } from '../../shell/viewer.ts';

/** A person with name and address. */
type Person = { name: string | null; address: string };

/** Maximum number of people that a row names. */
const NAMED = 3;

/** Returns the name, or the address if there is none. */
export function showName({ name, address }: Person): string {
  return name === null || name.trim() === '' ? address || 'Unknown sender' : name;
}

/** Returns the initials of a person: of the first and the last word that begins with a letter or a digit; without one, the first sign. */
export function makeInitials(person: Person): string {
  const name = showName(person);
  const initials = name.split(/[\s._@-]+/u).flatMap((word) => /[\p{L}\p{N}]/u.exec(word)?.[0] ?? []);
  const [first = firstSign(name), ...others] = initials;
  return (first + (name.includes('@') ? '' : (others.at(-1) ?? ''))).toUpperCase();
}

const signs = new Intl.Segmenter();

/** Returns the first sign as a reader sees it, such as an emoji of several code points. */
function firstSign(text: string): string {
  for (const { segment } of signs.segment(text)) return segment;
  return '';
}

/** Returns `Ada <ada@example.org>`, or only the address. */
export function mailboxText({ name, address }: Person): string {
  return name === null || name.trim() === '' ? address : `${name} <${address}>`;
}

/** Returns the part after the last @ in lower case, or the whole text if there is none. */
function readDomain(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** Returns who wrote the messages of a thread, latest first, for a row: names of others, and `me` for the user's domains. */
export function sendersText(senders: readonly Person[], ownDomains: ReadonlySet<string>): string {
  const isOwn = ({ address }: Person) => ownDomains.has(readDomain(address));
  const names = [...new Set(senders.map((sender) => (isOwn(sender) ? 'me' : shortenName(sender, senders.length))))];
  const more = names.length - NAMED;
  return names.length === 0 ? 'No sender' : names.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Returns the name; of several people, only the first word of each. */
function shortenName(person: Person, count: number): string {
  const name = showName(person);
  return count > 1 && name !== person.address ? (name.split(/\s/)[0] ?? name) : name;
}

/** Returns the participants of a thread for a row: those outside `ownDomains`, if there are any. */
export function participantsText(people: readonly Person[], ownDomains: ReadonlySet<string>): string {
  const others = people.filter(({ address }) => !ownDomains.has(readDomain(address)));
  const shown = others.length > 0 ? others : people;
  const names = shown.slice(0, NAMED).map(showName).join(', ');
  const more = shown.length - NAMED;
  return more > 0 ? `${names} and ${more} more` : names === '' ? 'No participants' : names;
}

/** Who works on a thread. */
export type Assignee = { id: string; name: string; email: string; image: string | null };

/** Returns the name of a member, or else the address. */
export function nameAssignee({ name, email }: Pick<Assignee, 'name' | 'email'>): string {
  return name || email;
}

const TEAM = graphql(`query InboxTeam { members { id name email image isYou } }`);

/** Returns the members of the workspace, each as `called`, by the name or else the address; the signed-in person first, and only that person where the others may not be listed. */
export function useTeam() {
  const { person } = useViewer();
  // Members who are limited may not list the others; there are some, since the owner has no limits.
  const isLimited = person?.isLimited === true;
  const isInTeam = useIsInTeam();
  const [{ data }] = useQuery({ query: TEAM, pause: isLimited });
  const found = data?.members ?? [];
  const own =
    person === null || found.some(({ isYou }) => isYou)
      ? []
      : [{ id: person.id, email: person.email, name: person.name, image: person.image, isYou: true }];
  const members = [...own, ...found]
    .map(({ id, email, name, image, isYou }) => ({ id, email, image, called: name || email, isYou }))
    .toSorted((one, other) => Number(other.isYou) - Number(one.isYou) || one.called.localeCompare(other.called));
  return { members, isTeam: isInTeam || members.length > 1 };
}
