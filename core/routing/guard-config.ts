import { z } from 'zod';
import { canonicalDomainName } from '../domains/domain-name.ts';
import { AUTHENTICATION_RESULTS, type AuthenticationResult } from '../mime/authentication.ts';
import { INJECTION_VERDICTS, type Injection } from '../screening/screened-mail.ts';
import { SPAM_VERDICTS, type SpamVerdict } from '../screening/spam-check.ts';
import { wellFormedJson, wellFormedValue } from '../shared/text.ts';
import { foldText } from './guard-text.ts';

/** Values of which one (OR) or all (AND) must match; as the user wrote them, trimmed. */
export interface GuardCriterion {
  operator: 'OR' | 'AND';
  values: string[];
}

/** The criteria of an explicit rule: a message must meet all of them. At least one is given. */
export interface ExplicitConfig {
  /** substrings of the Subject field */
  subject?: GuardCriterion;
  /** addresses or `*@domain` of the From field; aligned: only if DMARC passed for that address's domain (RFC 9989 §4.4) */
  from?: GuardCriterion & { aligned?: boolean };
  /** addresses or `*@domain` of To, Cc and the envelope */
  to?: GuardCriterion;
  /** substrings of subject and bodies */
  hasWords?: GuardCriterion;
  hasAttachment?: boolean;
  /** see isAttachmentLike */
  attachments?: GuardCriterion;
  /** one of these results (RFC 8601 §2.7) */
  spf?: AuthenticationResult[];
  dkim?: AuthenticationResult[];
  dmarc?: AuthenticationResult[];
  /** verdict on text that is aimed at an agent, see core/screening/screened-mail.ts */
  injection?: Injection['verdict'];
  /** one of these verdicts of the spam filter, see core/screening/spam-check.ts */
  spam?: SpamVerdict[];
  /** at least this score; mail that was not checked has none */
  minSpamScore?: number;
  /** how the form of the reference service shows the rule; ignored */
  mode?: string;
}

export interface PromptConfig {
  prompt: string;
}

export type GuardConfig = { type: 'explicit'; config: ExplicitConfig } | { type: 'ai_prompt'; config: PromptConfig };

export const MAX_GUARD_VALUES = 100;
/** Maximum length of a value; characters. */
export const MAX_GUARD_VALUE_LENGTH = 500;
/** Maximum length of a prompt; characters. */
const MAX_GUARD_PROMPT_LENGTH = 4_000;

export type GuardConfigResult = { config: GuardConfig; error?: undefined } | { error: string; config?: undefined };

/** Checks the config of a rule as a user gave it, an object or its JSON; drops unknown keys. The error is for the user. */
export function checkGuardConfig(type: GuardConfig['type'], input: unknown): GuardConfigResult {
  const given = typeof input === 'string' ? parseJson(input) : wellFormedValue(input);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { error: 'config: must be an object' };
  const checked = (type === 'explicit' ? explicit : prompted).safeParse(given);
  if (!checked.success) return { error: readText(checked.error.issues[0]) };
  return { config: { type, config: checked.data } as GuardConfig };
}

