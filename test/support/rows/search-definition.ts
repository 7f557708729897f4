import { parseSearch, type SearchTerm } from '../../../core/search/search-query.ts';
import type { SearchedMail } from './searched-mail.ts';

/** What a search finds by its definition and nothing else: every mail is looked at, for every term. Newest first. */
export function matchingIds(
  mails: readonly SearchedMail[],
  search: string,
  now: Date,
): { emails: string[]; threads: string[] } {
  const terms = parseSearch(search, now);
  const matching = mails.filter((mail) => terms.every((term) => isMet(mail, term) !== term.isNegated));
  const ends = new Map<string, number>();
  for (const { threadId, createdAt } of mails)
    if (threadId !== null) ends.set(threadId, Math.max(ends.get(threadId) ?? 0, createdAt.getTime()));
  const threadIds = new Set(matching.flatMap((mail) => (mail.threadId === null ? [] : [mail.threadId])));
  return {
    emails: newestFirst(matching.map((mail) => ({ id: mail.id, at: mail.createdAt.getTime() }))),
    threads: newestFirst([...threadIds].map((id) => ({ id, at: ends.get(id) ?? 0 }))),
  };
}

function isMet(mail: SearchedMail, term: SearchTerm): boolean {
  switch (term.kind) {
    case 'words':
      return listTexts(mail, term.place).some((text) => holdsWords(text, term.words, term.isWhole));
    case 'domain': {
      const addresses = [mail.from.address, ...mail.to.map(({ address }) => address), mail.recipient, mail.ownAddress];
      return addresses.some((address) => address?.split('@')[1] === term.name);
    }
    case 'label':
      return mail.labels.some((label) => label.toLowerCase() === term.key);
    case 'assigned':
    case 'unreadBy':
      return false;
    case 'before':
      return mail.createdAt < term.at;
    case 'after':
      return mail.createdAt >= term.at;
    case 'flag':
      return listFlags(mail).includes(term.flag);
  }
}

function listFlags({ type, isRead, isArchived, hasAttachments }: SearchedMail): string[] {
  const received = type === 'received' ? [isRead ? 'read' : 'unread', isArchived ? 'archived' : 'inbox'] : [];
  return [type, ...received, ...(hasAttachments ? ['attachment'] : [])];
}

function listTexts(mail: SearchedMail, place: 'anywhere' | 'subject' | 'from' | 'to'): string[] {
  const shown = (people: SearchedMail['to']) => people.map(({ name, address }) => `${name} ${address}`).join(' ');
  const to = [shown(mail.to), mail.recipient ?? ''];
  switch (place) {
    case 'subject':
      return [mail.subject];
    case 'from':
      return [shown([mail.from])];
    case 'to':
      return to;
    case 'anywhere':
      return [mail.subject, shown([mail.from]), ...to, mail.visible];
  }
}

/** Returns whether the words are in the text, next to each other. */
export function holdsWords(text: string, wanted: readonly string[], isWhole: boolean): boolean {
  const words = plainWords(text);
  return words.some((_, start) =>
    wanted.every((word, at) => {
      const found = words[start + at];
      return !isWhole && at === wanted.length - 1 ? found?.startsWith(word) === true : found === word;
    }),
  );
}

/** Letters and digits between anything else, without accents, in lower case; Chinese and Japanese by the character. */
function plainWords(text: string): string[] {
  const plain = text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
  return plain
    .replaceAll(/[\u3040-\u30ff\u4e00-\u9fff]/g, ' $& ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function newestFirst(items: readonly { id: string; at: number }[]): string[] {
  return items.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
}
