import libmime from 'libmime';
import { storableText } from '../shared/text.ts';
import { type TransferEncoding, toTransferEncoding } from './attachment.ts';
import { decodeEncodedWords } from './encoded-words.ts';
import { firstField, type HeaderSection, readHeaderSection, unfold, unfoldBytes } from './header-fields.ts';
import { type ParameterList, parseParameters, readBoundary, readParameter } from './parameters.ts';

/** What the fields of a part say about its body (RFC 2045, RFC 2183). */
export interface PartFields {
  /** lower case; null when missing or not of the form `type/subtype` */
  contentType: string | null;
  /** for multipart types */
  boundary: string | null;
  /** as given; null when missing */
  charset: string | null;
  transferEncoding: TransferEncoding;
  /** whether there is a Content-Transfer-Encoding field */
  statesEncoding: boolean;
  /** format=flowed (RFC 3676), with or without DelSp=yes; null when not flowed */
  flowed: 'keep-space' | 'delete-space' | null;
  /** null when missing; unknown values mean attachment (RFC 2183 §2.8) */
  disposition: 'attachment' | 'inline' | null;
  /** `<...>`; null when missing */
  contentId: string | null;
  /** of a calendar (RFC 6047 §2.4); null when missing */
  method: string | null;
  /** filename, or else name; decoded by readFilename */
  names: { disposition: ParameterList; contentType: ParameterList };
}

/** Reads the header section of a part. Never throws. */
export function readPartFields(head: Buffer): PartFields {
  const section = readHeaderSection(head);
  const contentType = readParameterField(section, 'content-type');
  const disposition = readParameterField(section, 'content-disposition');
  const parameter = (name: string) => readParameter(contentType, name, null)?.trim().toLowerCase() ?? '';
  const charset = readParameter(contentType, 'charset', null)?.trim() ?? '';
  return {
    contentType: toContentType(contentType.value),
    boundary: readBoundary(contentType),
    charset: charset === '' ? null : charset,
    ...readTransferEncoding(section),
    flowed: parameter('format') !== 'flowed' ? null : parameter('delsp') === 'yes' ? 'delete-space' : 'keep-space',
    disposition: toDisposition(disposition.value),
    contentId: toContentId(firstField(section, 'content-id')?.raw ?? ''),
    method: contentType.value.endsWith('calendar') ? readParameter(contentType, 'method', null) : null,
    names: { disposition, contentType },
  };
}

/** Returns the decoded name of a part; null when it is missing. */
export function readFilename({ names }: PartFields, bodyCharset: string | null): string | null {
  const name = readName(names.disposition, 'filename', bodyCharset) ?? readName(names.contentType, 'name', bodyCharset);
  return (
    name ?? readName(names.disposition, 'name', bodyCharset) ?? readName(names.contentType, 'filename', bodyCharset)
  );
}

/** Returns the type of a file name, for a part whose type is missing; null when it is unknown. */
export function detectTypeByName(filename: string | null): string | null {
  const extension = filename === null ? undefined : /\.([^./\\]+)$/.exec(filename)?.[1];
  return extension === undefined ? null : libmime.detectMimeType(extension);
}

function readName(list: ParameterList, name: string, bodyCharset: string | null): string | null {
  const value = readParameter(list, name, bodyCharset);
  // Some mail programs of Windows send the whole path.
  const last = value?.replace(/^(?:[A-Za-z]:|\\\\)[^/]*\\(?=[^\\]*[^\\\s])/, '') ?? '';
  return last === '' ? null : storableText(last);
}

function readParameterField(section: HeaderSection, name: string): ParameterList {
  const value = unfoldBytes(firstField(section, name)?.raw ?? '').trim();
  // Seen: the whole field as encoded words, `=?koi8-r?Q?image/png=3B_name=3D...?=`. Characters are bytes in a list of parameters.
  const isEncoded = /^=\?[^?]{1,40}\?[BbQq]\?/.test(value);
  return parseParameters(isEncoded ? Buffer.from(decodeEncodedWords(value)).toString('latin1').trim() : value);
}

/** Of several fields the first counts whose encoding is known: `raw`, which some programs write, is none. */
function readTransferEncoding(section: HeaderSection): Pick<PartFields, 'transferEncoding' | 'statesEncoding'> {
  const fields = section.fields.filter(({ name }) => name === 'content-transfer-encoding').slice(0, MAX_ENCODINGS);
  const values = fields.length > 0 ? fields.map(({ raw }) => raw) : readGluedEncoding(section);
  const encodings = values.map((value) => toTransferEncoding(unfold(value)));
  return {
    transferEncoding: encodings.find((encoding) => encoding !== 'binary') ?? encodings[0] ?? '7bit',
    statesEncoding: values.length > 0,
  };
}

const MAX_ENCODINGS = 10;

/** Seen: `Content-Type: text/plain; charset="utf-8" Content-Transfer-Encoding: base64`. */
function readGluedEncoding(section: HeaderSection): string[] {
  const above = unfoldBytes(firstField(section, 'content-type')?.raw ?? '').slice(0, MAX_GLUED_LENGTH);
  const glued = /["\s;]content-transfer-encoding ?: ?([\w-]{1,40})["\s]*$/i.exec(above)?.[1];
  return glued === undefined ? [] : [glued];
}

const MAX_GLUED_LENGTH = 2_000;

/** Also of `multipart/multipart/mixed`. */
function toContentType(value: string): string | null {
  if (value === 'multipart') return 'multipart/mixed';
  const type = value.replace(/^([a-z]+)\/(?=\1\/)/, '');
  return /^[^\s/]+\/[^\s/]+$/.test(type) ? type : null;
}

function toDisposition(value: string): PartFields['disposition'] {
  const token = decodeEncodedWords(value).trim().toLowerCase();
  if (token === '') return null;
  return token === 'inline' ? 'inline' : 'attachment';
}

const MAX_CONTENT_ID_LENGTH = 998;

/** Returns `<...>` whether or not the field has the brackets; many ids here have no `@`, and `cid:` links still refer to them. */
function toContentId(raw: string): string | null {
  const value = decodeEncodedWords(unfold(raw));
  const id = storableText((/<([^<>]+)>/.exec(value)?.[1] ?? value).replace(/[<>"\s]/g, ''));
  return id === '' ? null : `<${id.slice(0, MAX_CONTENT_ID_LENGTH).toWellFormed()}>`;
}
