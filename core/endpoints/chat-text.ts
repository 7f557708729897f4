/** Text of mail made fit for a chat message. `pieces` splits it where it may be cut, each piece written as the service wants it. */
export type Pieces = (text: string) => Iterable<string>;

/** Characters that are looked at; every limit of a chat service is far below. */
const MAX_LOOKED_AT = 20_000;
/** UTF-16 units. What joins more marks into one character than any script does is cut within them. */
const LONGEST_GRAPHEME = 32;
const ELLIPSIS = '…';

/**
 * Text without what harms where it is shown: control characters, marks that turn the direction of writing (`gpj.exe` for `exe.jpg`),
 * invisible ones, lone surrogates. Line ends become line feeds, at most two in a row. Joiners stay, as emoji and scripts need them.
 */
export function harmlessText(text: string): string {
  const front =
    text.length > MAX_LOOKED_AT ? `${text.slice(0, MAX_LOOKED_AT).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}` : text;
  return front
    .toWellFormed()
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(
      /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
      '',
    )
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** As {@link harmlessText}, in one line. */
export function harmlessLine(text: string): string {
  return harmlessText(text).replace(/\s+/g, ' ');
}

/** Whether a reader would see nothing: chat services refuse such text, or show a gap. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u2800\u3164\uffa0]/u.test(text);
}

/**
 * The text in at most `limit` UTF-16 units (no service counts a character as more), with an ellipsis where it was cut. Characters that
 * readers see as one are never cut in two, nor are escapes.
 */
export function fitText(text: string, limit: number, pieces: Pieces): string {
  let fitted = '';
  let safe = 0;
  for (const piece of pieces(text)) {
    fitted += piece;
    if (fitted.length > limit) return `${fitted.slice(0, safe).trimEnd()}${ELLIPSIS}`;
    if (fitted.length <= limit - ELLIPSIS.length) safe = fitted.length;
  }
  return fitted;
}

/** For fields that are shown as they are. */
export const plainPieces: Pieces = graphemes;

/** Slack, "Formatting message text": three characters are escaped; nothing then is a mention, a link or a command. */
export function* slackPieces(text: string): Iterable<string> {
  for (const piece of graphemes(text))
    yield piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Discord's markdown with nothing in it that acts: a backslash stands before whatever could. URLs of http and https stay as they are,
 * so that they can be followed, in pieces that are never cut; one that the limit cuts is no link any more.
 */
export const discordPieces: Pieces = (text) => escapedForDiscord(text, LINK);

/** The same, in which nothing can be followed: URLs of a message's own text would be fetched and shown. */
export const discordPiecesWithoutLinks: Pieces = (text) => escapedForDiscord(text, null);

/** What Discord takes for a URL begins so; of its characters only those that need no escape within. */
const LINK = /https?:\/\/[A-Za-z0-9._~:/?#@!$&'+,;=%-]+/gi;
const MAX_LINK_LENGTH = 500;
const ACTIVE = /[\\`*_~|<>[\]()@#]/g;

function* escapedForDiscord(text: string, link: RegExp | null): Iterable<string> {
  let at = 0;
  for (const match of link === null ? [] : text.matchAll(link)) {
    if (match[0].length > MAX_LINK_LENGTH) continue;
    yield* escapedPieces(text.slice(at, match.index), lineBefore(text, at));
    yield match[0];
    at = match.index + match[0].length;
  }
  yield* escapedPieces(text.slice(at), lineBefore(text, at));
}

function* escapedPieces(text: string, before: string): Iterable<string> {
  let line = before;
  let at = 0;
  for (const piece of graphemes(text)) {
    // Marks of lists count at the beginning of a line only.
    const isMark = /^[-+.]$/.test(piece) && /^\s*\d*$/.test(line);
    // A scheme without its colon is no link.
    const isScheme = piece === ':' && text[at + 1] === '/';
    yield isMark || isScheme ? `\\${piece}` : piece.replace(ACTIVE, '\\$&');
    line = piece.includes('\n') ? '' : line.length > 20 ? line : line + piece;
    at += piece.length;
  }
}

function lineBefore(text: string, at: number): string {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).slice(0, 21);
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function* graphemes(text: string): Iterable<string> {
  // Most text has nothing that could be joined; the line feeds of ours have no carriage return before them.
  if (/^[\n -~]*$/.test(text)) {
    yield* text;
    return;
  }
  for (const { segment } of segmenter.segment(text)) {
    if (segment.length <= LONGEST_GRAPHEME) yield segment;
    else yield* segment;
  }
}
