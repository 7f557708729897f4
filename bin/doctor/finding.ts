/**
 * What was found of one thing: `ok`; `warn`, it works and should be seen to; `fail`, it does not work, or mail is at risk;
 * `skip`, it was not looked at, and the detail says why.
 */
export interface Finding {
  area: Area;
  /** what was looked at, a few words */
  name: string;
  state: 'ok' | 'warn' | 'fail' | 'skip';
  /** what was found */
  detail: string;
  /** what to do about it; null where there is nothing to do */
  fix: string | null;
}

/** In the order in which they are shown. */
export const areas = [
  'configuration',
  'machine',
  'PostgreSQL',
  'bus',
  'SMTP',
  'HTTP',
  'DNS',
  'domains',
  'work',
] as const;
export type Area = (typeof areas)[number];

/** Findings of one area. */
export interface Findings {
  ok: (name: string, detail: string) => Finding;
  skip: (name: string, detail: string) => Finding;
  warn: (name: string, detail: string, fix: string) => Finding;
  fail: (name: string, detail: string, fix: string) => Finding;
}

export function findingsOf(area: Area): Findings {
  return {
    ok: (name, detail) => ({ area, name, state: 'ok', detail, fix: null }),
    skip: (name, detail) => ({ area, name, state: 'skip', detail, fix: null }),
    warn: (name, detail, fix) => ({ area, name, state: 'warn', detail, fix }),
    fail: (name, detail, fix) => ({ area, name, state: 'fail', detail, fix }),
  };
}

/** The words of an error for a detail: one line, with its code when it has no words. */
export function wordsOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  const words = message === undefined || message === '' ? (code ?? String(error)) : message;
  return words.replaceAll(/\s*\n\s*/g, ' ').trim();
}
