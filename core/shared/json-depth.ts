/** Objects and lists within each other in the JSON of a request. Deeper values overflow the stack of what reads them. */
export const MAX_JSON_DEPTH = 100;

/** Returns whether a parsed JSON text nests more than MAX_JSON_DEPTH objects and lists. Texts with fewer brackets cost next to nothing. */
export function isTooDeep(text: string, parsed: unknown): boolean {
  if (!hasManyBrackets(text)) return false;
  let level = [parsed].filter(isNesting);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MAX_JSON_DEPTH) return true;
    const next: object[] = [];
    for (const value of level)
      for (const item of Array.isArray(value) ? (value as unknown[]) : Object.values(value))
        if (isNesting(item)) next.push(item);
    level = next;
  }
  return false;
}

function hasManyBrackets(text: string): boolean {
  const bracket = /[[{]/g;
  for (let count = 0; count <= MAX_JSON_DEPTH; count++) if (!bracket.test(text)) return false;
  return true;
}

function isNesting(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns whether a JSON text nests too deep; a text that is no JSON does not. */
export function isJsonTooDeep(text: string): boolean {
  if (!hasManyBrackets(text)) return false;
  try {
    return isTooDeep(text, JSON.parse(text) as unknown);
  } catch {
    return false;
  }
}
