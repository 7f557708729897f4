import type { Authentication, AuthenticationResult } from '../mime/authentication.ts';
import type { Injection } from '../screening/screened-mail.ts';
import type { SpamCheck } from '../screening/spam-check.ts';
import { decodeCursor, encodeCursor, type KeysetCursor } from '../shared/page.ts';
import type { ExplicitConfig, GuardConfig, GuardCriterion } from './guard-config.ts';
import { domainOfAddress, foldAddress, foldText } from './guard-text.ts';

/** The facts of a received message that rules compare. */
export interface GuardFacts {
  subject: string;
  /** from the From field */
  from: { name: string | null; address: string }[];
  /** To, Cc and the envelope recipient, lower case */
  to: string[];
  /** subject, text and the text of the HTML */
  text: string;
  attachments: { filename: string; contentType: string }[];
  /** null: unknown, so that no authentication criterion matches */
  authentication: Authentication | null;
  /** null: not screened, which counts as `review`: nothing says that it is clear */
  injection: Injection['verdict'] | null;
  /** what the spam filter or the user said */
  spam: Pick<SpamCheck, 'verdict' | 'score'>;
}

export const GUARD_RULE_TYPES = ['explicit', 'ai_prompt'] as const;
/** What a rule does with messages that it matches. */
export const GUARD_ACTIONS = ['allow', 'block', 'route'] as const;
export type GuardAction = (typeof GUARD_ACTIONS)[number];

/** A rule that allows, blocks or routes received mail. */
export type GuardRule = {
  id: string;
  name: string;
  action: GuardAction;
  /** set for action route */
  endpointId: string | null;
  priority: number;
  createdAt: Date;
} & GuardConfig;

/** What matched: the criterion, and the rule's own value. */
export interface GuardMatch {
  criteria: string;
  value: string;
}

/** A model's decision and its reason; `failed` when it did not respond. */
export type ModelVerdict = { kind: 'answered'; isMatch: boolean; reason: string } | { kind: 'failed'; reason: string };

/** Result of evaluating rules. */
export type GuardVerdict =
  | { kind: 'none' }
  /** reason: the model's; null for explicit rules */
  | { kind: 'matched'; rule: GuardRule; matches: GuardMatch[]; reason: string | null }
  /** the next rule needs a verdict of its model */
  | { kind: 'ask'; rule: GuardRule }
  /** the next rule's model failed, so it is unknown whether the rule would match */
  | { kind: 'review'; rule: GuardRule; reason: string };

/** Sorts rules in evaluation order: highest priority first, then newest first. */
export function sortRules<T extends Pick<GuardRule, 'id' | 'priority' | 'createdAt'>>(rules: readonly T[]): T[] {
  return rules.toSorted(
    (a, b) => b.priority - a.priority || b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1),
  );
}

/** Evaluates active rules in order; the first match decides. `verdicts` are those of models, by rule id. */
export function evaluateRules(
  rules: readonly GuardRule[],
  facts: GuardFacts,
  verdicts: ReadonlyMap<string, ModelVerdict>,
): GuardVerdict {
  const mail = foldFacts(facts);
  for (const rule of sortRules(rules)) {
    if (rule.type === 'explicit') {
      const matches = matchExplicit(rule.config, mail);
      if (matches !== null) return { kind: 'matched', rule, matches, reason: null };
      continue;
    }
    const verdict = verdicts.get(rule.id);
    if (verdict === undefined) return { kind: 'ask', rule };
    if (verdict.kind === 'failed') return { kind: 'review', rule, reason: verdict.reason };
    if (verdict.isMatch) {
      const matches = [{ criteria: 'prompt', value: rule.config.prompt }];
      return { kind: 'matched', rule, matches, reason: verdict.reason };
    }
  }
  return { kind: 'none' };
}

/** Returns the prompt for a rule's model; null for explicit rules. */
export function findPrompt(rule: GuardRule): string | null {
  return rule.type === 'ai_prompt' ? rule.config.prompt : null;
}

/** Returns whether any of the rules looks at bodies. */
export function readsText(rules: readonly GuardConfig[]): boolean {
  return rules.some((rule) => rule.type === 'explicit' && rule.config.hasWords !== undefined);
}

/** Facts in the form that rules compare; the text is folded on first use. */
interface FoldedFacts {
  subject: string;
  from: Set<string>;
  to: Set<string>;
  text: () => Words;
  attachments: { filename: string; contentType: string }[];
  authentication: Authentication | null;
  injection: GuardFacts['injection'];
  spam: GuardFacts['spam'];
}

/** A message may be evaluated by several sets of rules. */
const foldedFacts = new WeakMap<GuardFacts, FoldedFacts>();

function foldFacts(facts: GuardFacts): FoldedFacts {
  const known = foldedFacts.get(facts);
  if (known !== undefined) return known;
  const folded = refoldFacts(facts);
  foldedFacts.set(facts, folded);
  return folded;
}

