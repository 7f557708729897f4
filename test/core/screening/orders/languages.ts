import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Parts of texts of one language: lists by name. */
type Parts = ReadonlyMap<string, readonly string[]>;

/** Returns the parts of each language in a file of this folder. */
function readLanguages(file: 'languages.txt' | 'situations.txt'): Map<string, Parts> {
  const languages = new Map<string, Map<string, string[]>>();
  let parts = new Map<string, string[]>();
  for (const line of readFileSync(path.join(import.meta.dirname, file), 'utf8').split('\n')) {
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

/** Returns a function that picks of a list, always the same ones for the same seed. */
function makePick(first: number): (list: readonly string[] | undefined) => string {
  let seed = first;
  return (list) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return list?.[Math.floor((seed / 2 ** 32) * list.length)] ?? '';
  };
}

/** Returns orders to machines, or requests to people and texts about machines, made of the parts of 25 languages; always the same. */
export function makeLanguageSentences(kind: 'aimed' | 'harmless'): string[] {
  const pick = makePick(kind === 'aimed' ? 23 : 29);
  const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  return [...readLanguages('languages.txt')].flatMap(([language, parts]) => {
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

/** Texts that are made of each sentence of `situations.txt`. */
const MADE_OF_SITUATION = { aimed: 8, harmless: 2 };

/**
 * Returns texts that speak to whoever writes the reply and may name no machine (what to put into it, what to do with the newest mail, pretended
 * turns, rules and results), or what people write that resembles them, in 22 languages; always the same.
 */
export function makeSituationSentences(kind: 'aimed' | 'harmless'): string[] {
  const pick = makePick(kind === 'aimed' ? 31 : 37);
  return [...readLanguages('situations.txt').values()].flatMap((parts) =>
    (parts.get(kind) ?? []).flatMap((frame) => {
      const made = Array.from({ length: frame.includes('{') ? MADE_OF_SITUATION[kind] : 1 }, () =>
        frame
          .replaceAll('{r}', () => pick(parts.get('things')))
          .replaceAll('{x}', () => pick(parts.get('outputs')))
          .replaceAll('{a}', () => pick(ADDRESSES))
          .replaceAll('{u}', () => pick(PAGES)),
      );
      return [...new Set(made)];
    }),
  );
}

/** Texts that are made of each template of `kinds.txt`. */
const MADE_OF_KIND = { aimed: 12, harmless: 12 };

/**
 * Returns texts that are made of the templates of `kinds.txt`, sorted by what they aim at (wishes, roles, transcripts, results, rules, data, what
 * a reply must hold, …), or what people write that resembles them, in 29 languages; always the same.
 */
export function makeKindSentences(kind: 'aimed' | 'harmless'): string[] {
  const pick = makePick(kind === 'aimed' ? 41 : 43);
  const situations = readLanguages('situations.txt');
  let own: Parts = new Map();
  let lists = new Map<string, readonly string[]>();
  return readFileSync(path.join(import.meta.dirname, 'kinds.txt'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('# ')) {
        own = situations.get(line.slice(2)) ?? new Map();
        lists = new Map();
      }
      const [, name, list = ''] = /^(things|outputs): (.*)$/.exec(line) ?? [];
      if (name !== undefined) lists.set(name, list.split(' / '));
      if (!line.startsWith(kind === 'aimed' ? '+ ' : '- ')) return [];
      const made = Array.from({ length: MADE_OF_KIND[kind] }, () =>
        line
          .slice(2)
          .replaceAll('\\n', '\n')
          .replaceAll('{r}', () => pick(lists.get('things') ?? own.get('things')))
          .replaceAll('{x}', () => pick(lists.get('outputs') ?? own.get('outputs')))
          .replaceAll('{a}', () => pick(ADDRESSES))
          .replaceAll('{u}', () => pick(PAGES))
          .replaceAll(/\{([^{}]*\|[^{}]*)\}/g, (_whole, choices: string) => pick(choices.split('|'))),
      );
      return [...new Set(made)];
    });
}

function joined(tail: string): string {
  return tail === '' || /^[,;.，。،]/.test(tail) ? tail : ` ${tail}`;
}
