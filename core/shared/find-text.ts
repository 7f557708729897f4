/** Steps of a plain search, in the worst case, that are cheaper than preparing for it. */
const PLAIN_STEPS = 200_000;

/**
 * Whether the text holds the word, in time that grows with the sum of their lengths at most, whoever wrote them: the engine's own
 * search takes their product for repetitive ones (Knuth, Morris, Pratt 1977).
 */
export function holds(text: string, word: string): boolean {
  if (text.length * word.length <= PLAIN_STEPS) return text.includes(word);
  if (word.length > text.length) return false;
  const fallbacks = fallbacksOf(word);
  let met = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (met > 0 && word.charCodeAt(met) !== code) met = fallbacks[met - 1] ?? 0;
    if (word.charCodeAt(met) === code) met++;
    if (met === word.length) return true;
  }
  return false;
}

/** For each front of the word, how long the longest shorter front is that it ends with. */
function fallbacksOf(word: string): Uint32Array {
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
