import type { DefaultTreeAdapterTypes } from 'parse5';
import support from './client-support.json' with { type: 'json' };
import { createFeatureCounter, type FeatureUses, shortExample } from './mail-features.ts';
import { parseMailHtml } from './read-mail-tree.ts';

type Element = DefaultTreeAdapterTypes.Element;

/** Kinds of issues of a message. */
export const MAIL_ISSUES = ['broken_link', 'image_without_alt', 'too_large', 'unsupported_feature'] as const;

/** What recipients of a message may not see as its author meant it. */
export interface MailIssue {
  kind: (typeof MAIL_ISSUES)[number];
  /** an error breaks the message for its readers; a warning concerns some of them */
  severity: 'error' | 'warning';
  /** a phrase */
  title: string;
  /** one or two sentences */
  detail: string;
  /** how often it occurs */
  count: number;
  /** as written in the message, up to 5, each once */
  examples: string[];
  /** mail clients that lack the feature; empty for other kinds */
  unsupportedBy: string[];
  /** mail clients that support it in part */
  partlySupportedBy: string[];
  /** a page about the feature; null: none */
  url: string | null;
}

export interface MailChecks {
  /** size of the HTML body in bytes; null: the message has none */
  htmlSizeBytes: number | null;
  /** errors first, then what most mail clients lack */
  issues: MailIssue[];
  /** whether parts were too long to check */
  isPartial: boolean;
  /** date of the data on mail clients, `YYYY-MM-DD` */
  dataVersion: string;
}

/** Gmail shows only the first 102 KB of an HTML body, and a link to the rest. */
export const GMAIL_CLIP_BYTES = 102 * 1024;
/** Characters of HTML that are checked. */
export const MAX_CHECKED_HTML = 2_000_000;
const MAX_EXAMPLES = 5;
/** Unsupported features that are listed. */
const MAX_FEATURES = 100;

const FEATURES: ReadonlyMap<string, { title: string; none: number[]; partial: number[] }> = new Map(
  Object.entries(support.features),
);

/** What is checked: the HTML body of a message; null when it has none. */
export interface MailToCheck {
  html: string | null;
  /** of the whole body, when `html` is only its beginning; bytes */
  sizeBytes?: number;
}

/** Checks the HTML body of a message. Linear, never throws. */
export function checkMail(mail: MailToCheck): MailChecks {
  const { html } = mail;
  const sized = checkMailSize(mail);
  if (html === null || sized.htmlSizeBytes === null) return sized;
  const document = parseMailHtml(html.slice(0, MAX_CHECKED_HTML));
  if (document === null) return sized;
  const counter = createFeatureCounter(new Set(FEATURES.keys()));
  const found = new Map<string, MailIssue>();
  for (const element of elementsOf(document)) {
    counter.addElement(element);
    if (element.tagName === 'style') counter.addStyleSheet(readText(element));
    const issue = linkIssue(element) ?? imageIssue(element);
    if (issue !== null) addIssue(found, issue);
  }
  return {
    ...sized,
    issues: [...sized.issues, ...[...found.values()].toSorted(bySeverity), ...featureIssues(counter.uses)],
    isPartial: counter.isPartial() || html.length > MAX_CHECKED_HTML,
  };
}

/** Checks the size alone, for a body that is too complex for the other checks. */
export function checkMailSize({ html, sizeBytes }: MailToCheck): MailChecks {
  const isEmpty = html === null || html.trim() === '';
  const htmlSizeBytes = isEmpty ? null : (sizeBytes ?? Buffer.byteLength(html));
  return { htmlSizeBytes, issues: sizeIssue(htmlSizeBytes ?? 0), isPartial: !isEmpty, dataVersion: support.version };
}

/** Returns all elements that can be shown, in no particular order. Without recursion: mail nests deeply. */
function* elementsOf(document: DefaultTreeAdapterTypes.Document): Generator<Element> {
  const left: DefaultTreeAdapterTypes.ChildNode[] = document.childNodes.toReversed();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (!('tagName' in next)) continue;
    // The parser adds these to every document.
    if (!['html', 'head', 'body'].includes(next.tagName)) yield next;
    else if (next.tagName === 'body') yield { ...next, tagName: '' };
    for (let at = next.childNodes.length - 1; at >= 0; at--) {
      const child = next.childNodes[at];
      if (child !== undefined) left.push(child);
    }
  }
}

function readText({ childNodes }: Element): string {
  return childNodes.map((node) => ('value' in node ? node.value : '')).join('');
}

type Found = Pick<MailIssue, 'kind' | 'severity' | 'title' | 'detail'> & { example: string };

function addIssue(found: Map<string, MailIssue>, { example, ...issue }: Found): void {
  const key = `${issue.kind} ${issue.title}`;
  const before = found.get(key) ?? { ...issue, count: 0, examples: [], ...NO_CLIENTS };
  found.set(key, before);
  before.count++;
  const shown = shortExample(example);
  if (before.examples.length < MAX_EXAMPLES && !before.examples.includes(shown)) before.examples.push(shown);
}

