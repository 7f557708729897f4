/** A stored field that differs when the email is parsed again. */
export interface FieldChange {
  field: string;
  /** as text, cut to 500 characters; for bodies starting shortly before the first difference; null: no value */
  before: string | null;
  after: string | null;
  /** for bodies: the index of the first difference, in characters */
  differsAt: number | null;
}

/** Maximum characters of a value that are shown. */
const MAX_SHOWN_LENGTH = 500;
/** Characters shown before the first difference. */
const LEAD_LENGTH = 40;

/** Returns the fields whose values differ, in the order of `after`. Values are compared as JSON, regardless of key order. */
export function differences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  bodies: ReadonlySet<string>,
): FieldChange[] {
  return Object.keys(after).flatMap((field) => {
    const [previous, next] = [writeText(before[field]), writeText(after[field])];
    if (previous === next) return [];
    return [bodies.has(field) ? bodyChange(field, previous, next) : plainChange(field, previous, next)];
  });
}

function plainChange(field: string, before: string | null, after: string | null): FieldChange {
  return { field, before: shown(before, 0), after: shown(after, 0), differsAt: null };
}

function bodyChange(field: string, before: string | null, after: string | null): FieldChange {
  const differsAt = firstDifference(before ?? '', after ?? '');
  const from = Math.max(0, differsAt - LEAD_LENGTH);
  return { field, before: shown(before, from), after: shown(after, from), differsAt };
}

function firstDifference(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

function shown(text: string | null, from: number): string | null {
  return text === null ? null : text.slice(from, from + MAX_SHOWN_LENGTH).toWellFormed();
}

function writeText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const plain = sorted(value);
  return typeof plain === 'string' ? plain : JSON.stringify(plain);
}

function sorted(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]));
}