function refoldFacts(facts: GuardFacts): FoldedFacts {
  let words: Words | undefined;
  return {
    subject: foldText(facts.subject),
    from: withDomains(facts.from.map(({ address }) => foldAddress(address))),
    to: withDomains(facts.to.map(foldAddress)),
    text: () => (words ??= readWords(foldText(facts.text))),
    attachments: facts.attachments.map(({ filename, contentType }) => ({
      // Windows drops dots and spaces at the end of a name.
      filename: foldText(filename).replace(/[. ]+$/, ''),
      contentType: contentType.toLowerCase(),
    })),
    authentication: facts.authentication,
    injection: facts.injection,
    spam: facts.spam,
  };
}

/** Returns the addresses, and `*@domain` of each. */
function withDomains(addresses: readonly string[]): Set<string> {
  return new Set(addresses.flatMap((address) => [address, `*@${domainOfAddress(address) ?? ''}`]));
}

/** Returns what matches the config; null unless all criteria match. Cheap criteria come first. */
function matchExplicit(config: ExplicitConfig, mail: FoldedFacts): GuardMatch[] | null {
  const matches: GuardMatch[] = [];
  for (const [criteria, meet] of CRITERIA) {
    const met = meet(config, mail);
    if (met === null) return null;
    if (met !== undefined) matches.push(...met.map((value) => ({ criteria, value })));
  }
  return matches.length === 0 ? null : matches;
}

/** Undefined: not in the config; null: no match; else the matching values. */
type Meet = (config: ExplicitConfig, mail: FoldedFacts) => string[] | null | undefined;

const CRITERIA: readonly (readonly [string, Meet])[] = [
  ['from', ({ from }, mail) => from && meetFrom(from, mail)],
  ['to', ({ to }, mail) => to && meet(to, foldPattern, (pattern) => mail.to.has(pattern))],
  ['spf', ({ spf }, mail) => spf && meetResult(spf, listResults(mail.authentication, 'spf'))],
  ['dkim', ({ dkim }, mail) => dkim && meetResult(dkim, listResults(mail.authentication, 'dkim'))],
  ['dmarc', ({ dmarc }, mail) => dmarc && meetResult(dmarc, listResults(mail.authentication, 'dmarc'))],
  [
    'injection',
    ({ injection }, mail) =>
      injection === undefined ? undefined : injection === (mail.injection ?? 'review') ? [injection] : null,
  ],
  [
    'spam',
    ({ spam }, mail) =>
      spam === undefined ? undefined : spam.includes(mail.spam.verdict) ? [mail.spam.verdict] : null,
  ],
  [
    'minSpamScore',
    ({ minSpamScore }, mail) => {
      if (minSpamScore === undefined) return undefined;
      const { score } = mail.spam;
      return score !== null && score >= minSpamScore ? [String(minSpamScore)] : null;
    },
  ],
  [
    'hasAttachment',
    ({ hasAttachment }, mail) =>
      hasAttachment === undefined
        ? undefined
        : hasAttachment === mail.attachments.length > 0
          ? [String(hasAttachment)]
          : null,
  ],
  ['attachments', ({ attachments }, mail) => attachments && meetAttachments(attachments, mail)],
  ['subject', ({ subject }, mail) => subject && meet(subject, foldText, (part) => holds(mail.subject, part))],
  ['hasWords', ({ hasWords }, mail) => hasWords && meet(hasWords, foldText, (word) => hasWord(mail.text(), word))],
];

/** Returns the matching values; null when there are too few. `isMet` gets the folded value. */
function meet(criterion: GuardCriterion, fold: Fold, isMet: (folded: string) => boolean): string[] | null {
  const { operator, values } = criterion;
  const folded = foldValues(criterion, fold);
  if (operator === 'AND') return folded.every(isMet) ? values : null;
  const found = values[folded.findIndex(isMet)];
  return found === undefined ? null : [found];
}

type Fold = (value: string) => string;

/** Rules are loaded once and evaluated for many messages. */
function foldValues(criterion: GuardCriterion, fold: Fold): string[] {
  const known = foldedValues.get(criterion);
  if (known !== undefined) return known;
  const folded = criterion.values.map(fold);
  foldedValues.set(criterion, folded);
  return folded;
}

const foldedValues = new WeakMap<GuardCriterion, string[]>();

function meetFrom(from: NonNullable<ExplicitConfig['from']>, mail: FoldedFacts): string[] | null {
  if (from.aligned !== true) return meet(from, foldPattern, (pattern) => mail.from.has(pattern));
  const domain = alignedDomain(mail.authentication);
  if (domain === null) return null;
  return meet(from, foldPattern, (pattern) => mail.from.has(pattern) && domainOfAddress(pattern) === domain);
}

/** Returns the From domain for which DMARC passed; null when it did not, or when it is ambiguous which From field a reader sees. */
function alignedDomain(authentication: Authentication | null): string | null {
  if (authentication?.dmarc.result !== 'pass' || authentication.hasSeveralFromFields) return null;
  const { domain } = authentication.dmarc;
  return domain === null ? null : domainOfAddress(foldAddress(`*@${domain}`));
}

function foldPattern(value: string): string {
  return foldAddress(value.startsWith('@') ? `*${value}` : value);
}

