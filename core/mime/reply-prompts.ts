import type { Line } from './reply-line.ts';
import { ABOVE_THIS_LINE, ABOVE_WORDS, LINE_WORDS, REPLY_ABOVE, RESPOND_WORDS } from './reply-words.ts';

/** What such a line has if it is ASCII. */
const ABOVE = /above|oberhalb|dessus|encima|sobre|acima|sopra|boven|over denne/i;
const REPLY_ABOVE_LINE = new RegExp(`^[\\W_]{0,12}(?:please )?.{0,30}(?:${REPLY_ABOVE}).{0,80}$`, 'iu');
/** What a line in a frame begins with. */
export const FRAME = '-#=*_~+–—';
/** `-- Proszę odpowiadać powyżej tej linii --` */
const FRAMED_LINE = /^[\s*]{0,3}[-#=*_~+–—]{2,}[^-#=*_~+–—].{6,110}[-#=*_~+–—]{2,}[\s*]{0,3}$/u;
const PROMPT = new RegExp(
  `(?:${RESPOND_WORDS}).{0,20}(?:${ABOVE_THIS_LINE})|(?:${ABOVE_THIS_LINE}).{0,20}(?:${RESPOND_WORDS})`,
  'iu',
);
/** Zendesk: `##- Odpověď napište nad tento řádek -##` */
const HELP_DESK_LINE = /^[\s*]{0,3}##\s?[-–—]{1,3}[^-#].{6,110}[-–—]{1,3}\s?##[\s*]{0,3}$/u;
const NAMES_LINE = new RegExp(`(?<!\\p{L})(?:${LINE_WORDS})(?!\\p{L})`, 'iu');
/** What may follow the line that a prompt names: nothing, a purpose, or the verb. `Write your name above this line of the form` is none. */
const PROMPT_END = new RegExp(
  `^(?:\\P{L}*$|[ ,.:;)-]{1,3}(?:to|um|pour|para|per|om|för|for|afin|чтобы|aby|żeby|and|und|et|och|og|please|bitte|when)(?!\\p{L})|\\P{L}{1,3}(?:\\p{L}{1,12} )?(?:${RESPOND_WORDS})\\P{L}*$)`,
  'iu',
);
const PROMPT_WORDS = [matchWords(ABOVE_WORDS), matchWords(LINE_WORDS), matchWords(RESPOND_WORDS)];

/** Whether a line of a help desk asks to respond above it: framed, or with nothing behind the line that it names but a purpose. */
export function asksToReplyAbove({ short, isAscii }: Line): boolean {
  if ((isAscii && !ABOVE.test(short)) || !REPLY_ABOVE_LINE.test(short)) return false;
  const line = NAMES_LINE.exec(short);
  return (
    FRAME.includes(short.charAt(0)) ||
    FRAME.includes(short.charAt(short.length - 1)) ||
    line === null ||
    PROMPT_END.test(short.slice(line.index + line[0].length))
  );
}

/** Whether a framed line asks to respond above this line, or in the frame of a help desk above a line, in the languages of `reply-words.ts`. */
export function isReplyPrompt(short: string): boolean {
  if (!FRAMED_LINE.test(short)) return false;
  return PROMPT.test(short) || (HELP_DESK_LINE.test(short) && PROMPT_WORDS.every((words) => words.test(short)));
}

/** Words of scripts with spaces begin at a boundary. */
function matchWords(words: string): RegExp {
  return new RegExp(`(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}])(?:${words})`, 'iu');
}
