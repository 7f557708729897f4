import { isPublicAddress } from '../shared/network-address.ts';
import type { LayoutMode } from './read-mail-tree.ts';
import { sanitizeForDisplay } from './sanitize-for-display.ts';

interface ShownHtmlOptions {
  /** whether remote images are kept */
  hasRemoteImages: boolean;
  /** whether quoted mail may be collapsed */
  isFolded: boolean;
  /** data: URLs of the message's inline images, by contentIdKey */
  inlineImages: ReadonlyMap<string, string>;
  /** host names of this service (ownHostNames): images are never loaded from them, on any port */
  ownHosts: ReadonlySet<string>;
}

export interface ShownHtml {
  /** the content of the body */
  html: string;
  /** its style sheets; contains no `<` */
  styleSheet: string;
  /** attributes of the elements html and body, each after a space */
  rootAttributes: string;
  bodyAttributes: string;
  mode: LayoutMode;
  /** see DisplayHtml */
  isDesigned: boolean;
  /** visible remote images, whether they were kept or removed */
  remoteImageCount: number;
  /** invisible images that only report that the mail was opened; always removed */
  trackingPixelCount: number;
}

/** Maximum characters of data: URLs in a document, counting repetitions. */
export const MAX_INLINE_IMAGE_LENGTH = 8_000_000;
/** Maximum characters of a URL; longer ones are dropped. */
const MAX_URL_LENGTH = 8_000;

/**
 * Returns HTML of a message that is safe to show: sanitized, only absolute URLs, inline images inserted, remote images kept or removed,
 * quoted mail collapsed. Null when it is too large or too deeply nested to sanitize.
 */
export function showHtml(html: string, options: ShownHtmlOptions): ShownHtml | null {
  const display = sanitizeForDisplay(html);
  if (display === null) return null;
  const { html: sanitized, styleSheet, mode, isDesigned } = display;
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
  const rootAttributes = writeFrame(display.root, options, counts);
  const bodyAttributes = writeFrame(display.body, options, counts);
  const { remoteImageCount, trackingPixelCount } = counts;
  return {
    html: applyEdits(sanitized, edits),
    styleSheet,
    rootAttributes,
    bodyAttributes,
    mode,
    isDesigned,
    remoteImageCount,
    trackingPixelCount,
  };
}

/** Markup around collapsed quoted mail; it needs no script. */
export const FOLD = '<details class="postroom-quoted"><summary>Quoted text</summary>';
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
  // The sort is stable: of two edits at the same position the first one made stays first.
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Returns the attributes of html or body as they are written in a tag. */
function writeFrame(written: Readonly<Record<string, string>>, options: ShownHtmlOptions, counts: Counts): string {
  const attributes = new Map(Object.entries(written));
  const background = attributes.get('data-background');
  attributes.delete('data-background');
  if (background !== undefined) showBackground(attributes, background, options, counts);
  return writeAttributes(attributes);
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
  if (isImage) showImage(attributes, options, counts);
  if (isImage && !attributes.has('src')) markBlocked(attributes);
  // Screen readers would read out the address of an image without words.
  if (isImage && !attributes.has('alt') && !attributes.has('title')) attributes.set('role', 'none');
  // A relative URL would point to our own pages.
  if (isLink && !isWholeAddress(attributes.get('href') ?? '')) attributes.delete('href');
  return writeTag(name, attributes);
}

/** Elements with a background attribute. */
const BACKED = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th']);

