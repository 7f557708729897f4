/** A tag in sanitised HTML, by its place. */
export interface MarkupTag {
  start: number;
  /** behind its `>` */
  end: number;
  /** lower case */
  name: string;
  isEnd: boolean;
}

/** Elements without end tags. */
export const VOID_ELEMENTS: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'col', 'wbr', 'area']);

/**
 * The tags of HTML as sanitize-html writes it: every `<`, `>`, `&` and `"` that is no markup of its own is a reference there, so that
 * whatever looks like a tag is one. Not for HTML of any other origin.
 */
export function readTags(sanitized: string): MarkupTag[] {
  const tags: MarkupTag[] = [];
  for (const match of sanitized.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:[ /][^<>]*)?>/g)) {
    const [whole, slash, name = ''] = match;
    tags.push({ start: match.index, end: match.index + whole.length, name, isEnd: slash === '/' });
  }
  return tags;
}

/** The attributes of a start tag as sanitize-html writes it, references resolved. */
export function readAttributes(tag: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', value = ''] of tag.matchAll(/ ([a-z-]+)="([^"]*)"/g)) attributes.set(name, unescaped(value));
  return attributes;
}

/** A start tag with these attributes. */
export function writeTag(name: string, attributes: ReadonlyMap<string, string>): string {
  const written = [...attributes].map(([key, value]) => ` ${key}="${escapeText(value)}"`);
  return `<${name}${written.join('')}${VOID_ELEMENTS.has(name) ? ' /' : ''}>`;
}

/** Text as it stands in HTML, between tags and in quoted attributes. */
export function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
