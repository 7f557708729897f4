/** Tokens that are kept of one reply. */
const MAX_TOKENS = 3;
/** Characters of a reply that are read. */
const MAX_TEXT_LENGTH = 1_000;
/** Characters of a token. Shorter ones, such as queue ids, are not unique enough to lead to a thread. */
const MIN_TOKEN_LENGTH = 20;
const MAX_TOKEN_LENGTH = 128;

/**
 * Returns the local parts of the Message-IDs that a relay may have given to a message, from its reply to DATA. Some relays replace the
 * Message-ID, and replies then refer to theirs: Amazon SES replies `250 Ok 0102018f…-000000` and writes
 * `<0102018f…-000000@eu-west-1.amazonses.com>`, with a domain that the reply does not name. At most three; empty when the text has none.
 */
export function readRelayedIds(reply: string): string[] {
  const words = reply.slice(0, MAX_TEXT_LENGTH).split(/[\s<>()[\]{}"',;=:]+/);
  return [...new Set(words.map(readLocalPart).filter(isToken))].slice(0, MAX_TOKENS);
}

function readLocalPart(word: string): string {
  const at = word.indexOf('@');
  return at === -1 ? word : word.slice(0, at);
}

/** Whether a word is random enough to identify one message of the account. Host names have no digit-rich part and end in letters. */
function isToken(word: string): boolean {
  if (word.length < MIN_TOKEN_LENGTH || word.length > MAX_TOKEN_LENGTH) return false;
  if (!/^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(word)) return false;
  const digits = word.replace(/\D/g, '').length;
  return digits >= 6;
}
