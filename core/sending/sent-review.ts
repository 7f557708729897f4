import libmime from 'libmime';
import { parseAddressList } from '../mime/address.ts';
import { readStrictly, type StrictField, type StrictMessage, type StrictPart } from '../mime/strict-parts.ts';
import { findEncodedFile } from './encoded-files.ts';
import { findHtmlReferences } from './html-links.ts';
import { addHtmlText } from './unseen-html.ts';
import { addPlainText, PieceList, type ReviewPiece } from './unseen-text.ts';

/** What a person should look at before an email leaves. */
export const REVIEW_NOTES = [
  'reply_address',
  'other_address',
  'hidden_recipients',
  'own_field',
  'unsubscribe',
  'text_differs',
  'file_type',
  'file_in_text',
  'remote_content',
  'stray_text',
  'ambiguous',
  'not_shown',
] as const;

/** Something to look at, and where. */
interface ReviewNote {
  kind: (typeof REVIEW_NOTES)[number];
  /** `part 2`, `Reply-To` */
  where: string;
  detail: string;
}

/** A field of the header section. */
interface ReviewField {
  name: string;
  /** unfolded and decoded */
  value: string;
}

/** A part of a message as it is sent. */
interface ReviewPart {
  /** as in IMAP: `1`, `2.1`; null: text outside the parts */
  path: string | null;
  contentType: string;
  disposition: string | null;
  filename: string | null;
  sizeBytes: number;
  /** its decoded text, HTML as source; null: it is no text */
  source: string | null;
  /** all text that it has, in order; for HTML without its tags */
  pieces: readonly ReviewPiece[];
  /** whether source or pieces are cut */
  isTruncated: boolean;
}

/** A message as it is sent, for the person who approves it. */
export interface SentReview {
  fields: readonly ReviewField[];
  parts: readonly ReviewPart[];
  notes: readonly ReviewNote[];
  /** whether fields, parts or notes are missing, or texts are cut */
  isTruncated: boolean;
}

const MAX_FIELDS = 200;
const MAX_VALUE_LENGTH = 4_000;
const MAX_SHOWN_PARTS = 100;
const MAX_NOTES = 200;
/** Characters of the sources of all parts, and of all their pieces. */
const MAX_SOURCE_LENGTH = 400_000;
const MAX_PIECES_LENGTH = 400_000;

/** Reads a message as it is sent: every field and part, with what readers do not see. `bcc`: recipients that no field names. */
export function reviewMessage(bytes: Buffer, bcc: readonly string[]): SentReview {
  const message = readStrictly(bytes);
  let [sourceRoom, piecesRoom] = [MAX_SOURCE_LENGTH, MAX_PIECES_LENGTH];
  const parts = message.parts.slice(0, MAX_SHOWN_PARTS).map((part) => {
    const reviewed = reviewPart(part, message, sourceRoom, piecesRoom);
    sourceRoom -= reviewed.source?.length ?? 0;
    piecesRoom -= reviewed.pieces.reduce((sum, { text }) => sum + text.length, 0);
    return reviewed;
  });
  const notes = [
    ...(bcc.length === 0 ? [] : [note('hidden_recipients', 'Bcc', `also sent to ${listed(bcc)}, whom no field names`)]),
    ...notesOnFields(message.fields),
    ...message.inner.flatMap(({ path, fields }) =>
      notesOnFields(fields).map((each) => ({ ...each, where: `${each.where} of part ${path}` })),
    ),
    ...message.ambiguities.map(({ problem, path }) =>
      note('ambiguous', path === null ? 'message' : `part ${path}`, problem),
    ),
    ...notesOnTexts(message),
    ...message.parts.flatMap((part) => notesOnPart(part, message)),
    ...message.stray.flatMap((text) =>
      isUsualPreamble(text) ? [] : [note('stray_text', 'outside the parts', 'text that only old programs show')],
    ),
  ];
  const stray = message.stray
    .filter((text) => !isUsualPreamble(text))
    .slice(0, 4)
    .map(reviewStray);
  const shown = [...parts, ...stray];
  return {
    fields: message.fields
      .slice(0, MAX_FIELDS)
      .map(({ name, value }) => ({ name, value: value.slice(0, MAX_VALUE_LENGTH).toWellFormed() })),
    parts: shown,
    notes: notes.slice(0, MAX_NOTES),
    isTruncated:
      message.fields.length > MAX_FIELDS ||
      message.parts.length > MAX_SHOWN_PARTS ||
      notes.length > MAX_NOTES ||
      message.fields.some(({ value }) => value.length > MAX_VALUE_LENGTH) ||
      shown.some((part) => part.isTruncated),
  };
}