function isWholeAddress(href: string): boolean {
  if (href.length > MAX_URL_LENGTH) return false;
  return /^(?:mailto|tel):/i.test(href) || (/^https?:\/\//i.test(href) && URL.canParse(href));
}

/** Removes the address of an image that must not be loaded. */
function showImage(attributes: Map<string, string>, options: ShownHtmlOptions, counts: Counts): void {
  const source = (attributes.get('src') ?? '').trim();
  if (/^data:/i.test(source)) return;
  attributes.delete('src');
  const isInline = /^cid:/i.test(source);
  if (isPixel(attributes)) {
    if (!isInline) counts.trackingPixelCount++;
  } else if (isInline) {
    const inline = options.inlineImages.get(contentIdKey(source));
    if (inline === undefined || counts.inlineLength + inline.length > MAX_INLINE_IMAGE_LENGTH) return;
    counts.inlineLength += inline.length;
    attributes.set('src', inline);
  } else {
    const remote = remoteUrl(source, options);
    if (remote === null) return;
    counts.remoteImageCount++;
    if (options.hasRemoteImages) attributes.set('src', remote);
  }
}

/** Smallest side of an image that is drawn as a box when it is not loaded; smaller ones are spacers and lines. Pixels. */
const MIN_BOX = 20;

/** Gives an image that is not loaded its place: its size, its alternative text and a neutral box. */
function markBlocked(attributes: Map<string, string>): void {
  const style = attributes.get('style') ?? '';
  const sides = [readLength('width', attributes, style), readLength('height', attributes, style)];
  const isSpacer = sides.some((side) => side !== null && side < MIN_BOX);
  const names = attributes.get('class');
  if (!isSpacer) attributes.set('class', names === undefined ? BLOCKED : `${names} ${BLOCKED}`);
  // Browsers leave no room for an image without an address.
  attributes.set('src', NO_IMAGE);
}

/** An image that no browser shows. */
const NO_IMAGE = 'data:,';

/** Class of images that are not loaded. */
const BLOCKED = 'postroom-blocked';

/**
 * Uses an attribute: images in style attributes are requested with our page's address in Referer, whatever the policy (seen: Chromium
 * 156).
 */
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

/** Returns the URL of an image on a public server in the form of the URL standard; null for any other URL. */
function remoteUrl(written: string, { ownHosts }: ShownHtmlOptions): string | null {
  if (written.length > MAX_URL_LENGTH || !/^https?:\/\//i.test(written)) return null;
  const url = URL.parse(written);
  if (url === null || !isRemoteImageHost(url, ownHosts) || url.username !== '' || url.password !== '') return null;
  return url.href;
}

/** Returns whether an image has at most one pixel, or is hidden. */
function isPixel(attributes: ReadonlyMap<string, string>): boolean {
  const style = attributes.get('style') ?? '';
  if (/(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0*)?\s*(?:;|$|!))/i.test(style))
    return true;
  const width = readLength('width', attributes, style);
  const height = readLength('height', attributes, style);
  return (
    (width !== null && width <= 1 && (height === null || height <= 1)) ||
    (height !== null && height <= 1 && width === null)
  );
}

/** In pixels; null when it is not given in pixels. */
function readLength(side: 'width' | 'height', attributes: ReadonlyMap<string, string>, style: string): number | null {
  const declared = new RegExp(`(?:^|;)\\s*${side}\\s*:\\s*(\\d{1,5}(?:\\.\\d{1,5})?)(?:px)?\\s*(?:;|!|$)`, 'i').exec(
    style,
  )?.[1];
  const text = declared ?? /^\s*(\d{1,5})\s*(?:px)?\s*$/i.exec(attributes.get(side) ?? '')?.[1];
  return text === undefined ? null : Number(text);
}

/** A range of sanitized HTML; the end is exclusive. */
interface MarkupRange {
  start: number;
  end: number;
}

/**
 * Returns the quoted mail in HTML of sanitizeForDisplay if it may be collapsed: one part (or several with nothing between them) after
 * text of the author. Null otherwise: in a reply between the lines the quotes are needed, and a message that only quotes has nothing else
 * to show.
 */
function findQuotedPart(html: string, tags: readonly MarkupTag[]): MarkupRange | null {
  if (!html.includes(' data-quoted="')) return null;
  const elements = readElements(html, tags);
  if (elements === null) return null;
  const parts: Part[] = [];
  for (const element of elements) {
    const last = parts.at(-1);
    const mark = /^[^<>]* data-quoted="(\w+)"/.exec(html.slice(element.start + 1, element.startEnd))?.[1];
    if (mark === undefined || (last !== undefined && element.start < last.end)) continue;
    const part = mark === 'inside' ? element : onwards(html, element);
    if (part.parent !== null && TABLE_PARTS.has(part.parent.name)) return null;
    if (last !== undefined && last.parent === part.parent && !isSeen(html.slice(last.end, part.start)))
      last.end = part.end;
    else if (last !== undefined) return null;
    else parts.push({ start: part.start, end: part.end, parent: part.parent });
  }
  const [part] = parts;
  if (part === undefined || !isSeen(html.slice(0, part.start))) return null;
  return { start: part.start, end: part.end };
}

interface Element extends MarkupRange {
  name: string;
  /** the end of its start tag */
  startEnd: number;
  parent: Element | null;
}
type Part = MarkupRange & Pick<Element, 'parent'>;

/** Browsers would move a `details` element out of these. */
const TABLE_PARTS = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'colgroup', 'ul', 'ol', 'dl']);

/** Returns the elements in the order of their start tags; null when they are not properly nested. */
function readElements(html: string, tags: readonly MarkupTag[]): Element[] | null {
  const elements: Element[] = [];
  const open: Element[] = [];
  for (const { name, start, end, isEnd } of tags) {
    if (VOID_ELEMENTS.has(name) && !isEnd) {
      elements.push({ name, start, end, startEnd: end, parent: open.at(-1) ?? null });
    } else if (!isEnd) {
      const element = { name, start, end: html.length, startEnd: end, parent: open.at(-1) ?? null };
      elements.push(element);
      open.push(element);
    } else {
      const closed = open.pop();
      if (closed?.name !== name) return null;
      closed.end = end;
    }
  }
  return open.length === 0 ? elements : null;
}

/** Outlook wraps the line above quoted mail in two elements. */
const MAX_STEPS_OUT = 10;

