import { skeleton } from '../mime/lookalike.ts';

/** Characters that no reader sees, and marks on letters of the scripts that are compared. */
const UNSEEN =
  /[\u0300-\u036f]|[\u00ad\u0591-\u05c7\u0610-\u061a\u061c\u064b-\u065f\u0670\u0640\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]/gu;
/** A word with Latin letters and those of a script with letters that look like them. */
const MIXED = /[a-z][\u0370-\u058f]|[\u0370-\u058f][a-z]/;

/**
 * Returns text in the form in which it is compared: lower case, without accents and invisible characters, wide and styled letters as plain ones,
 * quotation marks as `"`. In words of several alphabets, letters become the Latin ones that they look like.
 */
export function foldText(text: string): string {
  // In UTF-8, only ASCII has as many bytes as code units.
  if (Buffer.byteLength(text) === text.length) return hideTrades(text.toLowerCase());
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(UNSEEN, '')
    // Which of the two Turkish ones it is depends on the locale of who wrote it in capitals.
    .replaceAll('ı', 'i')
    .replace(/[\u2018\u2019\u201b\u02bc]/g, "'")
    .replace(/[\u00ab\u00bb\u201c-\u201f\u2039\u203a\u300c-\u300f\uff02]/g, '"');
  return hideTrades(MIXED.test(folded) ? folded.replace(/[a-z\u0370-\u058f']{3,}/g, asLatin) : folded);
}

/** A word that names programs and people alike. */
const MAY_BE_PERSON = /agen[tc]|assist|asystentk|агент|代理/;
/** Such a word as part of a trade, in folded text: what is beside it says that a person is meant, or a chemical. */
const TRADES = new RegExp(
  [
    String.raw`\b(?:lettings?|real estate|estate|insurance|travel|shipping|customs|sales|field|claims|escrow|literary|talent|transfer|ticket(?:ing)?|station|gate|ground|cabin|patent|registered|commission|purchasing|crop|press|federal|special|secret|law enforcement|cleaning|bonding|foaming|blowing|oxidi[sz]ing|reducing|chemical|wetting|contrast)[ -]agents?\b`,
    String.raw`\b(?:teaching|medical|dental|legal|shop|sales|nursing|care|flight|veterinary|pharmacy|classroom)[ -]assistants?\b`,
    String.raw`\bassistants? (?:professors?|managers?|directors?|coach(?:es)?|principals?|editors?|referees?|secretar(?:y|ies)|attorneys?|to (?:the )?(?:dr|mr|mrs|ms|prof|professor|director|president|ceo|board|dean|mayor))\b`,
    String.raw`\b(?:versicherungs|reise|aussendienst|außendienst|immobilien|handels|vertriebs|zoll|schiffs|verzekerings|reis|verkoop|politie)-?agent(?:en|in|innen)?\b`,
    String.raw`\bagents? (?:immobiliers?|commercia(?:l|ux)|territoria(?:l|ux)|administratifs?|d'assurances?|de (?:voyages?|securite|police|maitrise|bord))\b`,
    String.raw`\bagent(?:es?|i) (?:inmobiliari\w{1,3}|imobiliari\w{1,3}|immobiliar\w{1,2}|assicurativ\w|comerciale?s?|di (?:viaggio|commercio|polizia|vendita)|de (?:viajes?|seguros?|aduanas?|ventas?|policia|viagens?|vendas?|saude))\b`,
    String.raw`\bagen\w{1,5} (?:ubezpieczeniow\w{1,4}|celn\w{1,4}|nieruchomosci|handlow\w{1,4}|turystyczn\w{1,4})`,
    String.raw`(?<!(?:virtuell?e|digitale?|kunstliche|ki|ai|ia)[ -])(?<![a-z-])(?:assistentin(?:nen)?|asystentk\w{1,3})\b`,
    'страхов[а-я]{2,4} агент[а-я]{0,3}|агент[а-я]{0,3} по (?:недвижимости|продажам|страхованию|туризму)|турагент[а-я]{0,3}',
    '代理(?:商|店|人)|(?:保险|保險|旅行|房产|銷售|销售|货运|不動産)代理',
  ].join('|'),
  'g',
);

/** Returns folded text of the same length in which words for programs are none where they name people of a trade: `letting agents`. */
function hideTrades(folded: string): string {
  if (!MAY_BE_PERSON.test(folded)) return folded;
  return folded.replace(TRADES, (trade) =>
    trade.replace(/agen\w{1,5}|assist\w{3,8}|asystentk\w{1,3}|агент[а-я]{0,3}|代理/g, (noun) =>
      (noun === '代理' ? '某' : 'x').repeat(noun.length),
    ),
  );
}

function asLatin(word: string): string {
  return MIXED.test(word) ? skeleton(word) : word;
}

const DIGITS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

const IN_WORDS = /[a-z][013457@$!][a-z]|\b[1!][gn]/;
/** The verbs of instructions, with digits for letters. */
const VERBS = /[i1!l]gn[o0]r[e3]|d[i1!][s5$]r[e3]g[a4@]rd|f[o0]rg[e3][t7]|[o0]v[e3]rr[i1!]d[e3]|f[o0]rw[a4@]rd/g;

/** Returns folded text with letters in the place of digits in words (`1gn0re`); null when no word has both. */
export function readDigitsAsLetters(folded: string): string | null {
  if (!IN_WORDS.test(folded) || folded.match(VERBS)?.every((verb) => /^[a-z]+$/.test(verb)) !== false) return null;
  const read = folded.replace(/(?<![\w@.$/])(?:[a-z]{0,20}[013457@$!])[a-z013457@$]{2,20}(?![\w/])/g, (word) => {
    if ((word.match(/[a-z]/g)?.length ?? 0) < word.length / 2) return word;
    return word.replace(/[013457@$!]/g, (digit) => DIGITS[digit] ?? digit);
  });
  return read === folded ? null : read;
}

const SPACED =
  /[ \n][a-z\u00df-\u04ff][ ._*-]{1,3}[a-z\u00df-\u04ff][ ._*-]{1,3}[a-z\u00df-\u04ff][ ._*-]{1,3}[a-z\u00df-\u04ff][ ._*-]|^[a-z][ ._*-]{1,3}[a-z][ ._*-]{1,3}[a-z][ ._*-]/;

/** Returns folded text in which words with a space between their letters are joined; null when there are none. */
export function joinSpacedLetters(folded: string): string | null {
  if (!SPACED.test(folded)) return null;
  const joined = folded.replace(/(?<![\p{L}\p{N}])(?:\p{L}[ \t._*-]{1,3}){4,}\p{L}(?![\p{L}\p{N}])/gu, (run) => {
    const words = run.split(/[ \t]{2,3}/).map((word) => word.replace(/[^\p{L}]/gu, ''));
    return words.join(' ');
  });
  return joined === folded ? null : joined;
}

/** Marks within words that are broken: a hyphen, a dot, and what no word has. */
const BREAKS = ['-', '.', '*', '~', '|', '_', '\u00b7'];
/** So many broken words lie within so many characters where a whole text is broken; ordinary text has `check-in` here and there. */
const MIN_BROKEN = 4;
const MAX_APART = 20;
const IS_LETTER = /\p{L}/u;

/** Returns folded text in which words with a mark between two of their letters (`ig-nore`) are whole; null when there are not many together. */
export function joinBrokenWords(folded: string): string | null {
  const mark = BREAKS.find((each) => isBrokenBy(folded, each));
  if (mark === undefined) return null;
  const pattern = new RegExp(`(?<=\\p{L}{2})[${mark}](?=\\p{L}{2})`, 'gu');
  // Addresses stay as they are.
  return folded.replace(/(?<![^\s])[^\s@/]{1,60}(?![^\s])/g, (word) => word.replace(pattern, ''));
}

function isBrokenBy(folded: string, mark: string): boolean {
  let run = 0;
  let last = -MAX_APART;
  for (let at = folded.indexOf(mark); at !== -1; at = folded.indexOf(mark, at + 1)) {
    if (!IS_LETTER.test(folded[at - 1] ?? '') || !IS_LETTER.test(folded[at + 1] ?? '')) continue;
    // A name of a host has several in one word.
    const isNear = at - last <= MAX_APART;
    if (!isNear || folded.slice(last, at).includes(' ')) run = isNear ? run + 1 : 1;
    if (run === MIN_BROKEN) return true;
    last = at;
  }
  return false;
}

const JOINED_WORDS = /(?:[A-Z][a-z]{1,14}){8}/;

/** Returns folded text with spaces before the capitals of words that were written together (`SendTheCodeTo`); null when there are none. */
export function divideJoinedWords(text: string): string | null {
  if (!JOINED_WORDS.test(text)) return null;
  return foldText(text.replace(/(?<=[a-z.,:;!?])(?=[A-Z])/g, ' '));
}

const LABELED = /(?:^|\n)[^\n:=]{1,24}[:=] [^\n]{3,200}\n[^\n:=]{1,24}[:=] /;
const LABEL = /^[\s>*-]{0,8}([^\n:="]{1,24}?)\s{0,2}[:=]\s{1,3}(.{3,200})$/;

/**
 * Returns what the parts of folded text say together whose lines have labels of one kind (`part 1 of 2: … part 2 of 2: …`, `a = "…" b = "…"`);
 * null: it has none.
 */
export function joinLabeledLines(folded: string): string | null {
  if (!LABELED.test(folded)) return null;
  const runs: string[][] = [];
  let last: string | null = null;
  for (const line of folded.split('\n')) {
    const [, label = null, value = ''] = LABEL.exec(line) ?? [];
    if (label === null) {
      last = null;
      continue;
    }
    if (last !== null && areAlike(last, label)) runs.at(-1)?.push(value);
    else runs.push([value]);
    last = label;
  }
  const joined = runs
    .filter((run) => run.length > 1)
    .map((run) => run.join(' ').replaceAll('"', ''))
    .join('\n\n');
  return joined === '' ? null : joined;
}

/** Returns whether two labels number parts of the same: one letter each, or a word that both have. */
function areAlike(one: string, other: string): boolean {
  if (one === other) return false;
  if (one.length === 1 && other.length === 1) return true;
  const words = new Set(one.match(/\p{L}{3,}/gu));
  return (other.match(/\p{L}{3,}/gu) ?? []).some((word) => words.has(word));
}
