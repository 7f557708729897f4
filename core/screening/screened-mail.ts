import type { PublicSuffixes } from '../shared/registrable-domain.ts';

/** What the screening reads of a mail. */
export interface ScreenedMail {
  subject: string;
  /** the display name of the sender; null or absent: none */
  senderName?: string | null;
  /** the names and comments of all address fields, which a sender chooses as well; absent: none */
  otherNames?: readonly string[];
  /** the plain-text body; null: none */
  text: string | null;
  /** the HTML body as sent; null: none */
  html: string | null;
  fileNames: readonly string[];
  /** texts of attachments that are text; absent: none */
  attachedTexts?: readonly string[];
  /** the beginning or the name of attached text that is too much or unreadable; null or absent: none */
  attachedRest?: string | null;
  /** returns the Public Suffix List, for addresses at hosts of one domain; absent: all hosts differ */
  readSuffixes?: (() => PublicSuffixes) | undefined;
}

export const INJECTION_VERDICTS = ['clear', 'review'] as const;

/** How a mail may steer an agent that reads it. */
export const INJECTION_KINDS = [
  'hidden_text',
  'different_parts',
  'instruction',
  'pressure',
  'encoded_text',
  'link_data',
  'not_screened',
] as const;
type InjectionKind = (typeof INJECTION_KINDS)[number];

export const SCREENED_PARTS = ['subject', 'sender', 'text', 'html', 'attachment'] as const;
export type ScreenedPart = (typeof SCREENED_PARTS)[number];

export interface InjectionFinding {
  kind: InjectionKind;
  part: ScreenedPart;
  /** what the finding is about, at most 200 characters */
  excerpt: string;
  /** one sentence */
  why: string;
}

/** What the screening says about text that is aimed at agents. */
export interface Injection {
  verdict: (typeof INJECTION_VERDICTS)[number];
  /** at most 10; empty when the verdict is `clear`, and of infected mail, whose content is taken away */
  findings: InjectionFinding[];
}

/** Returns the same with its keys in one order, wherever it comes from: PostgreSQL has another one. */
export function orderedInjection({ verdict, findings }: Injection): Injection {
  return {
    verdict,
    findings: findings.map(({ kind, part, excerpt: found, why }) => ({ kind, part, excerpt: found, why })),
  };
}

export const MAX_FINDINGS = 10;
export const MAX_EXCERPT_LENGTH = 200;

/** Returns text on one line, cut to the length of an excerpt. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_EXCERPT_LENGTH ? line : `${line.slice(0, MAX_EXCERPT_LENGTH - 1).toWellFormed()}…`;
}