function readText(issue: z.core.$ZodIssue | undefined): string {
  return ['config', ...(issue?.path ?? [])].join('.') + `: ${issue?.message ?? 'invalid'}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(wellFormedJson(text));
  } catch {
    return null;
  }
}

const value = z
  .string()
  .trim()
  .max(MAX_GUARD_VALUE_LENGTH, `must not be longer than ${MAX_GUARD_VALUE_LENGTH} characters`)
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .refine((text) => foldText(text) !== '', 'must not be empty');

const operator = z
  .enum(['OR', 'AND', 'or', 'and'], 'must be OR or AND')
  .transform((name) => (name.toUpperCase() === 'AND' ? 'AND' : 'OR'))
  .default('OR');

/** A single value or a list of them is short for a criterion that any of them meets. */
const asCriterion = (given: unknown): unknown =>
  typeof given === 'string' ? { values: [given] } : Array.isArray(given) ? { values: given } : given;

const makeCriterion = <T extends z.ZodType<string>>(each: T) => ({
  operator,
  values: z
    .array(each)
    .min(1, 'must have at least one value')
    .max(MAX_GUARD_VALUES, `must not have more than ${MAX_GUARD_VALUES} values`),
});
const criterion = <T extends z.ZodType<string>>(each: T) => z.preprocess(asCriterion, z.object(makeCriterion(each)));

const addressOrDomain = value.refine(isAddressPattern, 'must be an address or *@domain');

/** Maximum `*` per pattern; each may be searched for in a thousand names. */
const MAX_ASTERISKS = 3;
const attachmentPattern = value.refine(
  (pattern) => pattern.split('*').length <= MAX_ASTERISKS + 1,
  `must not have more than ${MAX_ASTERISKS} asterisks`,
);

const results = z
  .preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z
      .array(
        z.enum(AUTHENTICATION_RESULTS, 'must be pass, fail, softfail, neutral, none, policy, temperror or permerror'),
      )
      .min(1, 'must have at least one value'),
  )
  .transform((each) => [...new Set(each)]);

const MAX_SPAM_SCORE = 1_000;

const explicitFields = {
  subject: criterion(value).exactOptional(),
  from: z
    .preprocess(asCriterion, z.object({ ...makeCriterion(addressOrDomain), aligned: z.boolean().exactOptional() }))
    .exactOptional(),
  to: criterion(addressOrDomain).exactOptional(),
  hasWords: criterion(value).exactOptional(),
  hasAttachment: z.boolean().exactOptional(),
  attachments: criterion(attachmentPattern).exactOptional(),
  spf: results.exactOptional(),
  dkim: results.exactOptional(),
  dmarc: results.exactOptional(),
  injection: z.enum(INJECTION_VERDICTS, 'must be clear or review').exactOptional(),
  spam: z
    .preprocess(
      (given) => (typeof given === 'string' ? [given] : given),
      z
        .array(z.enum(SPAM_VERDICTS, 'must be clean, suspected, spam or not_checked'))
        .min(1, 'must have at least one value'),
    )
    .transform((each) => [...new Set(each)])
    .exactOptional(),
  minSpamScore: z
    .number('must be a number')
    .min(-MAX_SPAM_SCORE, `must be at least -${MAX_SPAM_SCORE}`)
    .max(MAX_SPAM_SCORE, `must be at most ${MAX_SPAM_SCORE}`)
    .exactOptional(),
  mode: z.enum(['simple', 'advanced'], 'must be simple or advanced').exactOptional(),
};

// `null` and the empty criterion of a blank form count as not given.
const explicit = z.preprocess(
  withoutBlanks,
  z
    .object(explicitFields)
    .refine(
      (config) => Object.keys(config).some((key) => key !== 'mode'),
      'must have at least one of subject, from, to, hasWords, hasAttachment, attachments, spf, dkim, dmarc, injection, spam and minSpamScore',
    ),
);

/** The fields of a config of any type. */
export const guardConfigFields = z.object({ ...explicitFields, prompt: z.unknown() });

const prompted = z.object({
  prompt: z
    .string('must be a text')
    .trim()
    .min(1, 'must not be empty')
    .max(MAX_GUARD_PROMPT_LENGTH, `must not be longer than ${MAX_GUARD_PROMPT_LENGTH} characters`)
    .refine((text) => !text.includes('\0'), 'must not contain NUL'),
});

function withoutBlanks(given: unknown): unknown {
  return Object.fromEntries(
    Object.entries(given as Record<string, unknown>).filter(([, each]) => each !== null && !isBlank(each)),
  );
}

function isBlank(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  const { values, aligned } = given as { values?: unknown; aligned?: unknown };
  return Array.isArray(values) && values.length === 0 && aligned === undefined;
}

/** Accepts `local@domain`, `*@domain`, and its short form `@domain`. */
function isAddressPattern(pattern: string): boolean {
  const at = pattern.lastIndexOf('@');
  const local = pattern.slice(0, at);
  return at >= 0 && !/[\s<>,*]/.test(local === '*' ? '' : local) && canonicalDomainName(pattern.slice(at + 1)) !== null;
}
