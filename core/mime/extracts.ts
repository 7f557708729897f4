import { readHtmlOutline } from '../html/html-outline.ts';
import { type ExtractedCode, extractCodes } from './extract-codes.ts';
import { type ExtractedLink, extractLinks } from './extract-links.ts';

/** What programs look for in mail: codes to type in and links to follow, the likeliest first. */
export interface Extracts {
  codes: ExtractedCode[];
  links: ExtractedLink[];
}

/** What of an email is looked through. */
export interface ExtractsInput {
  subject: string;
  text: string | null;
  html: string | null;
  /** lower-case names and their values */
  headers: readonly (readonly [name: string, value: string])[];
}

/** Characters of HTML that are looked at. */
const MAX_HTML = 300_000;

/** Looks an email through; what is wrong with it finds nothing, and never throws. */
export function extractFrom({ subject, text, html, headers }: ExtractsInput): Extracts {
  const outline = readHtmlOutline((html ?? '').slice(0, MAX_HTML));
  const listUnsubscribe = headers.find(([name]) => name === 'list-unsubscribe')?.[1] ?? null;
  return {
    codes: extractCodes([
      ['subject', subject],
      ['text', text ?? ''],
      ['html', outline.text],
    ]),
    links: extractLinks({ text: text ?? '', outline, listUnsubscribe }),
  };
}
