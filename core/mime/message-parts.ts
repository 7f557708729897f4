import { decodeRawText, storableText } from '../shared/text.ts';
import { type TransferEncoding, toTransferEncoding } from './attachment.ts';
import { decodeEncodedWords } from './header-fields.ts';
import { type PartBody, type PartNode, readPartBodies } from './part-reader.ts';

/** A part of a message that holds no other parts (RFC 2046), and where its body lies in the raw octets. */
export interface Leaf {
  /** lower case, without parameters */
  contentType: string;
  charset: string | null;
  transferEncoding: TransferEncoding;
  /** format=flowed (RFC 3676), with DelSp=yes or without; null when it is not flowed */
  flowed: 'keep-space' | 'delete-space' | null;
  /** decoded, as the sender gave it; null when there is none */
  filename: string | null;
  /** null when absent; unknown words mean attachment (RFC 2183 §2.8) */
  disposition: 'attachment' | 'inline' | null;
  contentId: string | null;
  /** whether it is listed: it has a name, is meant as an attachment, or is no text */
  isAttachment: boolean;
  /** whether its text belongs to the text or HTML body */
  isBody: boolean;
  /** whether it stands within a multipart/alternative */
  isAlternative: boolean;
  /** first octet of its header section */
  headStart: number;
  /** first octet of the encoded body */
  start: number;
  /** octets of the encoded body */
  length: number;
}

/** The leaves of a message in their order. */
export interface Parts {
  leaves: Leaf[];
  /** whether there were more parts than are read; what comes after them is in the raw octets only */
  isTruncated: boolean;
}

const MAX_CONTENT_ID_LENGTH = 998;

/** Splits a message into its leaves. Rejects when that cannot be done. */
export async function readParts(octets: Buffer): Promise<Parts> {
  const { bodies, isTruncated } = await readPartBodies(octets);
  return { leaves: bodies.map(toLeaf), isTruncated };
}

function toLeaf({ node, headStart, start, end }: PartBody): Leaf {
  const contentType = contentTypeOf(node);
  const filename = node.filename === false ? null : decodeRawText(node.filename);
  const disposition = toDisposition(node.disposition);
  const isText = contentType.startsWith('text/') || contentType === 'message/delivery-status';
  const isAlternative = isWithinAlternative(node);
  const isAttachment = filename !== null || disposition === 'attachment' || !isText;
  return {
    contentType: storableText(contentType),
    charset: node.charset === false ? null : node.charset,
    transferEncoding: toTransferEncoding(node.encoding === false ? '' : node.encoding),
    flowed: node.flowed ? (node.delSp ? 'delete-space' : 'keep-space') : null,
    filename: filename === null ? null : storableText(decodeEncodedWords(filename)),
    disposition,
    contentId: toContentId(node.headers === false ? '' : node.headers.getFirst('Content-ID')),
    isAttachment,
    isBody:
      isText &&
      // The only part of a message is its text even when it bears a name.
      (!isAttachment || (node.root && disposition !== 'attachment')) &&
      // Beside plain text and HTML an alternative of another kind (calendar, AMP, rich text) says nothing new.
      (!isAlternative || contentType === 'text/plain' || contentType === 'text/html'),
    isAlternative,
    headStart,
    start,
    length: end - start,
  };
}

function contentTypeOf(node: PartNode): string {
  const isStated = node.headers !== false && node.headers.getFirst('Content-Type') !== '';
  // RFC 2046 §5.1.5: in a digest a part is a message unless it says otherwise.
  if (!isStated && node.parentNode !== false && node.parentNode.multipart === 'digest') return 'message/rfc822';
  return node.contentType === false ? 'text/plain' : node.contentType;
}

/** `<...>` whether the field has the brackets or not; many ids here have no `@`, and `cid:` links name them all the same. */
function toContentId(value: string): string | null {
  const id = storableText(value.replace(/[<>\s]/g, ''));
  return id === '' ? null : `<${id.slice(0, MAX_CONTENT_ID_LENGTH).toWellFormed()}>`;
}

function toDisposition(value: string | false): Leaf['disposition'] {
  if (value === false) return null;
  return value === 'inline' ? 'inline' : 'attachment';
}

function isWithinAlternative(node: PartNode): boolean {
  for (let at = node.parentNode; at !== false; at = at.parentNode) {
    if (at.multipart === 'alternative') return true;
  }
  return false;
}