function meetResult(wanted: readonly AuthenticationResult[], results: readonly string[]): string[] | null {
  const found = wanted.find((result) => results.includes(result));
  return found === undefined ? null : [found];
}

/** DKIM: one valid signature is a pass whatever the others are; no signature is `none` (RFC 6376 §6.1). */
function listResults(authentication: Authentication | null, method: 'spf' | 'dkim' | 'dmarc'): string[] {
  if (authentication === null) return [];
  if (method !== 'dkim') return [authentication[method].result];
  const results = authentication.dkim.map(({ result }) => result);
  if (results.includes('pass')) return ['pass'];
  return results.length === 0 ? ['none'] : results;
}

function meetAttachments(attachments: GuardCriterion, mail: FoldedFacts): string[] | null {
  return meet(attachments, foldText, (pattern) =>
    mail.attachments.some((attachment) => isAttachmentLike(pattern, attachment)),
  );
}

/**
 * `image/*` and `application/pdf` match content types, `.exe` the end of a file name, `invoice*.pdf` the whole name with `*` for any
 * characters; anything else matches a substring of the name.
 */
function isAttachmentLike(
  pattern: string,
  { filename, contentType }: { filename: string; contentType: string },
): boolean {
  if (pattern.includes('/'))
    return pattern.endsWith('/*') ? contentType.startsWith(pattern.slice(0, -1)) : contentType === pattern;
  if (pattern.includes('*')) return matchesGlob(pattern.split('*'), filename);
  return pattern.startsWith('.') ? filename.endsWith(pattern) : filename.includes(pattern);
}

/**
 * Returns whether the pieces follow each other in the text, the first at its start and the last at its end. Linear, because the first
 * occurrence of each piece is always good enough.
 */
function matchesGlob(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** A folded text with a bit set of its three-character sequences, so that most words need no search. */
interface Words {
  text: string;
  marks: Uint8Array;
}

/** Bits; a text of 300,000 characters has fewer distinct sequences than a tenth of this. */
const MARK_BITS = 2 ** 20;

function readWords(text: string): Words {
  const marks = new Uint8Array(MARK_BITS / 8);
  for (let at = 0; at + 2 < text.length; at++) {
    const mark = markAt(text, at);
    marks[mark >> 3] = (marks[mark >> 3] ?? 0) | (1 << (mark & 7));
  }
  return { text, marks };
}

function hasWord({ text, marks }: Words, word: string): boolean {
  for (let at = 0; at + 2 < word.length; at++) {
    const mark = markAt(word, at);
    if (((marks[mark >> 3] ?? 0) & (1 << (mark & 7))) === 0) return false;
  }
  return holds(text, word);
}

function markAt(text: string, at: number): number {
  const mixed = Math.imul(text.charCodeAt(at), 31_337) ^ Math.imul(text.charCodeAt(at + 1), 7_919);
  return (mixed ^ Math.imul(text.charCodeAt(at + 2), 104_729)) & (MARK_BITS - 1);
}

/** A position in the list of guard rules: highest priority first, then newest first. */
export interface RuleCursor extends KeysetCursor {
  priority: number;
}

/** Encodes a position as a cursor, opaque to clients. */
export function encodeRuleCursor(place: RuleCursor): string {
  return `${place.priority}.${encodeCursor(place)}`;
}

/** Returns the position of a cursor from encodeRuleCursor; null when the cursor is invalid. */
export function decodeRuleCursor(cursor: string): RuleCursor | null {
  const match = /^(-?\d{1,5})\.([A-Za-z0-9_-]+)$/.exec(cursor);
  const place = decodeCursor(match?.[2] ?? '');
  return place === null ? null : { ...place, priority: Number(match?.[1]) };
}

/** Worst-case steps of a plain search below which it is cheaper than the preparation for a linear one. */
const PLAIN_STEPS = 200_000;

/**
 * Returns whether the text contains the word. Takes time linear in the sum of their lengths, also for hostile input: the engine's own
 * search is quadratic for repetitive text (Knuth, Morris, Pratt 1977).
 */
export function holds(text: string, word: string): boolean {
  if (text.length * word.length <= PLAIN_STEPS) return text.includes(word);
  if (word.length > text.length) return false;
  const fallbacks = toFallbacks(word);
  let met = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (met > 0 && word.charCodeAt(met) !== code) met = fallbacks[met - 1] ?? 0;
    if (word.charCodeAt(met) === code) met++;
    if (met === word.length) return true;
  }
  return false;
}

/** Returns for each prefix of the word the length of its longest proper prefix that is also its suffix. */
function toFallbacks(word: string): Uint32Array {
  const fallbacks = new Uint32Array(word.length);
  let met = 0;
  for (let at = 1; at < word.length; at++) {
    const code = word.charCodeAt(at);
    while (met > 0 && word.charCodeAt(met) !== code) met = fallbacks[met - 1] ?? 0;
    if (word.charCodeAt(met) === code) met++;
    fallbacks[at] = met;
  }
  return fallbacks;
}
