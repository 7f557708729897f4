/** Why readers do not see a piece of a message, or not as its text says. */
export const UNSEEN_KINDS = [
  'hidden',
  'tiny',
  'same_color',
  'off_screen',
  'some_readers',
  'collapsed',
  'comment',
  'attribute',
  'code',
  'invisible_characters',
  'gap',
] as const;
export type UnseenKind = (typeof UNSEEN_KINDS)[number];

/** Why a piece is not seen, with what makes it so. */
export interface Unseen {
  kind: UnseenKind;
  /** such as `display: none` */
  detail: string;
}

/** A piece of a part, in order. */
export interface ReviewPiece {
  text: string;
  /** null: readers see it */
  unseen: Unseen | null;
  /** the address that the piece leads to; null: none */
  target: string | null;
}

/** A place between the characters of a part. */
export interface PiecePosition {
  /** index of the piece that it is in or at the end of */
  piece: number;
  offset: number;
}

/** Pieces of one part that are returned. */
const MAX_PIECES = 3_000;
/** Characters that a piece counts beside its text. */
const PIECE_LENGTH = 60;

/** Collects the pieces of a part up to the limits. */
export class PieceList {
  readonly pieces: ReviewPiece[] = [];
  isTruncated = false;
  /** whether nothing more can be added */
  isFull = false;
  /** whether readers may not see pieces without a reason: what hides them was not wholly read */
  isUncertain = false;
  #room: number;
  #endsLine = true;

  /** `room`: characters of all pieces. */
  constructor(room: number) {
    this.#room = room;
  }

  /** Adds text, and marks the invisible characters in it and the lines that readers do not unfold. */
  add(text: string, unseen: Unseen | null, target: string | null = null): void {
    if (unseen !== null && unseen.kind !== 'collapsed') return this.#push({ text, unseen, target });
    let from = 0;
    for (const { 0: run, index } of text.matchAll(INVISIBLE)) {
      if (isOfEmoji(text, index, run)) continue;
      this.#push({ text: text.slice(from, index), unseen, target });
      this.#push({ text: '', unseen: describe(run), target });
      from = index + run.length;
    }
    this.#push({ text: text.slice(from), unseen, target });
  }

  /** Begins a line, unless one has just begun. */
  addBreak(unseen: Unseen | null): void {
    if (!this.#endsLine) this.add('\n', unseen);
  }

  /** Returns the place behind all that was added. */
  end(): PiecePosition {
    return { piece: Math.max(0, this.pieces.length - 1), offset: this.pieces.at(-1)?.text.length ?? 0 };
  }

  /** Marks what is behind a place and readers would see. Places behind it are no longer valid. */
  hide({ piece: index, offset }: PiecePosition, unseen: Unseen): void {
    const first = this.pieces[index];
    if (first === undefined) return;
    const isSplit = offset > 0 && offset < first.text.length && first.unseen === null;
    if (isSplit && this.pieces.length >= MAX_PIECES) {
      this.isTruncated = this.isFull = this.isUncertain = true;
      return;
    }
    if (isSplit) {
      this.pieces.splice(index + 1, 0, { ...first, text: first.text.slice(offset) });
      first.text = first.text.slice(0, offset);
    }
    for (const piece of this.pieces.slice(offset > 0 ? index + 1 : index))
      if (piece.unseen === null) piece.unseen = unseen;
  }

  /** Returns the pieces, with the gaps in them marked. */
  finish(): ReviewPiece[] {
    return this.pieces.flatMap((piece) => withGaps(piece)).filter(({ text, unseen }) => unseen !== null || text !== '');
  }

  #push(piece: ReviewPiece): void {
    if (piece.text === '' && piece.unseen?.kind !== 'invisible_characters') return;
    const last = this.pieces.at(-1);
    if (this.pieces.length >= MAX_PIECES || this.#room <= 0) {
      this.isTruncated = this.isFull = true;
      return;
    }
    const text = piece.text.length > this.#room ? piece.text.slice(0, this.#room).toWellFormed() : piece.text;
    if (text !== piece.text) this.isTruncated = true;
    const isSame =
      last !== undefined &&
      last.target === piece.target &&
      last.unseen?.kind === piece.unseen?.kind &&
      last.unseen?.detail === piece.unseen?.detail &&
      piece.unseen?.kind !== 'invisible_characters';
    this.#room -= text.length + (isSame ? 0 : PIECE_LENGTH);
    if (isSame) last.text += text;
    else this.pieces.push({ ...piece, text });
    if (!isSame || !/^[ \t]{0,20}$/.test(text)) this.#endsLine = /\n[ \t]*$/.test(text.slice(-20));
  }
}

