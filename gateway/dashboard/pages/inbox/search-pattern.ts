/** Words of a search that mean themselves: no operators such as `from:ann` and no excluded words. */
const PLAIN_WORD = /"([^"]+)"|(\S+)/g;
const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Returns a pattern of the plain words of a search, for FoundWords; null if there are none. */
export function patternOfSearch(search: string): RegExp | null {
  const words = [...search.matchAll(PLAIN_WORD)].flatMap(([, phrase, word]) => {
    if (phrase !== undefined) return [phrase];
    return word === undefined || /^[-!]|^[a-z_]+:/i.test(word) ? [] : [word.replaceAll(/[*"]/g, '')];
  });
  const patterns = words.filter((word) => word.length > 1).map((word) => word.replaceAll(SPECIAL, String.raw`\$&`));
  // Where a word begins, as the search finds it.
  return patterns.length === 0 ? null : new RegExp(String.raw`((?<![\p{L}\p{N}])(?:${patterns.join('|')}))`, 'giu');
}
