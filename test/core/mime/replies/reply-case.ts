/** A message and what its author typed into it. */
export interface ReplyCase {
  name: string;
  text: string;
  own: string;
}

/** Returns a reply above what its mail program added. */
export function above(name: string, own: string, rest: string): ReplyCase {
  return { name, own, text: `${own}\n\n${rest}\n` };
}

/** Returns a reply of which all is the author's. */
export function whole(name: string, text: string): ReplyCase {
  return { name, own: text, text: `${text}\n` };
}