/** Returns the range from the element to the end of its container, extended outward while nothing visible precedes it. */
function onwards(html: string, element: Element): Part {
  let first = element;
  for (let step = 0; step < MAX_STEPS_OUT && first.parent !== null; step++) {
    if (isSeen(html.slice(first.parent.startEnd, first.start))) break;
    first = first.parent;
  }
  const end = first.parent === null ? html.length : html.lastIndexOf('</', first.parent.end);
  return { start: first.start, end, parent: first.parent };
}

function isSeen(html: string): boolean {
  return html.includes('<img') || /[^\s\u00a0\u200b]/.test(html.replace(/<[^<>]*>|&nbsp;/g, ''));
}

/**
 * Returns an image as a data: URL (RFC 2397). Its type is detected by its first bytes, not taken from the message; null for an image that
 * browsers do not show.
 */
export function imageDataUrl(bytes: Uint8Array): string | null {
  const type = detectImageType(bytes);
  if (type === null) return null;
  const { buffer, byteOffset, byteLength } = bytes;
  return `data:${type};base64,${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`;
}

/** Returns the type of an image by its first bytes; null for anything but an image that browsers show and that cannot contain scripts. */
export function detectImageType(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 32)).toString('latin1');
  return SIGNATURES.find(([signature]) => signature.test(head))?.[1] ?? null;
}

/** Returns the key of an inline image: the text after `cid:` (RFC 2392 §2), or a Content-ID. */
export function contentIdKey(written: string): string {
  const id = written.trim().replace(/^cid:/i, '').replace(/^<|>$/g, '');
  try {
    return decodeURIComponent(id).toLowerCase();
  } catch {
    return id.toLowerCase();
  }
}

/** Image types that cannot contain scripts. */
const SIGNATURES: readonly [RegExp, string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is how they begin
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^BM.{4}\0{4}/s, 'image/bmp'],
  [/^.{4}ftypavi[fs]/s, 'image/avif'],
];

/** Names with a different meaning on every network: RFC 6761, RFC 6762, RFC 8375, and ICANN's 2024 resolution on `.internal`. */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa'];

/**
 * Returns whether mail may load images from the host of a parsed URL, judged by its name. Not permitted: private IP addresses in any
 * notation, names of the reader's machine or network, hosts of MTA-STS policies, and the service's own hosts.
 */
function isRemoteImageHost({ hostname }: URL, ownHosts: ReadonlySet<string>): boolean {
  // The URL parser has normalized every notation of IPv4 to four decimal numbers, and names to lower case.
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1));
  if (/^\d+(?:\.\d+){3}$/.test(hostname)) return !ownHosts.has(hostname) && isPublicAddress(hostname);
  const name = hostname.replace(/\.$/, '');
  if (!name.includes('.') || ownHosts.has(name) || name.startsWith('mta-sts.')) return false;
  return !LOCAL_NAMES.some((local) => name === local || name.endsWith(`.${local}`));
}

/** Returns the host names of `host[:port]`, host names and URLs, in the form that isRemoteImageHost compares. */
export function ownHostNames(hosts: readonly string[]): Set<string> {
  const names = hosts.map((host) => URL.parse(host.includes('://') ? host : `http://${host}`)?.hostname);
  return new Set(names.flatMap((name) => (name === undefined ? [] : [name.replace(/\.$/, '')])));
}

/** A tag in sanitized HTML, with its position. */
interface MarkupTag {
  start: number;
  /** the index after its `>` */
  end: number;
  /** lower case */
  name: string;
  isEnd: boolean;
}

/** Elements without end tags. */
const VOID_ELEMENTS: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'col', 'wbr', 'area']);

/**
 * Returns the tags of HTML from sanitize-html. It escapes every `<`, `>`, `&` and `"` outside markup, so everything that looks like a tag
 * is one. Not for other HTML.
 */
function readTags(sanitized: string): MarkupTag[] {
  const tags: MarkupTag[] = [];
  for (const match of sanitized.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:[ /][^<>]*)?>/g)) {
    const [whole, slash, name = ''] = match;
    tags.push({ start: match.index, end: match.index + whole.length, name, isEnd: slash === '/' });
  }
  return tags;
}

/** Parses the attributes of a start tag from sanitize-html and decodes references. */
function readAttributes(tag: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', value = ''] of tag.matchAll(/ ([a-z-]+)="([^"]*)"/g)) attributes.set(name, unescaped(value));
  return attributes;
}

/** Writes a start tag with these attributes. */
function writeTag(name: string, attributes: ReadonlyMap<string, string>): string {
  return `<${name}${writeAttributes(attributes)}${VOID_ELEMENTS.has(name) ? ' /' : ''}>`;
}

function writeAttributes(attributes: ReadonlyMap<string, string>): string {
  return [...attributes].map(([key, value]) => ` ${key}="${escapeText(value)}"`).join('');
}

/** Escapes text for HTML, between tags and in quoted attributes. */
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
