/**
 * Result of one check: `ok`; `warn`: it works but needs attention; `fail`: it does not work, or mail is at risk; `skip`: not checked, and
 * the detail says why.
 */
export interface Finding {
  area: Area;
  /** what was checked, in a few words */
  name: string;
  state: 'ok' | 'warn' | 'fail' | 'skip';
  /** the result */
  detail: string;
  /** what to do about it; null if nothing */
  fix: string | null;
}

/** The areas in display order. */
export const areas = [
  'command line',
  'configuration',
  'machine',
  'PostgreSQL',
  'bus',
  'SMTP',
  'scanners',
  'HTTP',
  'DNS',
  'domains',
  'work',
] as const;
export type Area = (typeof areas)[number];

/** Creates findings of one area. */
export interface Findings {
  ok: (name: string, detail: string) => Finding;
  skip: (name: string, detail: string) => Finding;
  warn: (name: string, detail: string, fix: string) => Finding;
  fail: (name: string, detail: string, fix: string) => Finding;
}

export function toFindings(area: Area): Findings {
  return {
    ok: (name, detail) => ({ area, name, state: 'ok', detail, fix: null }),
    skip: (name, detail) => ({ area, name, state: 'skip', detail, fix: null }),
    warn: (name, detail, fix) => ({ area, name, state: 'warn', detail, fix }),
    fail: (name, detail, fix) => ({ area, name, state: 'fail', detail, fix }),
  };
}

/** Returns the text of an error for a detail: one line, or its code if it has no message. */
export function describeError(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  const words = message === undefined || message === '' ? (code ?? String(error)) : message;
  return words.replaceAll(/\s*\n\s*/g, ' ').trim();
}
