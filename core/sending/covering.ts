import type { Declarations } from './style-rules.ts';
import { firstColor } from './text-colors.ts';
import type { PieceList, PiecePosition, Unseen } from './unseen-text.ts';

/** An element with a place of its own: what lies over all of it covers what is in it. */
export interface Box {
  start: PiecePosition;
  /** the highest `z-index` in it so far */
  layer: number;
}

const COVERED: Unseen = { kind: 'hidden', detail: 'another element lies over it' };
/** What a person may see: a picture lets through what is below, or an element may be smaller than the box. */
export const PERHAPS_COVERED: Unseen = { kind: 'hidden', detail: 'another element may lie over it' };
const PLACED = /^(?:absolute|fixed)/;
const BOXED = /^(?:relative|absolute|fixed|sticky)/;
const NOTHING = /^[+-]?0+(?:\.0+)?(?:px|em|%|pt|rem|vw|vh)?$/;
const WHOLE = /^(?:100(?:\.0+)?(?:%|vw|vh)|[1-9]\d{3,}px)$/;
/** Too small for a word. */
const SMALL = /^(?:\d(?:\.\d+)?(?:px|pt)?|[0-4]?\d(?:\.\d+)?%|0?\.\d+r?em)$/;
/** Opacity from which on nothing is seen through a color. */
const OPAQUE = 0.9;

/** Returns the box that an element opens, or the one around it. */
export function boxWithin(declarations: Declarations, outer: Box, list: PieceList): Box {
  if (!says(declarations, 'position', BOXED)) return outer;
  outer.layer = Math.max(outer.layer, readLayer(declarations));
  return { start: list.end(), layer: 0 };
}

/**
 * Marks what lies below an element of a box that is as large as the box and lets nothing through: a color, or a picture (`isPicture`). What
 * is in a box with a higher `z-index` lies above. Each piece is marked once, with {@link PERHAPS_COVERED} below a picture or another size.
 */
export function cover(declarations: Declarations, isPicture: boolean, box: Box, list: PieceList): void {
  if (!says(declarations, 'position', PLACED) || !fills(declarations)) return;
  const isColored = isOpaque(declarations);
  if (readLayer(declarations) < box.layer || !(isPicture || isColored || hasPicture(declarations))) return;
  list.hide(box.start, isColored && hasWholeSize(declarations) ? COVERED : PERHAPS_COVERED);
  box.start = list.end();
}

function says(declarations: Declarations, property: string, pattern: RegExp): boolean {
  return declarations.get(property)?.some((value) => pattern.test(value)) ?? false;
}

function readLayer(declarations: Declarations): number {
  const layer = Number(declarations.get('z-index')?.at(-1));
  return Number.isFinite(layer) ? layer : 0;
}

/** Whether no size is given that differs from that of the box: it holds against the edges. */
function hasWholeSize(declarations: Declarations): boolean {
  return SIZES.every((size) => /^(?:auto|$)/.test(readSize(declarations, size)) || says(declarations, size, WHOLE));
}

const SIZES = ['width', 'height'] as const;

function readSize(declarations: Declarations, property: string): string {
  return declarations.get(property)?.at(-1) ?? '';
}

function hasPicture(declarations: Declarations): boolean {
  if (isFaded(declarations)) return false;
  return BACKGROUNDS.some((property) => /url\(|image-set\(/.test(declarations.get(property)?.at(-1) ?? ''));
}

const BACKGROUNDS = ['background', 'background-color', 'background-image'] as const;

function isFaded(declarations: Declarations): boolean {
  return Number(declarations.get('opacity')?.at(-1)) < OPAQUE;
}

function fills(declarations: Declarations): boolean {
  if (SIZES.some((size) => SMALL.test(readSize(declarations, size)))) return false;
  const edges = (declarations.get('inset') ?? []).at(-1)?.split(/\s+/);
  if (edges?.every((edge) => NOTHING.test(edge)) === true) return true;
  const isAt = (edge: string) => says(declarations, edge, NOTHING);
  const isWide =
    (isAt('left') && isAt('right')) || ((isAt('left') || isAt('right')) && says(declarations, 'width', WHOLE));
  const isHigh =
    (isAt('top') && isAt('bottom')) || ((isAt('top') || isAt('bottom')) && says(declarations, 'height', WHOLE));
  return isWide && isHigh;
}

function isOpaque(declarations: Declarations): boolean {
  if (isFaded(declarations)) return false;
  return BACKGROUNDS.some((property) => {
    const value = declarations.get(property)?.at(-1) ?? '';
    const color = /url\(|image-set\(/.test(value) ? null : firstColor(value);
    return color !== null && color[3] >= OPAQUE;
  });
}
