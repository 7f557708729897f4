import libmime from 'libmime';
import { parseAddressList } from '../mime/address.ts';
import { readStrictly, type StrictField, type StrictMessage, type StrictPart } from '../mime/strict-parts.ts';
import { findEncodedFile } from './encoded-files.ts';
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
    const reviewed = reviewPart(part, sourceRoom, piecesRoom);
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
    ...message.parts.flatMap(notesOnPart),
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

function reviewPart(part: StrictPart, sourceRoom: number, piecesRoom: number): ReviewPart {
  const { path, contentType, disposition, filename, content, text } = part;
  const list = new PieceList(piecesRoom);
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
  else list.add(text, null);
}

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

/** Compares the text with the HTML beside it: a program shows one of them. */
function notesOnTexts({ parts }: StrictMessage): ReviewNote[] {
  const bodies = parts.filter(({ filename, text }) => filename === null && text !== null);
  const plain = bodies.find(({ contentType }) => contentType === 'text/plain');
  const html = bodies.find(({ contentType }) => contentType === 'text/html');
  if (plain?.text == null || html?.text == null) return [];
  const list = new PieceList(MAX_COMPARED_LENGTH * 2);
  if (!addHtmlText(html.text, list)) return [];
  const shown = wordsOf(
    list.pieces
      .filter(({ unseen }) => unseen === null || unseen.kind === 'collapsed')
      .map(({ text }) => text)
      .join(' '),
  );
  const aids = list.pieces.map(
    ({ text, target, unseen }) => `${unseen?.kind === 'attribute' ? text : ''} ${target ?? ''}`,
  );
  const known = new Set([...shown, ...wordsOf(aids.join(' '))]);
  const written = wordsOf(plain.text);
  const onlyText = [...written].filter((word) => !known.has(word));
  const onlyHtml = [...shown].filter((word) => !written.has(word));
  return [
    ...(onlyText.length === 0
      ? []
      : [
          note(
            'text_differs',
            `part ${plain.path}`,
            `words of the text that the HTML does not have: ${listed(onlyText)}`,
          ),
        ]),
    ...(onlyHtml.length === 0
      ? []
      : [
          note(
            'text_differs',
            `part ${html.path}`,
            `words of the HTML that the text does not have: ${listed(onlyHtml)}`,
          ),
        ]),
  ];
}

function wordsOf(text: string): Set<string> {
  return new Set(
    [...text.slice(0, MAX_COMPARED_LENGTH).normalize('NFKC').toLowerCase().matchAll(WORD)].map(([word]) => word),
  );
}

function notesOnPart({ path, contentType, filename, text, content, charset }: StrictPart): ReviewNote[] {
  const where = `part ${path}`;
  const notes: ReviewNote[] = [];
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
  if (PROGRAMS.test(filename ?? '')) notes.push(note('file_type', where, `${filename} can run a program`));
  const magic = SIGNATURES.find(([bytes]) => content.subarray(0, bytes.length).equals(bytes))?.[1];
  if (magic !== undefined && !new RegExp(magic, 'i').test(`${contentType} ${filename ?? ''}`))
    notes.push(note('file_type', where, `its content is that of another type (${magic.split('|')[0]})`));
  const encoded = text === null ? null : findEncodedFile(text);
  if (encoded !== null) notes.push(note('file_in_text', where, `a file in its text: ${encoded}`));
  if (text === null && contentType.startsWith('text/'))
    notes.push(note('not_shown', where, `its text in the charset ${charset} cannot be shown`));
  return notes;
}

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