const INVISIBLE = /(?:[\p{Default_Ignorable_Code_Point}\u2800]|(?![\t\n\r\f])\p{Cc}|\p{Co})+/gu;

/** Selectors and joiners that make one emoji of several characters. */
function isOfEmoji(text: string, index: number, run: string): boolean {
  return (
    /^[\ufe0e\ufe0f\u200d]{1,2}$/.test(run) &&
    /[\p{Extended_Pictographic}\p{Emoji_Modifier}#*\d]\ufe0f?$/u.test(text.slice(Math.max(0, index - 3), index))
  );
}

const NAMES: readonly [RegExp, string, string][] = [
  [
    /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/u,
    'character that changes the direction of text',
    'characters that change the direction of text',
  ],
  [/[\u{e0000}-\u{e007f}]/u, 'tag character', 'tag characters'],
  [/\p{Cc}/u, 'control character', 'control characters'],
];
const MAX_SPELLED_LENGTH = 200;

function describe(run: string): Unseen {
  const characters = Array.from(run);
  const count = characters.length;
  const codes = [...new Set(characters)]
    .slice(0, 4)
    .map((each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
  const [, one, many] = NAMES.find(([pattern]) => pattern.test(run)) ?? [
    '',
    'invisible character',
    'invisible characters',
  ];
  const name = count === 1 ? one : many;
  const spelled = characters
    .flatMap((each) => {
      const code = (each.codePointAt(0) ?? 0) - 0xe0000;
      return code >= 0x20 && code < 0x7f ? String.fromCodePoint(code) : [];
    })
    .join('')
    .slice(0, MAX_SPELLED_LENGTH);
  const says = spelled === '' ? '' : `, which say “${spelled}”`;
  return { kind: 'invisible_characters', detail: `${count} ${name} (${codes.join(', ')})${says}` };
}

/** Blank lines, or spaces, behind which readers expect nothing. */
const GAP = /(?:[ \t\u00a0\u2000-\u200a\u3000]*\r?\n){15,}|[ \t\u00a0\u2000-\u200a\u3000]{100,}/g;
/** Quotations and what is below a signature mark, which mail programs fold. */
const FOLDED = /(?:^>.*(?:\r?\n|$))+|^-- ?\r?\n[^]*/gm;

/** Adds plain text, with the parts that mail programs fold. */
export function addPlainText(text: string, list: PieceList): void {
  let from = 0;
  for (const { 0: folded, index } of text.matchAll(FOLDED)) {
    list.add(text.slice(from, index), null);
    const what = folded.startsWith('>') ? 'a quotation' : 'below the mark of a signature';
    list.add(folded, { kind: 'collapsed', detail: `${what}, which mail programs fold` });
    from = index + folded.length;
  }
  list.add(text.slice(from), null);
}

function withGaps(piece: ReviewPiece): ReviewPiece[] {
  const { text, unseen } = piece;
  if (unseen !== null && text.trim() === '' && unseen.kind !== 'gap' && unseen.kind !== 'invisible_characters')
    return [];
  const pieces: ReviewPiece[] = [];
  let from = 0;
  for (const { 0: gap, index } of text.matchAll(GAP)) {
    const lines = gap.split('\n').length - 1;
    const detail = lines > 0 ? `${lines} blank lines` : `${gap.length} spaces in a row`;
    pieces.push(
      { ...piece, text: text.slice(from, index) },
      { text: '\n', unseen: { kind: 'gap', detail }, target: null },
    );
    from = index + gap.length;
  }
  pieces.push({ ...piece, text: text.slice(from) });
  return pieces;
}
