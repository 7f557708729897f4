import { endOfHeaderSection, type HeaderField, readHeaderSection } from './header-fields.ts';

/** Maximum sets of a chain (RFC 8617 §4.2.1). */
export const MAX_ARC_SETS = 50;

const ARC_FIELDS = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;
type ArcFieldName = (typeof ARC_FIELDS)[number];

/** The form of a message's ARC fields, before any signature is verified. */
export type ArcChainForm = { kind: 'absent' | 'wellFormed' } | { kind: 'malformed'; reason: string };

/**
 * Returns whether the ARC fields of a message form a chain whose signatures are worth verifying (RFC 8617 §4.1, §4.2, §5.2 steps 1 to 3):
 * sets 1 to N with one field of each kind, tag lists without errors, all required tags, and `cv` values that a passing chain has. Linear,
 * never throws.
 */
export function checkArcChain(bytes: Buffer): ArcChainForm {
  const section = readHeaderSection(bytes, endOfHeaderSection(bytes));
  const fields = section.fields.filter(isArcField);
  if (fields.length === 0) return { kind: 'absent' };
  // Fields beyond the limit are not seen: there may be more of the chain among them.
  if (section.isTruncated) return malformed('the message has too many header fields');
  if (fields.length > MAX_ARC_SETS * ARC_FIELDS.length) return malformed(`more than ${MAX_ARC_SETS} sets`);
  const sets = new Map<number, Set<ArcFieldName>>();
  const seals = new Map<number, string>();
  for (const { name, raw } of fields) {
    const read = name === 'arc-authentication-results' ? readResults(raw) : readTagged(name, raw);
    if (typeof read === 'string') return malformed(`${name}: ${read}`);
    const set = sets.get(read.instance) ?? new Set();
    if (set.has(name)) return malformed(`several ${name} fields have i=${read.instance}`);
    sets.set(read.instance, set.add(name));
    if (read.chainStatus !== null) seals.set(read.instance, read.chainStatus);
  }
  for (let instance = 1; instance <= sets.size; instance++) {
    const set = sets.get(instance);
    if (set?.size !== ARC_FIELDS.length) return malformed(`set ${instance} is not complete`);
    // The seal of the first server says that there was no chain, and each other one that the chain passed (§5.2 step 3).
    const expected = instance === 1 ? 'none' : 'pass';
    if (seals.get(instance) !== expected) return malformed(`cv of set ${instance} is not "${expected}"`);
  }
  return { kind: 'wellFormed' };
}

interface ArcField {
  instance: number;
  /** `cv` of a seal in lower case; null for other fields */
  chainStatus: string | null;
}

/** Returns the instance of an ARC-Authentication-Results field, or what is wrong with it (RFC 8617 §4.1.1). */
function readResults(raw: string): ArcField | string {
  const match = RESULTS_FORM.exec(raw);
  const instance = parseInstance(match?.[1]);
  return instance === null ? 'does not begin with a valid i=' : { instance, chainStatus: null };
}

/** `[CFWS] "i" [CFWS] "=" [CFWS] instance [CFWS] ";" authserv-id ...`, comments not nested. */
const CFWS = String.raw`(?:[ \t\r\n]|\([^()\\]*\))*`;
const RESULTS_FORM = new RegExp(`^${CFWS}i${CFWS}=${CFWS}([0-9]{1,2})${CFWS};${CFWS}[^\\s;(]`);

