import { contentIdKey } from './mail-document-image.ts';
import { readAttributes, readTags, writeTag } from './mail-document-markup.ts';
import { findQuotedPart } from './mail-document-quotes.ts';
import { isRemoteImageHost } from './remote-image-host.ts';
import { sanitizeHtmlForDisplay } from './sanitize-html-body.ts';

export interface ShownHtmlOptions {
  /** whether pictures that lie elsewhere stay in it */
  hasRemoteImages: boolean;
  /** whether quoted mail may be folded */
  isFolded: boolean;
  /** data: URLs of the mail's own pictures, by contentIdKey */
  inlineImages: ReadonlyMap<string, string>;
  /** host names of this service (ownHostNames): whatever a mail links to there, on any port, is no picture */
  ownHosts: ReadonlySet<string>;
}

export interface ShownHtml {
  html: string;
  /** pictures that lie elsewhere and would be seen, whether they were left in or not */
  remoteImageCount: number;
  /** pictures that nobody sees, which only tell that the mail was opened; never left in */
  trackingPixelCount: number;
}

/** Characters of data: URLs in one document, each counted as often as it is shown. */
export const MAX_INLINE_IMAGE_LENGTH = 8_000_000;
/** Of an address; longer ones are no picture and no link. */
const MAX_URL_LENGTH = 8_000;

/**
 * The HTML of a mail as it may be shown: sanitised, links and pictures by whole addresses only, the mail's own pictures put in, those that
 * lie elsewhere left in or out, quoted mail folded. Null when it is too large or too deeply nested to be sanitised.
 */
export function showHtml(html: string, options: ShownHtmlOptions): ShownHtml | null {
  const sanitized = sanitizeHtmlForDisplay(html);
  if (sanitized === null) return null;
  const tags = readTags(sanitized);
  const quoted = options.isFolded ? findQuotedPart(sanitized, tags) : null;
  const edits: Edit[] = [];
  if (quoted !== null) {
    edits.push({ start: quoted.start, end: quoted.start, text: FOLD });
    edits.push({ start: quoted.end, end: quoted.end, text: FOLD_END });
  }
  const counts: Counts = { remoteImageCount: 0, trackingPixelCount: 0, inlineLength: 0 };
  for (const { start, end, name, isEnd } of tags) {
    if (isEnd) continue;
    const tag = sanitized.slice(start, end);
    const text = rewriteTag(name, tag, options, counts);
    if (text !== tag) edits.push({ start, end, text });
  }
  const { remoteImageCount, trackingPixelCount } = counts;
  return { html: applyEdits(sanitized, edits), remoteImageCount, trackingPixelCount };
}

/** What stands around quoted mail that is folded away until somebody asks for it; no program is needed for that. */
export const FOLD = '<details class="quoted"><summary>Quoted text</summary>';
export const FOLD_END = '</details>';

interface Edit {
  start: number;
  end: number;
  text: string;
}

interface Counts {
  remoteImageCount: number;
  trackingPixelCount: number;
  inlineLength: number;
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  // Of two at one place the first was made first.
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

function rewriteTag(name: string, tag: string, options: ShownHtmlOptions, counts: Counts): string {
  const isLink = name === 'a';
  const isImage = name === 'img';
  if (!isLink && !isImage && !tag.includes(' data-')) return tag;
  const attributes = readAttributes(tag);
  const background = attributes.get('data-background');
  attributes.delete('data-quoted');
  attributes.delete('data-background');
  if (background !== undefined && BACKED.has(name)) showBackground(attributes, background, options, counts);
  if (isImage && !showImage(attributes, options, counts)) return '';
  // Without an address of its own it would lead into our pages.
  if (isLink && !isWholeAddress(attributes.get('href') ?? '')) attributes.delete('href');
  return writeTag(name, attributes);
}

/** Elements that have a background by attribute. */
const BACKED = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th']);

function isWholeAddress(href: string): boolean {
  if (href.length > MAX_URL_LENGTH) return false;
  return /^(?:mailto|tel):/i.test(href) || (/^https?:\/\//i.test(href) && URL.canParse(href));
}

/** False: nothing of it may be shown. */
function showImage(attributes: Map<string, string>, options: ShownHtmlOptions, counts: Counts): boolean {
  const source = (attributes.get('src') ?? '').trim();
  if (/^data:/i.test(source)) return true;
  if (isPixel(attributes)) {
    if (!/^cid:/i.test(source)) counts.trackingPixelCount++;
    return false;
  }
  attributes.delete('src');
  if (/^cid:/i.test(source)) {
    const inline = options.inlineImages.get(contentIdKey(source));
    if (inline === undefined || counts.inlineLength + inline.length > MAX_INLINE_IMAGE_LENGTH) return true;
    counts.inlineLength += inline.length;
    attributes.set('src', inline);
    return true;
  }
  const remote = remoteUrl(source, options);
  if (remote === null) return true;
  counts.remoteImageCount++;
  if (options.hasRemoteImages) attributes.set('src', remote);
  return true;
}

/** As an attribute: pictures of style attributes are asked for with the address of our page in Referer, whatever the policy (seen: Chromium 156). */
function showBackground(
  attributes: Map<string, string>,
  background: string,
  options: ShownHtmlOptions,
  counts: Counts,
): void {
  const remote = remoteUrl(background, options);
  if (remote === null) return;
  counts.remoteImageCount++;
  if (options.hasRemoteImages) attributes.set('background', remote);
}

/** The address of a picture on a public server, as the URL standard writes it; null when it is no such address. */
function remoteUrl(written: string, { ownHosts }: ShownHtmlOptions): string | null {
  if (written.length > MAX_URL_LENGTH || !/^https?:\/\//i.test(written)) return null;
  const url = URL.parse(written);
  if (url === null || !isRemoteImageHost(url, ownHosts) || url.username !== '' || url.password !== '') return null;
  return url.href;
}

/** Of one pixel or less, or not shown at all. */
function isPixel(attributes: ReadonlyMap<string, string>): boolean {
  const style = attributes.get('style') ?? '';
  if (/(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0*)?\s*(?:;|$|!))/i.test(style))
    return true;
  const width = lengthOf('width', attributes, style);
  const height = lengthOf('height', attributes, style);
  return (
    (width !== null && width <= 1 && (height === null || height <= 1)) ||
    (height !== null && height <= 1 && width === null)
  );
}

/** In pixels; null when it is not told in pixels. */
function lengthOf(side: 'width' | 'height', attributes: ReadonlyMap<string, string>, style: string): number | null {
  const declared = new RegExp(`(?:^|;)\\s*${side}\\s*:\\s*(\\d{1,5}(?:\\.\\d{1,5})?)(?:px)?\\s*(?:;|!|$)`, 'i').exec(
    style,
  )?.[1];
  const text = declared ?? /^\s*(\d{1,5})\s*(?:px)?\s*$/i.exec(attributes.get(side) ?? '')?.[1];
  return text === undefined ? null : Number(text);
}
