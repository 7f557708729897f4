import { MAX_HTML_LENGTH, type RunStep, textOfHtmlInSteps } from '../html/text-of-html.ts';
import { type BodyText, textBeginning } from '../shared/large-text.ts';
import { storableText } from '../shared/text.ts';
import { findSharedParts } from './attribution.ts';
import { type Fate, isAsciiText, type Line, readLine } from './reply-line.ts';
import { decideFates } from './reply-reader.ts';

export const REMOVED_KINDS = ['quote', 'signature'] as const;
export type RemovedKind = (typeof REMOVED_KINDS)[number];

/** A part of a text that its author did not type into this message. */
export interface RemovedPart {
  kind: RemovedKind;
  /** offset in the plain-text body, or in the HTML of a message without one; in UTF-16 code units */
  start: number;
  /** offset behind its last line break */
  end: number;
}

/** What its author typed into a message. */
export interface Reply {
  /** without the removed parts, trimmed; the whole text when nothing else would remain */
  text: string;
  /** in the order of the text, not overlapping */
  removed: RemovedPart[];
}

/** Returns a plain-text body without quoted mail and signature, unless nothing else remains. */
export function stripQuotedText(text: string): string {
  return readReply(text).text;
}

/**
 * Finds what the author of a plain-text body typed, line by line, in linear time. Removed are quoted mail below or above it with the lines
 * that introduce it, signatures behind `--`, what telephones and companies add, and all that follows the fields of a quoted or forwarded
 * message. Quotations between replies stay. `isReply`: see {@link decideFates}.
 */
export function readReply(text: string, isReply = true): Reply {
  const lines = splitLines(text, isReply);
  const fates = decideFates(lines, isReply);
  const removed = readParts(lines, fates);
  const own = removed.length > MAX_PARTS ? '' : withoutParts(text, removed);
  return own === '' ? { text: tidy(text), removed: [] } : { text: own, removed };
}

/** Returns a text without parts of it, which are in its order, trimmed and with LF. */
export function withoutParts(text: string, removed: readonly RemovedPart[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of removed) {
    pieces.push(text.slice(at, start));
    at = end;
  }
  return tidy(`${pieces.join('')}${text.slice(at)}`);
}

function tidy(text: string): string {
  return storableText(text.replaceAll('\r\n', '\n').trim());
}

/** A text with more is not taken apart: no author alternates so often with quoted mail. */
export const MAX_PARTS = 1_000;

/** The bodies of a message; null: it has none. */
export interface Bodies<Text extends BodyText = BodyText> {
  text: Text | null;
  html: Text | null;
}

/** The removed parts of a kind: a text, or HTML whose text is read later. */
export type RemovedSource<Text extends BodyText = BodyText> = { text: Text } | { html: string };

/** Returns the removed parts of a kind, trimmed; null when there are none. Without a plain-text body they are those of the HTML. */
export function removedSource(
  bodies: Bodies<string>,
  removed: readonly RemovedPart[],
  kind: RemovedKind,
): RemovedSource<string> | null;
export function removedSource(bodies: Bodies, removed: readonly RemovedPart[], kind: RemovedKind): RemovedSource | null;
export function removedSource(
  bodies: Bodies,
  removed: readonly RemovedPart[],
  kind: RemovedKind,
): RemovedSource | null {
  const { text, html } = bodies;
  const source = text ?? html;
  const parts = removed.filter((part) => part.kind === kind);
  if (source === null || parts.length === 0) return null;
  if (text === null) {
    const pieces = parts.map((part) => (typeof source === 'string' ? slice(source, part) : source.slice([part])));
    return { html: pieces.map((piece) => textBeginning(piece, MAX_HTML_LENGTH)).join('<br>') };
  }
  return typeof source === 'string'
    ? { text: tidy(parts.map((part) => slice(source, part)).join('')) }
    : { text: source.slice(parts).trim() };
}

/** The quoted mail and the signature of a message, as text. */
export interface RemovedTexts {
  quotedText: string | null;
  signature: string | null;
}

/** Returns the quoted mail and the signature of a message; those of HTML are read in steps. */
export async function readRemovedTexts(
  bodies: Bodies<string>,
  removed: readonly RemovedPart[],
  run: RunStep,
): Promise<RemovedTexts> {
  const read = async (kind: RemovedKind) => {
    const source = removedSource(bodies, removed, kind);
    return source !== null && 'html' in source ? textOfHtmlInSteps(source.html, run) : (source?.text ?? null);
  };
  return { quotedText: await read('quote'), signature: await read('signature') };
}

function slice(text: string, { start, end }: RemovedPart): string {
  return text.slice(start, end);
}

/** A line and its place in the text, with its line break. */
interface TextLine extends Line {
  start: number;
  end: number;
}

function splitLines(text: string, isReply: boolean): TextLine[] {
  const lines: TextLine[] = [];
  const isAscii = isAsciiText(text) ? true : undefined;
  const isWhole = !text.trim().includes('\n');
  let start = 0;
  const add = (line: string, end: number) => {
    const { text: own, short, isBlank, isAscii: isOwnAscii, mark } = readLine(line, null, isAscii);
    lines.push({ text: own, short, isBlank, isAscii: isOwnAscii, mark, start, end });
    start = end;
  };
  for (const raw of text.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const end = Math.min(start + raw.length + 1, text.length);
    const begin = start;
    let from = 0;
    for (const at of findSharedParts(line, { isReply, isWhole })) {
      add(line.slice(from, at), begin + at);
      from = at;
    }
    add(line.slice(from), end);
  }
  return lines;
}

/** Adjacent lines of the same fate are one part; blank lines between them belong to it. */
function readParts(lines: readonly TextLine[], fates: readonly Fate[]): RemovedPart[] {
  const parts: RemovedPart[] = [];
  for (const [at, line] of lines.entries()) {
    const kind = fates[at] ?? 'kept';
    const last = parts.at(-1);
    if (kind === 'kept') continue;
    if (last?.kind === kind && fates[at - 1] === kind) last.end = line.end;
    else parts.push({ kind, start: line.start, end: line.end });
  }
  return parts;
}
