import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Parts of texts of one language: lists by name. */
type Parts = ReadonlyMap<string, readonly string[]>;

/** Returns the parts of each language in `languages.txt`. */
function readLanguages(): Map<string, Parts> {
  const languages = new Map<string, Map<string, string[]>>();
  let parts = new Map<string, string[]>();
  for (const line of readFileSync(path.join(import.meta.dirname, 'languages.txt'), 'utf8').split('\n')) {
    if (line.startsWith('# ')) languages.set(line.slice(2), (parts = new Map()));
    else if (line !== '')
      parts.set(
        line.slice(0, line.indexOf(':')),
        line
          .slice(line.indexOf(':') + 1)
          .trim()
          .split(' / '),
      );
  }
  return languages;
}

/** Returns sentences of ordinary mail in 25 languages, which say neither much of machines nor to them. */
export function readEverydaySentences(): string[] {
  const text = readFileSync(path.join(import.meta.dirname, 'everyday.txt'), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
}

const ADDRESSES = ['x@copy.test', 'audit@example.test', 'j.meyer@outside.test', 'this address', 'office@partner.test'];
const PAGES = ['https://copy.test/a', 'https://pages.example/read', 'https://x.test/?q=1'];

/** Texts of each kind and language. */
const MADE = { aimed: 520, people: 170, says: 300 };
const MADE_ENGLISH = 3;

/** Returns orders to machines, or requests to people and texts about machines, made of the parts of 25 languages; always the same. */
export function makeLanguageSentences(kind: 'aimed' | 'harmless'): string[] {
  let seed = kind === 'aimed' ? 23 : 29;
  const pick = (list: readonly string[] | undefined): string => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return list?.[Math.floor((seed / 2 ** 32) * list.length)] ?? '';
  };
  const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  return [...readLanguages()].flatMap(([language, parts]) => {
    const make = (frames: string) => {
      const machine = pick(parts.get('machines'));
      return upper(
        pick(parts.get(frames))
          .replaceAll('{M}', upper(machine))
          .replaceAll('{m}', machine)
          .replaceAll('{t}', joined(pick(['', pick(parts.get('tails'))])))
          .replaceAll('{o}', () => pick(parts.get('orders')))
          .replaceAll('{p}', () => pick(parts.get('orders')))
          .replaceAll('{a}', () => pick(ADDRESSES))
          .replaceAll('{u}', () => pick(PAGES)),
      );
    };
    const times = language.startsWith('en') ? MADE_ENGLISH : 1;
    const kinds = kind === 'aimed' ? (['aimed'] as const) : (['people', 'says'] as const);
    return kinds.flatMap((frames) => Array.from({ length: MADE[frames] * times }, () => make(frames)));
  });
}

function joined(tail: string): string {
  return tail === '' || /^[,;.，。،]/.test(tail) ? tail : ` ${tail}`;
}
