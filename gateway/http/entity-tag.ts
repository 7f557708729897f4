/**
 * Returns whether If-None-Match names an entity tag, so that the client has the current content already. Tags are compared weakly, since a proxy
 * that compresses makes them weak (RFC 9110 §13.1.2).
 */
export function isTagKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = tag.replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || (ifNoneMatch.match(/"[^"]*"/g) as string[] | null)?.includes(opaque) === true;
}
