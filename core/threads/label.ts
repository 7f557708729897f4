/** Labels of one thread; merges may bring together more, which are kept. */
export const MAX_LABELS = 32;
/** Characters (code points). */
export const MAX_LABEL_LENGTH = 64;

/** A label as it is kept and shown: NFC, without space around it. Null when it is empty, too long, or has control characters. */
export function normalizeLabel(text: string): string | null {
  if (!text.isWellFormed()) return null;
  const label = text.normalize('NFC').trim();
  const { length } = Array.from(label);
  return length === 0 || length > MAX_LABEL_LENGTH || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(label) ? null : label;
}

/** What makes two labels the same: their case does not part them. */
export function labelKey(label: string): string {
  return label.toLowerCase().normalize('NFC');
}

/** The first and then those of the second that are not among them, each in the spelling in which it came first. */
export function mergeLabels(first: readonly string[], second: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const label of [...first, ...second]) {
    const key = labelKey(label);
    if (!byKey.has(key)) byKey.set(key, label);
  }
  return [...byKey.values()];
}

/** The first without those of the second, whatever their case. */
export function subtractLabels(first: readonly string[], second: readonly string[]): string[] {
  const keys = new Set(second.map(labelKey));
  return first.filter((label) => !keys.has(labelKey(label)));
}
