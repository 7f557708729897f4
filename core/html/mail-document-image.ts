/** An image as a data: URL (RFC 2397), its type told by its first octets and not by what the mail says; null when it is none that browsers show. */
export function imageDataUrl(octets: Uint8Array): string | null {
  const head = Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.byteLength, 32)).toString('latin1');
  const type = SIGNATURES.find(([signature]) => signature.test(head))?.[1];
  if (type === undefined) return null;
  const { buffer, byteOffset, byteLength } = octets;
  return `data:${type};base64,${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`;
}

/** The key under which an image is found: what stands behind `cid:` (RFC 2392 §2), or a Content-ID. */
export function contentIdKey(written: string): string {
  const id = written.trim().replace(/^cid:/i, '').replace(/^<|>$/g, '');
  try {
    return decodeURIComponent(id).toLowerCase();
  } catch {
    return id.toLowerCase();
  }
}

/** Pictures that cannot hold a program. */
const SIGNATURES: readonly [RegExp, string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is how they begin
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^BM.{4}\0{4}/s, 'image/bmp'],
  [/^.{4}ftypavi[fs]/s, 'image/avif'],
];