function note(kind: ReviewNote['kind'], where: string, detail: string): ReviewNote {
  return {
    kind,
    where,
    detail: detail.length > MAX_DETAIL_LENGTH ? `${detail.slice(0, MAX_DETAIL_LENGTH).toWellFormed()}…` : detail,
  };
}

const MAX_DETAIL_LENGTH = 500;
const MAX_LISTED = 10;

function listed(items: readonly string[]): string {
  const more = items.length - MAX_LISTED;
  return `${items.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const HTML = /^(?:text\/(?:html|x-amp-html|x-web-html|watch-html)|application\/xhtml\+xml|image\/svg\+xml)$/;

function reviewPart(part: StrictPart, { inner }: StrictMessage, sourceRoom: number, piecesRoom: number): ReviewPart {
  const { path, contentType, disposition, filename, content, text } = part;
  const list = new PieceList(piecesRoom);
  // The fields of a message within it, which programs show above its text.
  for (const { name, value } of inner.find((each) => each.path === path)?.fields ?? [])
    list.add(`${name}: ${value}\n`, null);
  if (text !== null && !(HTML.test(contentType) && addHtmlText(text, list))) addText(part, text, list);
  const source = text === null ? null : text.slice(0, Math.max(0, sourceRoom)).toWellFormed();
  const isTruncated = list.isTruncated || (source !== null && source.length < (text?.length ?? 0));
  return {
    path,
    contentType,
    disposition,
    filename,
    sizeBytes: content.length,
    source,
    pieces: list.finish(),
    isTruncated,
  };
}

function addText({ contentType }: StrictPart, text: string, list: PieceList): void {
  if (contentType === 'text/plain') addPlainText(text, list);
  else if (FOLDING.test(contentType)) list.add(text.replace(/\r?\n[ \t]/g, ''), null);
  else list.add(text, null);
}

/** Types whose lines go on in lines that begin with a space. */
const FOLDING = /^text\/(?:calendar|x-vcalendar|vcard|x-vcard|directory)$/;

function reviewStray(text: string): ReviewPart {
  const list = new PieceList(MAX_VALUE_LENGTH);
  list.add(text, { kind: 'some_readers', detail: 'text outside the parts' });
  const part = {
    path: null,
    contentType: 'text/plain',
    disposition: null,
    filename: null,
    sizeBytes: Buffer.byteLength(text),
  };
  return {
    ...part,
    source: text.slice(0, MAX_VALUE_LENGTH).toWellFormed(),
    pieces: list.finish(),
    isTruncated: list.isTruncated || text.length > MAX_VALUE_LENGTH,
  };
}

function isUsualPreamble(text: string): boolean {
  return (
    text.trim() === '' ||
    /^\s*This is a (?:cryptographically signed |multi-?part )?message in MIME format\.?\s*$/i.test(text)
  );
}

/** Fields that every message has, and that say nothing to a person. */
const USUAL: ReadonlySet<string> = new Set(
  'from to cc subject date message-id mime-version content-type content-transfer-encoding in-reply-to references user-agent x-mailer reply-to sender'.split(
    ' ',
  ),
);

function notesOnFields(fields: readonly StrictField[]): ReviewNote[] {
  const notes: ReviewNote[] = [];
  const author = fields.find((field) => field.name.toLowerCase() === 'from')?.raw ?? '';
  const from = new Set(parseAddressList(author).addresses.map(({ address }) => address.toLowerCase()));
  for (const { name: written, value: text, raw } of fields) {
    const name = written.toLowerCase();
    if (name === 'reply-to' || name === 'mail-followup-to' || name === 'mail-reply-to') {
      const others = addressesIn(text).filter((address) => !from.has(address));
      if (others.length > 0)
        notes.push(note('reply_address', written, `replies go to ${listed(others)}, not to ${[...from].join(', ')}`));
    }
    if (name === 'sender' && addressesIn(text).some((address) => !from.has(address)))
      notes.push(note('other_address', written, `the sender is ${text}`));
    if (['from', 'to', 'cc', 'reply-to', 'sender'].includes(name))
      for (const mailbox of parseAddressList(raw).addresses) {
        const others = addressesIn(mailbox.name ?? '').filter((address) => address !== mailbox.address.toLowerCase());
        if (others.length > 0)
          notes.push(note('other_address', written, `the name of ${mailbox.address} shows ${listed(others)}`));
      }
    if (/^(?:disposition-notification-to|return-receipt-to|errors-to)$/.test(name))
      notes.push(note('other_address', written, `reports go to ${text}`));
    else if (name.startsWith('list-')) notes.push(note('unsubscribe', written, text));
    else if (!USUAL.has(name)) notes.push(note('own_field', written, text));
    if (/[\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(text))
      notes.push(note('not_shown', written, 'it has characters that are not seen'));
  }
  return notes;
}

function addressesIn(text: string): string[] {
  return [...text.matchAll(/[^\s<>,;:"'()@]{1,64}[@＠][^\s<>,;:"'()@]{1,253}/g)].map(([address]) =>
    address.replace('＠', '@').toLowerCase(),
  );
}

const WORD = /[\p{L}\p{N}]{2,}/gu;
const MAX_COMPARED_LENGTH = 200_000;

/** Compares the text with the HTML beside it, and with HTML for some programs: each shows one of them. */
function notesOnTexts({ parts }: StrictMessage): ReviewNote[] {
  const bodies = parts.filter(
    ({ filename, text, contentId }) => filename === null && text !== null && contentId === null,
  );
  const plain = bodies.find(({ contentType }) => contentType === 'text/plain');
  const html = bodies.filter(({ contentType }) => HTML.test(contentType)).slice(0, MAX_COMPARED);
  const compared = plain ?? html[0];
  if (compared === undefined) return [];
  const read = readWords(compared);
  return html.flatMap((part) => {
    const other = part === compared ? null : readWords(part);
    if (other === null || read === null) return [];
    return [
      ...differences(
        compared,
        [...read.shown].filter((word) => !other.known.has(word)),
        part,
      ),
      ...differences(
        part,
        [...other.shown].filter((word) => !read.known.has(word)),
        compared,
      ),
    ];
  });
}

const MAX_COMPARED = 5;

function differences(part: StrictPart, words: readonly string[], other: StrictPart): ReviewNote[] {
  const [its, others] = [part, other].map(({ contentType }) =>
    contentType === 'text/plain' ? 'text' : contentType === 'text/html' ? 'HTML' : contentType,
  );
  return words.length === 0
    ? []
    : [
        note(
          'text_differs',
          `part ${part.path}`,
          `words of the ${its} that the ${others} does not have: ${listed(words)}`,
        ),
      ];
}

/** Returns the words that readers see, and those with the texts and addresses of links and pictures; null: too much to read. */
function readWords({ contentType, text }: StrictPart): { shown: Set<string>; known: Set<string> } | null {
  if (contentType === 'text/plain') {
    const words = listWords(text ?? '');
    return { shown: words, known: words };
  }
  const list = new PieceList(MAX_COMPARED_LENGTH * 2);
  if (!addHtmlText(text ?? '', list)) return null;
  const shown = listWords(
    list.pieces
      .filter(({ unseen }) => unseen === null || unseen.kind === 'collapsed')
      .map((piece) => piece.text)
      .join(' '),
  );
  const aids = list.pieces.map(
    (piece) => `${piece.unseen?.kind === 'attribute' ? piece.text : ''} ${piece.target ?? ''}`,
  );
  return { shown, known: new Set([...shown, ...listWords(aids.join(' '))]) };
}

function listWords(text: string): Set<string> {
  return new Set(
    [...text.slice(0, MAX_COMPARED_LENGTH).normalize('NFKC').toLowerCase().matchAll(WORD)].map(([word]) => word),
  );
}

function notesOnPart(
  { path, contentType, filename, names, text, content, charset, fields }: StrictPart,
  message: StrictMessage,
): ReviewNote[] {
  const where = `part ${path}`;
  const notes: ReviewNote[] = [];
  if (fields !== message.fields && !message.inner.some((inner) => inner.fields === fields))
    for (const field of fields)
      if (!OF_PARTS.test(field.name)) notes.push(note('own_field', `${field.name} of ${where}`, field.value));
  if (new Set(names).size > 1) notes.push(note('file_type', where, `it has several names: ${listed(names)}`));
  if (filename !== null) {
    const ending = /\.([^.]{1,10})$/.exec(filename)?.[1]?.toLowerCase() ?? '';
    const expected = ending === '' ? contentType : libmime.detectMimeType(ending);
    const isKnown = expected !== 'application/octet-stream' && contentType !== 'application/octet-stream';
    if (isKnown && expected.split('/')[0] !== contentType.split('/')[0])
      notes.push(
        note('file_type', where, `${filename} has the type ${contentType}, and files of its name are ${expected}`),
      );
    if (/\.(?:pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|txt|csv|html?)[\s_.]*\.[a-z0-9]{2,5}$/i.test(filename))
      notes.push(note('file_type', where, `${filename} has two endings`));
    if (/[\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(filename))
      notes.push(note('file_type', where, 'its name has characters that are not seen, which can hide its ending'));
  }
  const program = names.find((name) => PROGRAMS.test(name));
  if (program !== undefined) notes.push(note('file_type', where, `${program} can run a program`));
  const magic = SIGNATURES.find(([bytes]) => content.subarray(0, bytes.length).equals(bytes))?.[1];
  if (magic !== undefined && !new RegExp(magic, 'i').test(`${contentType} ${filename ?? ''}`))
    notes.push(note('file_type', where, `its content is that of another type (${magic.split('|')[0]})`));
  const encoded = text === null ? null : findEncodedFile(text);
  if (encoded !== null) notes.push(note('file_in_text', where, `a file in its text: ${encoded}`));
  const { used } = text !== null && HTML.test(contentType) ? findHtmlReferences(text, NO_NAMES) : { used: [] };
  if (used.length > 0)
    notes.push(note('remote_content', where, `it uses what is outside of it, and can change: ${listed(used)}`));
  if (text === null && contentType.startsWith('text/'))
    notes.push(note('not_shown', where, `its text in the charset ${charset} cannot be shown`));
  return notes;
}

/** Fields that every part may have. */
const OF_PARTS = /^content-(?:type|transfer-encoding|disposition|id)$/i;
/** Links in texts are no matter here. */
const NO_NAMES: ReadonlySet<string> = new Set();

/** Endings of files that run, or open a page that does. */
const PROGRAMS =
  /\.(?:exe|scr|com|bat|cmd|msi|msp|pif|lnk|hta|jar|js|jse|vbs|vbe|wsf|wsh|ps1|psm1|reg|iso|img|vhd|dmg|pkg|app|apk|sh|html?|xhtml|svg|docm|xlsm|pptm|xll|one|url|desktop)[\s.]*$/i;
/** The beginning of files, and what their type or name has. */
const SIGNATURES: readonly (readonly [Buffer, string])[] = [
  [Buffer.from('MZ'), 'executable|\\.exe|\\.dll|msdownload|dosexec'],
  [Buffer.from('\x7fELF'), 'executable|\\.so|\\.bin|octet-stream'],
  [Buffer.from('%PDF-'), 'pdf'],
  [Buffer.from('\x89PNG', 'latin1'), 'png'],
  [Buffer.from('\xff\xd8\xff', 'latin1'), 'jpeg|jpg'],
  [Buffer.from('GIF8'), 'gif'],
  [Buffer.from('PK\x03\x04'), 'zip|officedocument|opendocument|\\.docx|\\.xlsx|\\.pptx|\\.jar|\\.apk|epub|\\.od'],
];
