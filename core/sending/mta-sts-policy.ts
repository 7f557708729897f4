/** What another domain demands of mail to it (RFC 8461 §3.2). */
export interface MtaStsPolicy {
  mode: 'enforce' | 'testing' | 'none';
  /** host names or `*.` and a host name, in lower case */
  mx: string[];
  maxAgeSeconds: number;
}

/** RFC 8461 §3.2: a year and a leap day's hours; longer ages are cut. Seconds. */
const LONGEST_MAX_AGE_SECONDS = 31_557_600;
/** A policy with more hosts is not usable. */
const MAX_HOSTS = 200;
const HOST_PATTERN = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{1,63}$/;

/** Returns the id in the TXT records of `_mta-sts`; null unless exactly one is an MTA-STS record with an id (RFC 8461 §3.1). */
export function findPolicyId(records: readonly string[]): string | null {
  const found = records.filter((text) => /^v=STSv1[ \t]*;/.test(text));
  const [record] = found;
  if (found.length !== 1 || record === undefined) return null;
  return /;[ \t]*id[ \t]*=[ \t]*([A-Za-z0-9]{1,32})[ \t]*(?:;|$)/.exec(record)?.[1] ?? null;
}

/** Reads a policy file; null if it is not valid. The first of repeated fields counts, except for `mx` (RFC 8461 §3.2). */
export function parseMtaStsPolicy(text: string): MtaStsPolicy | null {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31})[ \t]*:(.*)$/.exec(line) ?? [];
    if (name === 'mx') mx.push(value.trim().toLowerCase());
    else if (name !== '' && !fields.has(name)) fields.set(name, value.trim());
  }
  const mode = fields.get('mode');
  const maxAge = fields.get('max_age') ?? '';
  if (fields.get('version') !== 'STSv1') return null;
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return null;
  if (!/^\d{1,10}$/.test(maxAge)) return null;
  if (mx.length > MAX_HOSTS || !mx.every((pattern) => HOST_PATTERN.test(pattern))) return null;
  if (mx.length === 0 && mode !== 'none') return null;
  return { mode, mx, maxAgeSeconds: Math.min(Number(maxAge), LONGEST_MAX_AGE_SECONDS) };
}

/** Returns whether the policy lists a mail server. `*.` matches exactly one label (RFC 8461 §4.1). */
export function listsHost({ mx }: MtaStsPolicy, host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  const parent = name.slice(name.indexOf('.'));
  return mx.some((pattern) => (pattern.startsWith('*.') ? pattern.slice(1) === parent : pattern === name));
}