/** Returns the instance and `cv` of a seal or signature, or what is wrong with it (RFC 8617 §4.1.2, §4.1.3). */
function readTagged(name: 'arc-message-signature' | 'arc-seal', raw: string): ArcField | string {
  const tags = readTagList(raw);
  if (tags === null) return 'the tag list is not valid';
  const isSeal = name === 'arc-seal';
  const values = isSeal ? SEAL_TAGS : SIGNATURE_TAGS;
  for (const [tag, { form, isRequired }] of Object.entries(values)) {
    const value = tags.get(tag);
    if (value === undefined && isRequired) return `${tag}= is missing`;
    if (value !== undefined && !form.test(value)) return `${tag}= is not valid`;
  }
  const instance = parseInstance(tags.get('i'));
  if (instance === null) return 'i= is not valid';
  const signed = tags
    .get('h')
    ?.toLowerCase()
    .split(/[\s:]+/);
  if (isSeal && signed !== undefined) return 'h= is not allowed';
  if (signed?.includes('arc-seal')) return 'h= names arc-seal';
  return { instance, chainStatus: isSeal ? (tags.get('cv') ?? '').toLowerCase() : null };
}

interface TagRule {
  form: RegExp;
  isRequired: boolean;
}

const required = (form: RegExp): TagRule => ({ form, isRequired: true });
const optional = (form: RegExp): TagRule => ({ form, isRequired: false });

const INSTANCE = /^[0-9]{1,2}$/;
const ALGORITHM = /^(?:rsa|ed25519)-sha256$/i;
const BASE64 = /^[A-Za-z0-9+/\s]+(?:=\s*){0,2}$/;
/** Letters may also be U-labels (RFC 8616 §5), here as the latin1 of their bytes. */
const LABEL = String.raw`[a-z0-9_\x80-\xff](?:[a-z0-9_\x80-\xff-]*[a-z0-9_\x80-\xff])?`;
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`, 'i');
const SELECTOR = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, 'i');
const SECONDS = /^[0-9]{1,12}$/;
const CANONICALIZATION = /^(?:simple|relaxed)(?:\/(?:simple|relaxed))?$/i;

/** Required tags, and the forms of the verified ones (RFC 6376 §3.5, RFC 8617 §4.1.2, §4.1.3). Unknown tags are ignored. */
const SEAL_TAGS: Readonly<Record<string, TagRule>> = {
  i: required(INSTANCE),
  a: required(ALGORITHM),
  b: required(BASE64),
  cv: required(/^(?:none|pass|fail)$/i),
  d: required(DOMAIN),
  s: required(SELECTOR),
  t: optional(SECONDS),
};
const SIGNATURE_TAGS: Readonly<Record<string, TagRule>> = {
  i: required(INSTANCE),
  a: required(ALGORITHM),
  b: required(BASE64),
  bh: required(BASE64),
  d: required(DOMAIN),
  h: required(/(?:^|[\s:])from(?:$|[\s:])/i),
  s: required(SELECTOR),
  c: optional(CANONICALIZATION),
  l: optional(/^[0-9]{1,76}$/),
  t: optional(SECONDS),
  x: optional(SECONDS),
};

/**
 * Parses a tag list (RFC 6376 §3.2); null when it breaks the grammar: a tag without name or `=`, an empty entry, a name twice, or bytes that
 * a value cannot have. Names are case-sensitive.
 */
export function readTagList(raw: string): Map<string, string> | null {
  const entries = raw.split(';');
  if (entries.length > 1 && entries.at(-1)?.trim() === '') entries.pop();
  const tags = new Map<string, string>();
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    const name = entry.slice(0, Math.max(equals, 0)).trim();
    const value = entry.slice(equals + 1).trim();
    if (!/^[a-z][a-z0-9_]*$/i.test(name) || tags.has(name) || !/^[\x20-\x7e\x80-\xff\t\r\n]*$/.test(value)) return null;
    tags.set(name, value);
  }
  return tags;
}

function isArcField(field: HeaderField): field is HeaderField & { name: ArcFieldName } {
  return ARC_FIELDS.some((name) => name === field.name);
}

function parseInstance(text: string | undefined): number | null {
  const instance = Number(text ?? 0);
  return instance >= 1 && instance <= MAX_ARC_SETS ? instance : null;
}

function malformed(reason: string): ArcChainForm {
  return { kind: 'malformed', reason };
}
