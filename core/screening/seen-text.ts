import { PERHAPS_COVERED } from '../sending/covering.ts';
import { addHtmlText } from '../sending/unseen-html.ts';
import { addPlainText, PieceList, type ReviewPiece, type UnseenKind } from '../sending/unseen-text.ts';

/** Kinds of pieces that many readers do see. */
const SEEN_KINDS: ReadonlySet<UnseenKind> = new Set(['collapsed', 'some_readers']);
/** Characters of a body that are read, and of its pieces. */
const MAX_LENGTH = 200_000;
/** Characters of HTML that are searched for style sheets, which also hide what is before them. */
export const MAX_SEARCHED = 1_000_000;
const MAX_PIECES = 400_000;

/** Returns whether a person sees a piece of a mail, at least in some programs. */
export function isSeen({ unseen }: ReviewPiece): boolean {
  return unseen === null || SEEN_KINDS.has(unseen.kind);
}

/**
 * Returns the text of a mail that a person sees: of its HTML if it has any, without hidden elements and invisible characters. Its beginning, if
 * it is large; null: it has no text, or the HTML or what hides parts of it cannot be wholly read.
 */
export function readSeenText(mail: { text: string | null; html: string | null }): string | null {
  const list = new PieceList(MAX_PIECES);
  if (mail.html !== null) {
    if (hasStylesBehind(mail.html)) return null;
    if (!addHtmlText(mail.html.slice(0, MAX_LENGTH), list)) return null;
  } else if (mail.text === null) return null;
  else addPlainText(mail.text.slice(0, MAX_LENGTH), list);
  if (list.isUncertain) return null;
  const text = list
    .finish()
    .filter((piece) => isSeen(piece) || piece.unseen === PERHAPS_COVERED)
    .map((piece) => piece.text)
    .join('');
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .toWellFormed();
}

/** Returns whether HTML has, or may have, styles behind what is read of it. */
function hasStylesBehind(html: string): boolean {
  if (html.length <= MAX_LENGTH) return false;
  const all = html.toLowerCase();
  return (
    all.length > MAX_SEARCHED ||
    all.includes('<style', MAX_LENGTH) ||
    all.lastIndexOf('<style', MAX_LENGTH) > all.lastIndexOf('</style', MAX_LENGTH)
  );
}
