/** More ids than this of one field are not kept: the first (the root) and the last (the nearest) are. */
const MAX_MESSAGE_IDS = 1_000;

/** Bytes. RFC 5322 §2.1.1 lets no line be longer, and an id has to stand on one. */
const MAX_ID_BYTES = 998;

/**
 * The msg-ids of a Message-ID, In-Reply-To or References field value (RFC 5322 §3.6.4), each as `<local@domain>`, without repeats, in
 * their order, at most {@link MAX_MESSAGE_IDS}. Only what is in angle brackets and has an `@` counts: phrases and bare addresses stand
 * in real In-Reply-To fields (`Your message of "Thu, 01 Aug 2002" <id>`, `joe@example.com`, `yes`) and name no message. Folding within
 * an id is undone, comments are passed over, a bracket that is never closed ends at the next white space. Linear in the length.
 */
export function parseMessageIds(fieldValue: string): string[] {
  const ids = new Set<string>();
  let mayHoldComment = true;
  let at = 0;
  while (at < fieldValue.length) {
    const character = fieldValue[at];
    if (character === '<') {
      const end = endOfBracket(fieldValue, at + 1);
      const id = validId(fieldValue.slice(at + 1, end));
      if (id !== null) ids.add(id);
      at = end;
    } else if (character === '(' && mayHoldComment) {
      const end = endOfComment(fieldValue, at);
      // One that is never closed is text, and so is every one after it.
      mayHoldComment = end !== -1;
      at = end === -1 ? at + 1 : end;
    } else {
      at++;
    }
  }
  const kept = [...ids];
  return kept.length <= MAX_MESSAGE_IDS ? kept : [...kept.slice(0, 1), ...kept.slice(1 - MAX_MESSAGE_IDS)];
}

/**
 * The msg-id of a Message-ID field; null when it holds none. Here an id may lack its brackets when it is all that the field holds,
 * since this field names nothing else (seen: pipermail, `Message-ID: 1204434307.8.1042443163@example.com`).
 */
export function parseMessageId(fieldValue: string): string | null {
  const [id] = parseMessageIds(fieldValue);
  if (id !== undefined) return id;
  return validId(fieldValue.trim());
}

/** Where the id that starts here ends: at its bracket, or before the next one is opened. */
function endOfBracket(value: string, start: number): number {
  for (let at = start; at < value.length; at++) {
    if (value[at] === '>' || value[at] === '<') return at;
  }
  return value.length;
}

/** The byte after a comment, nested ones included (RFC 5322 §3.2.2); -1 when it is never closed. */
function endOfComment(value: string, start: number): number {
  let depth = 0;
  for (let at = start; at < value.length; at++) {
    const character = value[at];
    if (character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return -1;
}

function validId(bracketed: string): string | null {
  const unfolded = bracketed.replace(/\r?\n[ \t]+/g, '').trim();
  if (unfolded.length > MAX_ID_BYTES || !/^[^\s<>@\0-\x1f\x7f]+@[^\s<>\0-\x1f\x7f]+$/.test(unfolded)) return null;
  const id = `<${unfolded}>`.toWellFormed();
  return Buffer.byteLength(id) <= MAX_ID_BYTES ? id : null;
}

/** Bytes; RFC 5322 §2.1.1 allows no longer line, and an index takes no much longer value. */
const MAX_MESSAGE_ID_BYTES = 998;

/** Returns the Message-ID under which a received email is stored: its own if that can be used, else one made of the id of the email. */
export function receivedMessageId(messageId: string | null, emailId: string, mailHostname: string): string {
  const isUsable = messageId !== null && Buffer.byteLength(messageId) <= MAX_MESSAGE_ID_BYTES;
  return isUsable ? messageId : `<${emailId}@${mailHostname}>`;
}
