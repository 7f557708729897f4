/** Returns the text of a body; null when it has more bytes than the limit. */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  limit: number,
): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit) {
      body.destroy();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
