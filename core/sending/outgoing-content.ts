import { readStrictly, type StrictField, type StrictMessage, type StrictPart } from '../mime/strict-parts.ts';
import { findEncodedFile } from './encoded-files.ts';
import { findHtmlReferences, type HtmlReferences } from './html-links.ts';
import { findExplicitLink, findTextLink, MAX_SEARCHED_LENGTH, shownLink, type TopLevelDomains } from './text-links.ts';

/** Something in a message, and where. */
export interface Finding {
  /** `https://shop.example`, `report.pdf`, or a problem */
  what: string;
  /** continues "in": `its subject`, `part 2 (text/plain)` */
  where: string;
  /** the field of a send request in which it is */
  field: 'subject' | 'text' | 'html' | 'headers' | 'attachments' | 'from' | 'to' | 'cc' | 'reply_to';
}

/** What the content of a message has, as far as send policies ask; null: nothing of the kind. */
export interface OutgoingContent {
  link: Finding | null;
  file: Finding | null;
  /** what mail programs may read in different ways, so that neither can be found */
  doubt: Finding | null;
}

/** `hasOwnUnsubscribe`: whether the service itself wrote the field List-Unsubscribe. */
export interface ContentQuestion {
  topLevel: TopLevelDomains;
  hasOwnUnsubscribe: boolean;
}

/**
 * Finds links and files in a message as it is sent: in all fields that a mail program shows or follows, and in every text part, whatever its
 * type and disposition. Takes linear time.
 */
export function checkOutgoingContent(bytes: Buffer, question: ContentQuestion): OutgoingContent {
  const message = readStrictly(bytes);
  const html = new Map(
    message.parts.flatMap((part): [StrictPart, HtmlReferences][] =>
      part.text !== null && isHtml(part) ? [[part, findHtmlReferences(part.text, question.topLevel)]] : [],
    ),
  );
  const link =
    findInFields(message.fields, null, question) ??
    findFirst(message.parts, (part) => findInPart(part, html.get(part) ?? null, message, question)) ??
    findFirst(message.inner, ({ path, fields }) => findInFields(fields, path, question)) ??
    findFirst(message.stray, (text) => finding(findTextLink(text, question.topLevel), STRAY, 'text'));
  return { link, file: findFile(message, html), doubt: findDoubt(message, html) };
}

const STRAY = 'its text outside the parts';

function findFirst<Item>(items: readonly Item[], find: (item: Item) => Finding | null): Finding | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

function finding(what: string | null, where: string, field: Finding['field']): Finding | null {
  return what === null ? null : { what, where, field };
}

/** Fields whose text mail programs show as they show a subject. */
const SHOWN: ReadonlySet<string> = new Set(
  'subject comments keywords organization thread-topic content-description x-mailer user-agent'.split(' '),
);
const ADDRESSES: ReadonlySet<string> = new Set(
  'from sender to cc bcc reply-to mail-followup-to mail-reply-to resent-from resent-to resent-cc resent-sender disposition-notification-to return-receipt-to errors-to'.split(
    ' ',
  ),
);
/** Fields of host names and ids that no mail program shows as text. */
const TECHNICAL =
  /^(?:received|return-path|dkim-signature|arc-.*|authentication-results|message-id|in-reply-to|references|feedback-id|content-(?:id|type|transfer-encoding|disposition|location|base)|mime-version|date|x-originating-ip|thread-index|autocrypt)$/;
/** Addresses that other ones are relative to, or at which a part is. */
const BASES: ReadonlySet<string> = new Set(['content-location', 'content-base']);

function findInFields(
  fields: readonly StrictField[],
  path: string | null,
  { topLevel, hasOwnUnsubscribe }: ContentQuestion,
): Finding | null {
  const within = path === null ? '' : ` of part ${path}`;
  return findFirst(fields, ({ name: written, value }) => {
    const name = written.toLowerCase();
    if (hasOwnUnsubscribe && path === null && name === 'list-unsubscribe') return null;
    const where = name === 'subject' ? `its subject${within}` : `its field ${written}${within}`;
    const field = FIELDS[name] ?? 'headers';
    if (ADDRESSES.has(name)) return finding(findTextLink(namesIn(value), topLevel), where, field);
    if (SHOWN.has(name)) return finding(findTextLink(value, topLevel), where, field);
    if (BASES.has(name)) return finding(value === '' || /^cid:/i.test(value) ? null : shownLink(value), where, field);
    if (TECHNICAL.test(name)) return null;
    // Mail programs show the name before the id (RFC 2919), which looks like a host name.
    if (name === 'list-id') return finding(findTextLink(value.replace(/<[^<>]*>/g, ''), topLevel), where, field);
    const button = name.startsWith('list-') ? findMailtoButton(value) : null;
    return finding(button ?? findTextLink(value, topLevel), where, field);
  });
}

