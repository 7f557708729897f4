/** A Content-Type or Content-Disposition field (RFC 2045 §5.1, RFC 2183 §2). */
export interface MimeValue {
  /** `text/plain`, `attachment`; lower case */
  value: string;
  /** by name in lower case, with the names of RFC 2231: `filename*0*` */
  parameters: ReadonlyMap<string, string>;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z{}-]+";
const VALUE = { type: new RegExp(`^${TOKEN}/${TOKEN}`), disposition: new RegExp(`^${TOKEN}`) };
/** Unquoted values may have the slashes, colons, and so on of sloppy senders, but nothing that begins another parameter. */
const PARAMETER = new RegExp(`\\s*;\\s*(?:(${TOKEN})\\s*=\\s*("(?:[^"\\\\]|\\\\.)*"|[^\\s;"(),\\\\]+))?`, 'sy');

/**
 * Parses the unfolded value of a field strictly: null for everything that readers take in different ways, such as comments, parameters
 * without quotation marks around separators, or a parameter that is given twice.
 */
export function parseMimeValue(line: string, kind: keyof typeof VALUE): MimeValue | null {
  const text = line.trim();
  const value = VALUE[kind].exec(text)?.[0];
  if (value === undefined) return null;
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = value.length;
  while (PARAMETER.lastIndex < text.length) {
    const found = PARAMETER.exec(text);
    if (found === null) return null;
    const [, name, written] = found;
    if (name === undefined || written === undefined) continue;
    const key = name.toLowerCase();
    if (parameters.has(key)) return null;
    parameters.set(key, written.startsWith('"') ? written.slice(1, -1).replace(/\\(.)/gs, '$1') : written);
  }
  return { value: value.toLowerCase(), parameters };
}
