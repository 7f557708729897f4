import { compileLater, type Pattern } from '../shared/lazily.ts';

/** Matches up to 40 characters in a word of a list. */
export const GAP = ' ... ';

/** Behind a title: a word that may be a name. `ms` is Microsoft, too. */
const NAME = String.raw`\.? (?!(?:exchange|outlook|office|word|excel|teams|windows|access|tnef|sql|project|defender|azure|visual|format|nie|jest|ist|nicht)(?!\p{L}))\p{L}{2,}`;

/** Last words of up to 4 letters end at a boundary; `typo-squatting` is no typo. */
const SHORT_END = /(?<![\p{L}\p{N}])[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{1,4}$/u;
const WORD_END = String.raw`(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]|-\p{L})`;

/** Behind a recipient who is missing: not the rest of a longer word, as in `Kein Nutzer-Einverständnis` and `Kein Empfängerlimit`. */
const NO_COMPOUND = String.raw`(?!\p{L}{0,2}-\p{L}|[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{5})`;
const NEGATED = /^(?:keine?n? |geen |ingen |inget |intet )/;

/** Returns the words of a list separated by `|`, each also without the marks of its letters, as replies in ASCII write them. */
export function listWords(text = ''): string[] {
  if (text === '') return [];
  return [...new Set(text.split('|').flatMap((word) => spellings(word.trim().replace(/\s+/g, ' '))))];
}

/**
 * Returns a word as it is, and as replies in ASCII write it: without the marks of its Latin letters, with two letters for one, and with or
 * without apostrophes: `löytynyt`, `loytynyt`, `loeytynyt`; `n'existe`, `n existe`; `è presente`, `e' presente`.
 */
export function spellings(word: string): string[] {
  const plain = withoutMarks(word);
  const twoLetters = word.replace(/[äöüåø]/g, (letter) => TWO_LETTERS[letter] ?? letter);
  const stressed = word.replace(/[àèìòù](?!\p{L})/gu, (letter) => `${withoutMarks(letter)}'`);
  const short = word.replace(/^not(?= )/, "isn't");
  return [
    ...new Set([word, short, plain, withoutMarks(twoLetters), withoutMarks(stressed), plain.replaceAll("'", ' ')]),
  ];
}

function withoutMarks(word: string): string {
  return word
    .normalize('NFD')
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
    .replace(/[łøđıßæœðþ]/g, (letter) => UNMARKED[letter] ?? letter);
}

const TWO_LETTERS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };

const UNMARKED: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ð: 'd',
  þ: 'th',
};

/** Words for none before one for a recipient, with at most one word between them; a few characters where words have no spaces. */
export function makeNonePattern(none: readonly string[], recipients: readonly string[]): Pattern | null {
  if (none.length === 0) return null;
  return compileLater(
    () =>
      `(?:${pattern(none).source})(?<between>(?:\\S{1,12} ?|(?: [^\\s.,:]{1,16})?[\\s"'«„“]{1,2}(?:[\\p{L}-]{1,14})?)??)(?:${pattern(recipients).source})${NO_COMPOUND}`,
  );
}

export function endingWith(words: readonly string[]): Pattern {
  return compileLater(() => `(?:${pattern(words).source})[\\s"'»”.]{0,3}$`);
}

/**
 * Words in scripts with spaces begin at a boundary, so that `user` is not found in `superuser`, unless `~` before them allows compounds.
 * Short ones end at one, so that `box` is not found in `boxed`, unless `~` behind them allows endings. ` ... ` is a gap, ` NAME` a name.
 */
export function pattern(words: readonly string[]): Pattern {
  return compileLater(() => {
    const isSpaced = (word: string) => /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word);
    const spaced = words.filter(isSpaced).map(toSource);
    const others = words.filter((word) => !isSpaced(word)).map((word) => toSource(word.replace(/^~/, '')));
    const bounded = spaced.length === 0 ? [] : [`(?<![\\p{L}\\p{N}_-])(?:${spaced.join('|')})`];
    return [...bounded, ...others].join('|');
  });
}

function toSource(word: string): string {
  const [bare = '', ...names] = word.split(' NAME');
  const parts = bare.replace(/~$/, '').split(GAP);
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}/]/g, '\\$&')).join('.{0,40}');
  const end = names.length > 0 ? NAME : SHORT_END.test(bare) ? WORD_END : NEGATED.test(bare) ? NO_COMPOUND : '';
  return `${escaped}${end}`;
}

/** English as some servers write it, and as the lists have it. */
const CORRECTIONS: readonly (readonly [RegExp, string])[] = [
  [/(?<!\p{L})(?:unknow|unkown|unknwon|uknown|unknonw|unkonwn|unknowed|unknwown)(?!\p{L})/gu, 'unknown'],
  [/(?<!\p{L})(?:rec[ei]{1,2}p[ie]{1,2}[ae]?nt|recipinet|recipeint|receipent)(s?)(?!\p{L})/gu, 'recipient$1'],
  [
    /(?<!\p{L})adress(?=(?:es)? (?:unknown|invalid|not|no|does|is|rejected|incorrect))|(?<=(?:no such|unknown|invalid|bad|e-?mail|mail|recipient) )adress(?!\p{L}|e)/gu,
    'address',
  ],
  [/(?<!\p{L})(?:can not|cann't|cant)(?!\p{L})/gu, 'cannot'],
  [/(?<!\p{L})(do|does|is|was)nt(?!\p{L})/gu, "$1n't"],
  [
    /(?<!\p{L})(?<!(?:may|might|could|should|can|will|would|must|to|did|if) )(?:(?:is|are|was|does|do) )?(?:isn't|don't|not|no) exists?(?!\p{L})/gu,
    'does not exist',
  ],
  [/(?<!\p{L})(?:have|has|do|does) ?(?:not|n't)(?: have)?(?: any| an?)? such(?!\p{L})/gu, 'no such'],
  [/(?<=(?:user|mailbox|recipient|account|address|@addr) )no (?=found|valid(?!\p{L}))/gu, 'not '],
  [/(?<!\p{L})no(?:t)? regist(?:er|ered|red)(?!\p{L})/gu, 'not registered'],
];

/** Returns a text (lower case) with usual misspellings of English corrected: `unkown user`, `recepient no found`, `no exist`. */
export function correctEnglish(text: string): string {
  return CORRECTIONS.reduce((corrected, [wrong, right]) => corrected.replace(wrong, right), text);
}