const NO_CLIENTS = { unsupportedBy: [], partlySupportedBy: [], url: null };

function bySeverity(a: MailIssue, b: MailIssue): number {
  return a.severity.localeCompare(b.severity);
}

function sizeIssue(sizeBytes: number): MailIssue[] {
  if (sizeBytes <= GMAIL_CLIP_BYTES) return [];
  return [
    {
      kind: 'too_large',
      severity: 'error',
      title: 'HTML larger than 102 KB',
      detail: `The HTML has ${Math.ceil(sizeBytes / 1024)} KB. Gmail cuts it after 102 KB, and shows a link to the rest.`,
      count: 1,
      examples: [],
      ...NO_CLIENTS,
    },
  ];
}

function readAttribute({ attrs }: Element, name: string): string | null {
  return attrs.find((attribute) => attribute.name === name)?.value ?? null;
}

/** Schemes that mail clients open. */
const OPENED = /^(?:https?|mailto|tel|sms):/i;
const ADDRESS = /^[^\s@,]+@[^\s@,]+$/;

function linkIssue(element: Element): Found | null {
  if (element.tagName !== 'a' && element.tagName !== 'area') return null;
  const written = readAttribute(element, 'href');
  if (written === null) return null;
  const href = written.trim();
  const broken = (title: string, detail: string): Found => ({
    kind: 'broken_link',
    severity: 'error',
    title,
    detail,
    example: href === '' ? 'href=""' : href,
  });
  if (href === '' || href === '#') return broken('Link without a target', 'The link leads nowhere.');
  if (href.startsWith('#')) return null;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(href))
    return broken('Link without a scheme', 'In a message a link must be complete. Begin it with `https://`.');
  if (!OPENED.test(href))
    return broken(
      'Link that mail clients block',
      'Mail clients open only `https:`, `http:`, `mailto:`, `tel:` and `sms:`.',
    );
  if (/^mailto:/i.test(href)) {
    const addresses = mailtoAddresses(href);
    return addresses !== null && addresses.every((address) => ADDRESS.test(address))
      ? null
      : broken('Invalid mailto link', 'The link does not name a valid email address. Use `mailto:name@example.com`.');
  }
  return /^https?:/i.test(href) && !(/^https?:\/\/[^/?#\s]/i.test(href) && URL.canParse(href))
    ? broken('Link that cannot be parsed', 'The link is not a valid URL, so clicking it fails.')
    : null;
}

/** Returns the addresses of a mailto link (RFC 6068), which may be in its field `to`; null when it cannot be decoded. */
function mailtoAddresses(href: string): string[] | null {
  const [path = '', query = ''] = href.slice('mailto:'.length).split('?');
  try {
    const listed = [path, ...new URLSearchParams(query).getAll('to').map(encodeURIComponent)];
    const addresses = listed.flatMap((list) => list.split(/,|%2C/i)).map((one) => decodeURIComponent(one).trim());
    const named = addresses.filter((address) => address !== '');
    // Without an address, as in "share by mail", the reader chooses one; that needs a subject or a body.
    return named.length === 0 && query === '' ? null : named;
  } catch {
    return null;
  }
}

function imageIssue(element: Element): Found | null {
  if (element.tagName !== 'img' || readAttribute(element, 'alt') !== null) return null;
  const isTiny = ['width', 'height'].some((side) => /^[01](?:px)?$/.test((readAttribute(element, side) ?? '').trim()));
  if (isTiny) return null;
  return {
    kind: 'image_without_alt',
    severity: 'warning',
    title: 'Image without alternative text',
    detail:
      'Many mail clients block images, and screen readers read the text. Add `alt`, which is empty for an image without meaning.',
    example: readAttribute(element, 'src') ?? '<img>',
  };
}

function featureIssues(uses: FeatureUses): MailIssue[] {
  const issues = [...uses].map(([name, { count, examples }]): MailIssue => {
    const { title = name, none = [], partial = [] } = FEATURES.get(name) ?? {};
    const unsupportedBy = none.map(clientName);
    return {
      kind: 'unsupported_feature',
      severity: 'warning',
      title,
      detail: `${unsupportedBy.length} of ${support.clients.length} mail clients do not support it.`,
      count,
      examples,
      unsupportedBy,
      partlySupportedBy: partial.map(clientName),
      url: `https://www.caniemail.com/features/${name}/`,
    };
  });
  return issues
    .toSorted((a, b) => b.unsupportedBy.length - a.unsupportedBy.length || b.count - a.count)
    .slice(0, MAX_FEATURES);
}

function clientName(index: number): string {
  return support.clients[index] ?? '';
}
