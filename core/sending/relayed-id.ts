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
 *
 * Words that repeat what the client said are no ids, because the party that chose a recipient's address chose them: addresses of the envelope or in
 * its domains, in any spelling, and names of hosts.
 */
export function readRelayedIds(reply: string, envelope: RelayedEnvelope): string[] {
  const words = reply.slice(0, MAX_TEXT_LENGTH).split(/[\s<>()[\]{}"',;=:]+/);
  const echo = readEcho(envelope);
  const ids = words.filter((word) => !isEcho(word.toLowerCase(), echo)).map(readLocalPart);
  return [...new Set(ids.filter(isToken))].slice(0, MAX_TOKENS);
}

/** What the client said in the transaction. */
export interface RelayedEnvelope {
  /** the recipients, and the reverse-path where it is known */
  addresses: readonly string[];
  /** of the sender and of return addresses */
  domains: readonly string[];
}

interface Echo {
  localParts: string[];
  domains: ReadonlySet<string>;
}

function readEcho({ addresses, domains }: RelayedEnvelope): Echo {
  const lower = addresses.map((address) => address.toLowerCase());
  return {
    localParts: lower.map((address) => address.slice(0, address.lastIndexOf('@'))),
    domains: new Set([...domains, ...lower.map((address) => address.slice(address.lastIndexOf('@') + 1))]),
  };
}

/** Whether a word in lower case repeats an address of the envelope, or a part of one, or names a host. */
function isEcho(word: string, { localParts, domains }: Echo): boolean {
  const at = word.lastIndexOf('@');
  if (at !== -1 && domains.has(word.slice(at + 1).replace(/[.!?]+$/, ''))) return true;
  const local = at === -1 ? word : word.slice(0, at);
  if (at === -1 && isHostName(local)) return true;
  // A relay may write it without its tag, or with one of its own.
  return localParts.some(
    (part) => part.length >= MIN_TOKEN_LENGTH / 2 && (local.includes(part) || part.includes(local)),
  );
}

/** Names of hosts end in a top-level domain, which has no digit unless it is internationalized. */
function isHostName(word: string): boolean {
  return /\.(?:[a-z]{2,63}|xn--[a-z0-9-]+)\.?$/.test(word);
}

function readLocalPart(word: string): string {
  const at = word.indexOf('@');
  return at === -1 ? word : word.slice(0, at);
}

/** Whether a word is random enough to identify one message of the account. */
function isToken(word: string): boolean {
  if (word.length < MIN_TOKEN_LENGTH || word.length > MAX_TOKEN_LENGTH) return false;
  if (!/^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(word)) return false;
  const digits = word.replace(/\D/g, '').length;
  return digits >= 6;
}
