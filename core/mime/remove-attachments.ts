import { endOfHeaderSection } from './header-fields.ts';
import { type Leaf, readParts } from './message-parts.ts';

/**
 * The message without its attachments, all else octet for octet; images that its HTML shows (inline, with a Content-ID) stay. A message
 * that is nothing but attachments becomes an empty one. Rejects when the message cannot be split into parts.
 */
export async function withoutAttachments(octets: Buffer): Promise<Buffer> {
  const { leaves } = await readParts(octets);
  const removed = leaves.filter(isRemoved);
  if (removed.length === 0) return octets;
  if (removed.length === leaves.length) return emptied(octets);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const leaf of removed) {
    const { from, to } = placeOf(octets, leaf);
    if (from < at) continue;
    pieces.push(octets.subarray(at, from));
    at = to;
  }
  return Buffer.concat([...pieces, octets.subarray(at)]);
}

function isRemoved(leaf: Leaf): boolean {
  const isShown = leaf.disposition !== 'attachment' && leaf.contentId !== null && leaf.contentType.startsWith('image/');
  return leaf.isAttachment && !leaf.isBody && !isShown;
}

/** From the delimiter that begins the part to the one that follows it (RFC 2046 §5.1.1). */
function placeOf(octets: Buffer, { headStart, start, length }: Leaf): { from: number; to: number } {
  const from = headStart < 2 ? 0 : octets.lastIndexOf('\n', headStart - 2) + 1;
  const end = start + length;
  const lineEnd = octets[end] === 0x0d && octets[end + 1] === 0x0a ? 2 : octets[end] === 0x0a ? 1 : 0;
  return { from, to: end + lineEnd };
}

function emptied(octets: Buffer): Buffer {
  const header = octets.toString('latin1', 0, endOfHeaderSection(octets));
  const kept = header
    .replace(/\r\n$/, '')
    .split(/\r\n(?![ \t])/)
    .filter((field) => field !== '' && !/^content-/i.test(field));
  return Buffer.from([...kept, '', ''].join('\r\n'), 'latin1');
}
