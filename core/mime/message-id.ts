/** Maximum stored ids per field: the first (the root) and the last (the nearest) are kept. */
const MAX_MESSAGE_IDS = 1_000;

/** Bytes. RFC 5322 §2.1.1 limits lines to this, and an id must fit on one. */
const MAX_ID_BYTES = 998;

/**
 * Parses the msg-ids of a Message-ID, In-Reply-To or References field (RFC 5322 §3.6.4): each as `<local@domain>`, in order, without
 * duplicates, at most {@link MAX_MESSAGE_IDS}. Only ids in angle brackets with an `@` count: phrases and bare addresses in real
 * In-Reply-To fields (`Your message of "Thu, 01 Aug 2002" <id>`, `joe@example.com`, `yes`) are not ids. Folding within an id is removed,
 * comments are skipped, an unclosed bracket ends at the next white space. Takes linear time.
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
      // An unclosed comment is text, and so is every later one.
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
 * Parses the msg-ids of In-Reply-To and References. A field without any id in brackets may hold bare ones, as some mail programs write them:
 * these are returned without brackets, because addresses look the same. They link messages only if the id is known.
 */
export function parseReferences(fieldValue: string): string[] {
  const ids = parseMessageIds(fieldValue);
  if (ids.length > 0 || fieldValue.includes('<')) return ids;
  const bare = fieldValue.slice(0, MAX_BARE_LENGTH).split(/[\s,;]+/);
  return [...new Set(bare.filter((word) => BARE_ID.test(word)))].slice(-MAX_BARE_IDS);
}

/** Characters of a field that are searched for bare ids, and how many of them are kept, the last. */
const MAX_BARE_LENGTH = 20_000;
const MAX_BARE_IDS = 50;
/** Dot-atoms (RFC 5322 §3.2.3) of up to 250 characters. */
const BARE_ID = /^[\w!#$%&'*+/=?^`{|}~.-]{1,160}@[\w.-]{1,90}$/;

/**
 * Parses the msg-id of a Message-ID field; null when there is none. Here an id may lack its brackets if the field contains nothing else
 * (seen: pipermail, `Message-ID: 1204434307.8.1042443163@example.com`).
 */
export function parseMessageId(fieldValue: string): string | null {
  const [id] = parseMessageIds(fieldValue);
  if (id !== undefined) return id;
  return validId(fieldValue.trim());
}

/** Returns the end of the id that starts here: its bracket, or the position before the next opening bracket. */
function endOfBracket(value: string, start: number): number {
  for (let at = start; at < value.length; at++) {
    if (value[at] === '>' || value[at] === '<') return at;
  }
  return value.length;
}

/** Returns the index after a comment with nested ones (RFC 5322 §3.2.2); -1 when it is not closed. */
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

/** Bytes; RFC 5322 §2.1.1 limits lines to this, and an index cannot hold much longer values. */
const MAX_MESSAGE_ID_BYTES = 998;

/**
 * Returns the Message-ID under which a received email is stored: its own if usable, else one made from the email's id. No message that
 * leaves names such an id, because its recipients have never seen it; see isMadeId.
 */
export function receivedMessageId(messageId: string | null, emailId: string, mailHostname: string): string {
  const isUsable = messageId !== null && Buffer.byteLength(messageId) <= MAX_MESSAGE_ID_BYTES;
  return isUsable ? messageId : `<${emailId}@${mailHostname}>`;
}

/** Returns whether a Message-ID was made by receivedMessageId, for a message without one. */
export function isMadeId(messageId: string): boolean {
  return /^<em_[0-9a-f]{32}@/.test(messageId);
}
