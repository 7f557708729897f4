import { canonicalDomainName } from '../domains/domain-name.ts';
import { visibleText } from '../html/visible-text.ts';
import { foldText, wordsOfFolded } from './search-words.ts';

/** Characters of a body that are searchable. */
export const MAX_BODY_LENGTH = 32_768;
/** Characters of HTML from which they are taken: newsletters begin with styles. */
export const MAX_HTML_LENGTH = 131_072;
/** Characters of each header field. */
export const MAX_FIELD_LENGTH = 8_192;
/** Recipients of an email that are searchable. */
const MAX_ADDRESSES = 200;
/** Words of an email after this many are ignored. */
export const MAX_WORDS = 16_000;
/** Different words of an email that are searchable. Text of 20,000 characters seldom has as many. */
export const MAX_DIFFERENT_WORDS = 1_000;

/** The parts of an email in which words occur, as bits of a mask. */
export const PLACES = { subject: 1, from: 2, to: 4, body: 8 } as const;
export const ANYWHERE = 15;
/** Number of places. */
export const PLACE_COUNT = 4;

/** The searchable parts of an email. */
export interface WordSource {
  subject: string;
  fromText: string;
  fromAddress: string;
  /** To, Cc and Bcc as shown, with names */
  recipientTexts: readonly string[];
  /** of the envelope and of the fields */
  recipients: readonly string[];
  ownAddress: string;
  text: string | null;
  html: string | null;
  hasAttachments: boolean;
}

/** The words of an email. */
export interface EmailTerms {
  /** the words of each text in order; an empty word is one that is not searchable */
  texts: { place: number; words: readonly string[] }[];
  /** what is searched for like a word but is none, such as the domains of its addresses */
  marks: readonly string[];
}

/** The mark of emails with attachments. */
export const ATTACHMENT_MARK = '#attachment';

/** The mark of emails whose sender, recipient or own address is at the domain (canonical name). */
export function domainMark(domain: string): string {
  return `@${domain}`;
}

/** Returns the words of an email. */
export function emailTerms(email: WordSource): EmailTerms {
  return { texts: searchableWords(foldedTexts(email)), marks: emailMarks(email) };
}

/** Returns what is searched for like a word but is none. */
export function emailMarks(email: WordSource): string[] {
  const recipients = email.recipients.slice(0, MAX_ADDRESSES);
  return [...domainMarks({ ...email, recipients }), ...(email.hasAttachments ? [ATTACHMENT_MARK] : [])];
}

/** A text of an email in which words are searched for. */
export type SearchableText = readonly [place: number, text: string];

/** Returns the texts of an email in which words are searched for, as foldText returns them. */
export function foldedTexts(email: WordSource): SearchableText[] {
  return searchableTexts(email).map(([place, text]) => [place, foldText(text)]);
}

function searchableTexts(email: WordSource): SearchableText[] {
  const { subject, fromText, recipientTexts, text, html } = email;
  const recipients = email.recipients.slice(0, MAX_ADDRESSES);
  const isTextless = text === null || text.trim() === '';
  const body = isTextless && html !== null ? visibleText(html.slice(0, MAX_HTML_LENGTH), MAX_BODY_LENGTH) : text;
  const to = recipientTexts.join(' ').slice(0, MAX_FIELD_LENGTH);
  const unnamed = recipients.filter((address) => !to.includes(address));
  return [
    [PLACES.subject, subject.slice(0, MAX_FIELD_LENGTH)],
    [PLACES.from, fromText.slice(0, MAX_FIELD_LENGTH)],
    [PLACES.to, to],
    [PLACES.to, unnamed.join(' ').slice(0, MAX_FIELD_LENGTH)],
    [PLACES.body, (body ?? '').slice(0, MAX_BODY_LENGTH)],
  ];
}

/** Returns the words of the folded texts of an email. */
export function searchableWords(texts: readonly SearchableText[]): EmailTerms['texts'] {
  let left = MAX_WORDS;
  const found = texts.map(([place, text]) => {
    const words = wordsOfFolded(text).slice(0, left);
    left -= words.length;
    return { place, words };
  });
  if (MAX_WORDS - left > MAX_DIFFERENT_WORDS) blankWords(found);
  return found;
}

/** Empties the words that are too many. */
function blankWords(texts: readonly { words: string[] }[]): void {
  const different = new Set<string>();
  for (const { words } of texts)
    for (const [at, word] of words.entries()) {
      if (different.has(word)) continue;
      if (different.size < MAX_DIFFERENT_WORDS) different.add(word);
      else words[at] = '';
    }
}

function domainMarks({ fromAddress, recipients, ownAddress }: WordSource): Set<string> {
  const written = new Set<string>();
  for (const address of [ownAddress, fromAddress, ...recipients])
    written.add(address.slice(address.lastIndexOf('@') + 1));
  const names = [...written].map(canonicalDomainName).filter((name) => name !== null);
  return new Set(names.map(domainMark));
}
