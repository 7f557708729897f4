import type { Declarations } from './style-rules.ts';
import { firstColor } from './text-colors.ts';
import type { PieceList, Place, Unseen } from './unseen-text.ts';

/** An element with a place of its own: what lies over all of it covers what is in it. */
export interface Box {
  start: Place;
  /** the highest `z-index` in it so far */
  layer: number;
}

const COVERED: Unseen = { kind: 'hidden', detail: 'another element lies over it' };
const PLACED = /^(?:absolute|fixed)/;
const BOXED = /^(?:relative|absolute|fixed|sticky)/;
const NOTHING = /^[+-]?0+(?:\.0+)?(?:px|em|%|pt|rem|vw|vh)?$/;
const WHOLE = /^(?:100(?:\.0+)?(?:%|vw|vh)|[1-9]\d{3,}px)$/;
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
 * is in a box with a higher `z-index` lies above. Each piece is marked once.
 */
export function cover(declarations: Declarations, isPicture: boolean, box: Box, list: PieceList): void {
  if (!says(declarations, 'position', PLACED) || !fills(declarations)) return;
  if (readLayer(declarations) < box.layer || !(isPicture || isOpaque(declarations))) return;
  list.hide(box.start, COVERED);
  box.start = list.end();
}

function says(declarations: Declarations, property: string, pattern: RegExp): boolean {
  return declarations.get(property)?.some((value) => pattern.test(value)) ?? false;
}

function readLayer(declarations: Declarations): number {
  const layer = Number(declarations.get('z-index')?.at(-1));
  return Number.isFinite(layer) ? layer : 0;
}

function fills(declarations: Declarations): boolean {
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
  const faded = Number(declarations.get('opacity')?.at(-1));
  if (faded < OPAQUE) return false;
  return ['background', 'background-color', 'background-image'].some((property) => {
    const value = declarations.get(property)?.at(-1) ?? '';
    if (/url\(|image-set\(/.test(value)) return true;
    const color = firstColor(value);
    return color !== null && color[3] >= OPAQUE;
  });
}