const FIELDS: Readonly<Record<string, Finding['field']>> = {
  subject: 'subject',
  from: 'from',
  to: 'to',
  cc: 'cc',
  'reply-to': 'reply_to',
};

/** Mail programs make a button of the fields of lists (RFC 2369), also of lists that write mail. */
function findMailtoButton(value: string): string | null {
  return /<\s*(mailto:[^>]*)/i.exec(value)?.[1] ?? null;
}

/** The names and comments of an address field. Names can have angle brackets, too. */
function namesIn(value: string): string {
  return value.replace(/<(?:"[^"<>]*"|[^<>@"\s:/]+)@(?:\[[^\]<>]*\]|[^<>\s:/]+)>/g, '\n');
}

/** Types that are read as HTML. */
const HTML = /^(?:text\/(?:html|x-amp-html|x-web-html|watch-html)|application\/xhtml\+xml|image\/svg\+xml)$/;
/** Types whose text is what a person or a program reads. */
const TEXT =
  /^(?:text\/(?:plain|enriched|richtext|calendar|x-vcalendar|vcard|x-vcard|directory|markdown|x-markdown|csv|tab-separated-values|css|xml|rfc822-headers|x-patch|x-diff|x-log|vnd\.[\w.+-]+|x-[a-z]+)|application\/(?:ics|xml|json|ld\+json)|message\/(?:delivery-status|disposition-notification|feedback-report|global-delivery-status))$/;
/** Content that mail programs show, but that is not searched. */
const UNSEARCHED =
  /^(?:text\/.*|application\/(?:(?:vnd\.)?ms-tnef|(?:x-)?pkcs7-mime|pgp|pgp-encrypted)|message\/(?!rfc822$|global$).*)$/;

function isHtml({ contentType }: StrictPart): boolean {
  return HTML.test(contentType);
}

function describePart({ path, contentType }: Pick<StrictPart, 'path' | 'contentType'>): string {
  return `part ${path} (${contentType})`;
}

/** `html` and `text` are the fields of a request whose parts they become. */
function toField(part: StrictPart): Finding['field'] {
  if (isFile(part)) return 'attachments';
  return part.contentType === 'text/html' ? 'html' : 'text';
}

function findInPart(
  part: StrictPart,
  html: HtmlReferences | null,
  message: StrictMessage,
  question: ContentQuestion,
): Finding | null {
  const { contentType, names, fields } = part;
  const where = describePart(part);
  const field = toField(part);
  if (contentType === 'message/external-body' || contentType === 'text/uri-list')
    return { what: `content of the type ${contentType}`, where, field };
  for (const name of names) {
    const named = findExplicitLink(name);
    if (named !== null) return { what: named, where: `the name of ${where}`, field };
  }
  const inFields = fields === message.fields ? null : findInFields(fields, part.path, question);
  if (inFields !== null || part.text === null) return inFields;
  return finding(html === null ? findInText(part, part.text, question.topLevel) : html.link, where, field);
}

function findInText(part: StrictPart, text: string, topLevel: TopLevelDomains): string | null {
  if (text.length > MAX_SEARCHED_LENGTH) return 'more text than can be searched for links';
  const forms = new Set(textForms(part, text));
  const shown = firstLink(forms, topLevel);
  if (shown !== null || part.contentType === 'text/plain') return shown;
  // Markdown, enriched text, calendars and so on can have elements of HTML.
  for (const form of forms) {
    const link = /<[a-z!?/]/i.test(form) ? findHtmlReferences(form, topLevel).link : null;
    if (link !== null) return link;
  }
  return null;
}

function firstLink(forms: Iterable<string>, topLevel: TopLevelDomains): string | null {
  for (const form of forms) {
    const link = findTextLink(form, topLevel);
    if (link !== null) return link;
  }
  return null;
}

