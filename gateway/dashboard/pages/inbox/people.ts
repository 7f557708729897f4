/** Somebody as the graph tells of him. */
interface Person {
  name: string | null;
  address: string;
}

/** People that a row names before it counts. */
const NAMED = 3;

/** How to call somebody: by the name, else by the address. */
export function nameOf({ name, address }: Person): string {
  return name === null || name.trim() === '' ? address : name;
}

/** `Ada <ada@example.org>`, or the address alone. */
export function mailboxText({ name, address }: Person): string {
  return name === null || name.trim() === '' ? address : `${name} <${address}>`;
}

/** Part behind the last @, in lower case; the whole where there is none. */
function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** Who takes part in a thread, for a row: others than those of `ownDomains`, if there are any. */
export function participantsText(people: readonly Person[], ownDomains: ReadonlySet<string>): string {
  const others = people.filter(({ address }) => !ownDomains.has(domainOf(address)));
  const shown = others.length > 0 ? others : people;
  const names = shown.slice(0, NAMED).map(nameOf).join(', ');
  const more = shown.length - NAMED;
  return more > 0 ? `${names} and ${more} more` : names === '' ? 'No participants' : names;
}
