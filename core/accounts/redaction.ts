import { REDACTED } from './logged-request.ts';

/** How much of a secret is hidden: all of it, or of a URL all but its origin. */
export type SecretKind = 'value' | 'url';

/** Secrets of a request that are looked for in the rest of the exchange; with more, the bodies are not logged. */
const MAX_COLLECTED = 200;
/** A shorter text is not looked for elsewhere, where it may be an ordinary word. Characters. */
const MIN_LENGTH = 6;
const MIN_LENGTH_OF_RESPONSE = 16;

/**
 * Replaces the secrets of one exchange. It remembers what it replaced, because an error message may repeat what a request had in the
 * wrong field.
 */
export class Redactions {
  readonly #texts = new Set<string>();
  readonly #minLength: { request: number; response: number } = {
    request: MIN_LENGTH,
    response: MIN_LENGTH_OF_RESPONSE,
  };
  /** whether the secrets come from the request */
  part: 'request' | 'response' = 'request';

  /** How many secrets were replaced, repeated ones included. */
  replaced = 0;

  /** Whether there are more secrets than can be looked for. */
  get isFull(): boolean {
    return this.#texts.size > MAX_COLLECTED;
  }

  /** Returns what replaces a secret. Null stays null, and a URL without a path stays as it is. */
  replace(value: unknown, kind: SecretKind): unknown {
    if (value === null || value === undefined) return value;
    this.replaced += 1;
    if (kind === 'url' && typeof value === 'string' && URL.canParse(value)) {
      const { origin, host, pathname, search, hash, username } = new URL(value);
      if (host !== '' && username === '' && pathname === '/' && search === '' && hash === '') return value;
      this.#collect(value);
      return host === '' ? REDACTED : `${origin === 'null' ? '' : origin}/${REDACTED}`;
    }
    this.#collect(value);
    return REDACTED;
  }

  /** Returns a body without the texts that were replaced elsewhere in the exchange. */
  scrub(body: string): string {
    let text = body;
    for (const secret of [...this.#texts].sort((a, b) => b.length - a.length)) {
      const once = JSON.stringify(secret).slice(1, -1);
      for (const form of new Set([once, JSON.stringify(once).slice(1, -1), encodeURIComponent(secret.toWellFormed())]))
        text = text.replaceAll(form, REDACTED);
    }
    return text;
  }

  #collect(value: unknown): void {
    const open: unknown[] = [value];
    for (let each = open.pop(); each !== undefined && !this.isFull; each = open.pop()) {
      if (typeof each === 'string') {
        if (each.length < this.#minLength[this.part] || each === REDACTED) continue;
        // Of a response, only what looks random: `application/json` may appear elsewhere, too.
        if (this.part === 'request' || /^(?=\D*\d)\S+$/.test(each)) this.#texts.add(each);
        // A block string is repeated with its lines indented.
        if (this.part === 'request' && /[\r\n]/.test(each))
          open.push(...each.split(/[\r\n]+/).map((line) => line.trim()));
      } else if (typeof each === 'object' && each !== null) open.push(...(Object.values(each) as unknown[]));
    }
  }
}

/** Names of fields whose value is a secret, wherever no schema describes them. */
const SECRET_NAME =
  /(?:secret|password|passwd|passphrase|credential|authorization|cookie)|(?:^|[-_.])(?:signature|jwt|bearer)$|token$|api[-_]?keys?$|private[-_]?key$/i;
/** Ends of names that tell about a secret and hold none. */
const HARMLESS_NAME = /^(?:has|is|can|num|max|min)[-_A-Z]|(?:tokens|count|id|at|length)$/;

/** Returns whether a field with this name holds a secret. */
export function looksSecret(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
}

/** Returns JSON that no schema describes, without the values of fields that {@link looksSecret | look secret}. */
export function redactByName(value: unknown, redactions: Redactions): unknown {
  if (Array.isArray(value)) return value.map((each) => redactByName(each, redactions));
  if (typeof value !== 'object' || value === null) return value;
  const pair = value as { name?: unknown; value?: unknown };
  const isSecretPair = typeof pair.name === 'string' && 'value' in pair && looksSecret(pair.name);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      (looksSecret(name) || (isSecretPair && name === 'value')) && typeof each !== 'boolean'
        ? redactions.replace(each, 'value')
        : redactByName(each, redactions),
    ]),
  );
}

/**
 * Returns the longest beginning of a cut JSON text, with its arrays and objects closed, so that it can be parsed and all of it compared with
 * a schema; null when there is none.
 */
export function closeJson(text: string): string | null {
  const closers: string[] = [];
  let end = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInText) {
      if (character === '\\') at++;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']');
      end = at + 1;
    } else if (character === '}' || character === ']') {
      closers.pop();
      end = at + 1;
    } else if (character === ',') end = at;
  }
  return end === 0 ? null : text.slice(0, end) + closers.reverse().join('');
}