/** The text, and as a program reads it that joins lines or resolves escapes. */
function textForms({ contentType, joinsLines }: StrictPart, text: string): string[] {
  if (joinsLines) return [text, text.replace(/ \r?\n>* ?/g, '')];
  if (contentType === 'text/plain') return [text];
  const joined = text.replace(/\r?\n[ \t]/g, '');
  return [
    text,
    joined,
    joined.replace(/\\(?:n|N)/g, '\n').replace(/\\(.)/g, '$1'),
    ...(/^BEGIN:V(?:CARD|CALENDAR)/im.test(text) ? [decodeValues(text)] : []),
    ...(/^text\/(?:enriched|richtext)$/.test(contentType) ? [text.replace(/<[^<>]*>/g, '')] : []),
    ...(/json/.test(contentType)
      ? [
          text
            .replace(/\\u([0-9a-f]{4})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
            .replace(/\\(.)/g, '$1'),
        ]
      : []),
  ];
}

/** Returns a card or calendar with its encoded values as text: quoted-printable (vCard 2.1 §2.1.3), and base64 except for pictures, sounds and keys. */
function decodeValues(text: string): string {
  return text
    .replace(/=\r?\n/g, '')
    .replace(/\r?\n[ \t]+/g, '')
    .replace(
      /^(?!(?:[\w-]+\.)?(?:PHOTO|LOGO|SOUND|KEY)\b)([^:\r\n]{0,200};(?:ENCODING=)?(?:B|BASE64)(?:;[^:\r\n]{0,200})?:)([A-Z0-9+/=]*)/gim,
      (_all, name: string, value: string) => name + Buffer.from(value, 'base64').toString('utf8'),
    )
    .replace(/=([0-9A-F]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Every part that is not plain text or HTML to be shown is a file to most mail programs (RFC 2183 §2.8). */
function isFile({ contentType, disposition, filename }: StrictPart): boolean {
  if (filename !== null || (disposition !== null && disposition !== 'inline')) return true;
  return contentType !== 'text/plain' && contentType !== 'text/html';
}

function findFile(message: StrictMessage, html: ReadonlyMap<StrictPart, HtmlReferences>): Finding | null {
  const attached = message.parts.find(isFile);
  if (attached !== undefined)
    return {
      what: shownLink(attached.filename ?? attached.contentType),
      where: describePart(attached),
      field: 'attachments',
    };
  return (
    findFirst(message.parts, (part) => {
      const file = html.get(part)?.file ?? (part.text === null ? null : findEncodedFile(part.text));
      return finding(file, describePart(part), toField(part));
    }) ?? findFirst(message.stray, (text) => finding(findEncodedFile(text), STRAY, 'text'))
  );
}

function findDoubt(message: StrictMessage, html: ReadonlyMap<StrictPart, HtmlReferences>): Finding | null {
  const [ambiguity] = message.ambiguities;
  if (ambiguity !== undefined) {
    const { problem, path } = ambiguity;
    const part = message.parts.find((each) => each.path === path);
    const where = part !== undefined ? describePart(part) : path === null ? 'the message' : `part ${path}`;
    return { what: problem, where, field: part === undefined ? 'headers' : toField(part) };
  }
  return findFirst(message.parts, (part) => {
    const where = describePart(part);
    const problem = unreadable(part, html.get(part)?.charset ?? null);
    return problem === null ? null : { what: problem, where, field: toField(part) };
  });
}

/** `declared`: the charset that HTML states within itself. */
function unreadable({ contentType, text, names }: StrictPart, declared: string | null): string | null {
  if (names.some((name) => /^(?:winmail|win)\.dat$/i.test(name))) return 'it may be TNEF, which only Outlook reads';
  if (UNSEARCHED.test(contentType) && !TEXT.test(contentType) && !HTML.test(contentType))
    return `content of the type ${contentType} cannot be searched`;
  if (text === null) return null;
  if (/^-----BEGIN PGP MESSAGE-----/m.test(text)) return 'it has encrypted text';
  if (declared !== null && /^(?:utf-?(?:7|16|32)|unicode|iso-2022|hz-|ucs|x-user|ibm|cp037|ebcdic)/i.test(declared))
    return `its HTML states the charset ${shownLink(declared)}. Use UTF-8`;
  return null;
}
