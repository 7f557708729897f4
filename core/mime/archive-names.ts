/** Bytes of a name; most file systems allow 255. */
const MAX_NAME_BYTES = 200;
const MAX_EXTENSION_BYTES = 20;

/**
 * Returns names for files in one folder on any operating system, in the same order: without separators and reserved characters or names,
 * and each unique whatever the case.
 */
export function archiveNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  /** by name, the last number that was added to it */
  const numbers = new Map<string, number>();
  return names.map((name) => {
    const { stem, extension } = split(safeName(name));
    const key = folded(stem + extension);
    let unique = shortened(stem, extension);
    for (let number = numbers.get(key) ?? 1; taken.has(folded(unique)); ) {
      numbers.set(key, ++number);
      unique = shortened(stem, ` (${number})${extension}`);
    }
    taken.add(folded(unique));
    return unique;
  });
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Names of devices on Windows, whatever their extension. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

function safeName(name: string): string {
  const safe = name
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are not allowed in names
    .replace(/[\0-\x1f\x7f-\x9f<>:"/\\|?*\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/g, '_')
    .replace(/^[\s.]+|[\s.]+$/g, '');
  if (safe === '') return 'attachment';
  return RESERVED.test(safe) ? `_${safe}` : safe;
}

function split(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.');
  const isExtension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MAX_EXTENSION_BYTES;
  return isExtension ? { stem: name.slice(0, dot), extension: name.slice(dot) } : { stem: name, extension: '' };
}

function shortened(stem: string, ending: string): string {
  let left = MAX_NAME_BYTES - Buffer.byteLength(ending);
  let kept = '';
  for (const character of stem) {
    left -= Buffer.byteLength(character);
    if (left < 0) break;
    kept += character;
  }
  return kept + ending;
}
