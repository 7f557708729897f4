/** Maximum labels of a thread; a merge may produce more. */
export const MAX_LABELS = 32;
/** Maximum labels after a merge, whose others are left out. Each event about labels, and each list of threads, has all of them. @limit */
export const MAX_MERGED_LABELS = 256;
/** Maximum length of a label; characters (code points). */
export const MAX_LABEL_LENGTH = 64;

/** Returns a label in its stored form: NFC, trimmed. Null when it is empty, too long, or has control characters. */
export function normalizeLabel(text: string): string | null {
  if (!text.isWellFormed()) return null;
  const label = text.normalize('NFC').trim();
  const { length } = Array.from(label);
  return length === 0 || length > MAX_LABEL_LENGTH || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(label) ? null : label;
}

/** Returns the form in which labels are compared: case is ignored. */
export function labelKey(label: string): string {
  return label.toLowerCase().normalize('NFC');
}

/** Returns the first list and then labels of the second that are new, each in its first spelling. */
export function mergeLabels(first: readonly string[], second: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const label of [...first, ...second]) {
    const key = labelKey(label);
    if (!byKey.has(key)) byKey.set(key, label);
  }
  return [...byKey.values()];
}

/** Returns the labels of a thread into which another one is merged: its own, and then those of the other one, up to the limit. */
export function joinLabels(own: readonly string[], inherited: readonly string[]): string[] {
  return mergeLabels(own, inherited).slice(0, Math.max(own.length, MAX_MERGED_LABELS));
}

/** Returns the first list without the labels of the second, ignoring case. */
export function subtractLabels(first: readonly string[], second: readonly string[]): string[] {
  const keys = new Set(second.map(labelKey));
  return first.filter((label) => !keys.has(labelKey(label)));
}
