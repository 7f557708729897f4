import type { Declarations } from './style-rules.ts';
import { gradientColors } from './text-colors.ts';
import type { Unseen } from './unseen-text.ts';

/** Values that are computed from what is not read here. */
const COMPUTED = /(?<![\w-])(?:var|calc|calc-size|min|max|clamp|env|attr|if|random|sibling-index|mod|rem|round|abs)\(/;
/** Properties that can hide text by a value that is not zero, and that mail hardly ever computes. */
const TELLING = ['font-size', 'font', 'zoom', 'scale', 'text-indent', 'max-height'];

/** Values of a declaration, and which of them hide. */
interface Question {
  says: (property: string, pattern: RegExp) => boolean;
  /** the smallest length of the property, in pixels; infinity: none */
  smallest: (property: string) => number;
  largest: (property: string) => number;
  because: (kind: Unseen['kind'], property: string) => Unseen;
}

function question(declarations: Declarations): Question {
  // No spread: there may be more lengths than a function takes.
  const extreme = (property: string, least: number, pick: (one: number, other: number) => number) =>
    (declarations.get(property) ?? [])
      .flatMap((value) => value.split(/[\s/]+/))
      .map(readPixels)
      .filter((length) => Number.isFinite(length))
      .reduce((found, length) => pick(found, length), least);
  return {
    says: (property, pattern) => declarations.get(property)?.some((value) => pattern.test(value)) ?? false,
    smallest: (property) => extreme(property, Number.POSITIVE_INFINITY, Math.min),
    largest: (property) => extreme(property, 0, Math.max),
    because: (kind, property) => ({
      kind,
      detail: `${property}: ${(declarations.get(property) ?? []).join(', ').slice(0, 60)}`,
    }),
  };
}

/**
 * Returns why declarations hide an element with all that is in it; null: they do not. All values of a property count, because programs take
 * different ones. Values that only a browser can compute are what some readers do not see.
 */
export function findHiding(declarations: Declarations): Unseen | null {
  if (declarations.size === 0) return null;
  const known = HIDING.get(declarations);
  if (known !== undefined) return known;
  const asked = question(declarations);
  const hiding =
    hiddenByDisplay(declarations, asked) ??
    hiddenByEffect(declarations, asked) ??
    hiddenBySize(asked) ??
    hiddenByPosition(asked) ??
    maybeHidden(asked);
  HIDING.set(declarations, hiding);
  return hiding;
}

/** What findHiding returned: elements of the same style share their declarations. */
const HIDING = new WeakMap<Declarations, Unseen | null>();
/** What findGap returned. */
const DECLARED_GAPS = new WeakMap<Declarations, Unseen | null>();

function hiddenByDisplay(declarations: Declarations, { says, because }: Question): Unseen | null {
  if (says('display', /^(?:none|table-column)/)) return because('hidden', 'display');
  if (says('content-visibility', /^hidden/)) return because('hidden', 'content-visibility');
  if (says('mso-hide', /^all/)) return because('some_readers', 'mso-hide');
  if (says('-webkit-text-security', /^(?!none)/)) return because('hidden', '-webkit-text-security');
  for (const property of ['opacity', 'zoom', 'scale'])
    if (declarations.get(property)?.some((value) => value.split(/\s+/).some((each) => readNumber(each) <= FAINT)))
      return because('hidden', property);
  return null;
}

const FAINT = 0.1;
/** A number of at most 0.1, or percentage of at most 10. */
const NOTHING = '\\s*[+-]?(?:0*(?:\\.(?:0\\d*|1)?)?(?:e[+-]?\\d+)?|(?:\\d|10)(?:\\.\\d+)?%)\\s*';
const NO_OPACITY = new RegExp(`opacity\\s*\\((?:\\s*=)?${NOTHING}\\)|opacity\\s*=\\s*0*(?:\\.\\d+)?\\s*\\)?$`);
const NO_SCALE = new RegExp(`scale(?:x|y|z|3d)?\\((?:(?:(?!scale)[^),])*,)*${NOTHING}[,)]`);

function hiddenByEffect(declarations: Declarations, { says, because }: Question): Unseen | null {
  if (says('filter', NO_OPACITY)) return because('hidden', 'filter');
  if (says('filter', /blur\(\s*(?!0)[1-9.]/)) return because('hidden', 'filter');
  if (says('transform', NO_SCALE) || says('transform', /rotate[xy]\(\s*[+-]?(?:90|270)deg/))
    return because('hidden', 'transform');
  for (const property of ['mask', 'mask-image', '-webkit-mask', '-webkit-mask-image'])
    if (declarations.get(property)?.some(isClearGradient)) return because('hidden', property);
  if (says('transform', /matrix|rotate(?:x|y|3d)\(|perspective\(/) || says('rotate', /[xy]|\s\S+\s\S+\s/))
    return because('some_readers', declarations.has('transform') ? 'transform' : 'rotate');
  if (says('clip', /rect\(/)) return because('hidden', 'clip');
  for (const property of ['clip-path', '-webkit-clip-path'])
    if (says(property, /\(/)) return because('hidden', property);
  return null;
}

function isClearGradient(value: string): boolean {
  const colors = value.includes('gradient(') ? gradientColors(value) : [];
  return colors.length > 0 && colors.every(([, , , alpha]) => alpha <= FAINT);
}

const CUTTING = ['overflow', 'overflow-x', 'overflow-y', 'overflow-block', 'overflow-inline'];
const EXTENTS = ['height', 'width', 'block-size', 'inline-size', 'line-height'];

const HEIGHTS = ['height', 'block-size', 'min-height', 'min-block-size'];
const WIDTHS = ['width', 'inline-size', 'min-width', 'min-inline-size'];
/** What is not surely a length: `auto`, or a percentage of what has none. */
const NO_EXTENT = /^(?!\+?(?:\d+(?:\.\d+)?|\.\d+)(?:px|r?em|ex|pt|in|cm|mm|vw|vh)$)/;
/** Properties that lay an element out as if it were empty. In the short form the name of the container is first. */
const EMPTYING: readonly [property: string, pattern: RegExp][] = [
  ['contain', /(?<![\w-])(?:strict|size)(?![\w-])/],
  ['container-type', /(?<![\w-])size(?![\w-])/],
  ['container', /\/[^/]*(?<![\w-])size(?![\w-])/],
];

function hiddenBySize({ says, smallest, largest, because }: Question): Unseen | null {
  for (const property of ['max-height', 'max-width', 'max-block-size', 'max-inline-size'])
    if (smallest(property) <= TINY_PIXELS) return because('hidden', property);
  const isCut =
    CUTTING.some((property) => says(property, /hidden|clip|auto|scroll|overlay/)) ||
    says('contain', /paint|strict|content/);
  // It is as large as if it were empty, unless its extents are given; what is not cut needs a height only.
  const isGiven = (properties: readonly string[]) =>
    properties.some((each) => smallest(each) > TINY_PIXELS && says(each, /./) && !says(each, NO_EXTENT));
  const isSized = isGiven(HEIGHTS) && (!isCut || isGiven(WIDTHS));
  for (const [property, pattern] of EMPTYING)
    if (!isSized && says(property, pattern)) return because('hidden', property);
  // A line height without a unit is a multiple of the letters.
  for (const property of EXTENTS)
    if (
      isCut &&
      smallest(property) * (property === 'line-height' && says(property, /^[\d.]+$/) ? 16 : 1) <= TINY_PIXELS
    )
      return because('hidden', property);
  // Letters are in the middle of their line.
  const isLow = isCut && !says('line-height', /^[\d.]+$/) && Number.isFinite(largest('line-height'));
  const height = Math.min(smallest('height'), smallest('max-height'));
  if (isLow && (largest('line-height') - LETTER_PIXELS) / 2 > height) return because('hidden', 'line-height');
  for (const property of ['-webkit-line-clamp', 'line-clamp'])
    if (isCut && says(property, /\d/)) return because('collapsed', property);
  if (smallest('letter-spacing') <= TIGHT_PIXELS) return because('hidden', 'letter-spacing');
  if (smallest('word-spacing') <= -FAR_PIXELS) return because('off_screen', 'word-spacing');
  return null;
}

const TINY_PIXELS = 2;
const LETTER_PIXELS = 16;
/** Letters that are this close lie upon each other. */
const TIGHT_PIXELS = -5;
const FAR_PIXELS = 100;
/** Farther than any screen. */
const BEYOND_PIXELS = 2_000;
const OFFSETS = ['left', 'top', 'right', 'bottom', 'inset', 'inset-block', 'inset-inline', 'translate', 'text-indent'];
const MARGINS = ['margin', 'margin-left', 'margin-top', 'margin-right', 'margin-block', 'margin-inline'];
const LEADING = [
  'margin-left',
  'margin-inline',
  'padding-left',
  'padding-right',
  'padding-inline',
  'padding-inline-start',
];

function hiddenByPosition({ says, smallest, largest, because }: Question): Unseen | null {
  for (const property of [...OFFSETS, ...MARGINS])
    if (smallest(property) <= -FAR_PIXELS) return because('off_screen', property);
  for (const property of [...OFFSETS, ...LEADING])
    if (largest(property) >= BEYOND_PIXELS) return because('off_screen', property);
  const isOut = says('position', /absolute|fixed/);
  for (const property of ['left', 'top', 'right', 'inset'])
    if (isOut && smallest(property) <= -OUT_PIXELS) return because('off_screen', property);
  if (says('transform', /translate(?:x|y|z|3d)?\((?:(?!translate)[^)])*(?:-\d{3,}|\d{4,}|-(?:9\d|100)%)/))
    return because('off_screen', 'transform');
  if (says('z-index', /^-\d/) && says('position', /absolute|fixed|relative/)) return because('hidden', 'z-index');
  return null;
}

/** A line of text. */
const OUT_PIXELS = 15;

const NO_DEPTH = '\\s*[+-]?(?:0+(?:\\.0*)?|\\.0+)(?:[a-z]+)?\\s*\\)';
/** Moves towards the reader or away; by nothing, only programs are meant, which draw it faster. */
const DEEP = new RegExp(`translatez\\((?!${NO_DEPTH})|translate3d\\((?![^(),]*,[^(),]*,${NO_DEPTH})`);

/** What only a browser can compute, or what shows the text otherwise than it reads. */
function maybeHidden({ says, smallest, because }: Question): Unseen | null {
  for (const property of ['display', 'visibility', 'opacity'])
    if (says(property, COMPUTED)) return because('hidden', property);
  for (const property of TELLING)
    if (says(property, COMPUTED) && !Number.isFinite(smallest(property))) return because('some_readers', property);
  for (const property of [...OFFSETS, ...MARGINS])
    if (says(property, /- ?1 ?\*|calc\((?:(?!calc)[^)])*-\d{3,}/)) return because('off_screen', property);
  for (const property of ['animation', 'animation-name', 'mask', 'mask-image', '-webkit-mask', '-webkit-mask-image'])
    if (says(property, /^(?!none|initial|inherit|unset)/)) return because('some_readers', property);
  if (says('mix-blend-mode', /^(?!normal|initial|inherit|unset)/)) return because('some_readers', 'mix-blend-mode');
  if (says('filter', /brightness|contrast|invert|url\(/)) return because('some_readers', 'filter');
  if (says('content', /url\(|image\(|image-set\(|gradient\(/)) return because('some_readers', 'content');
  if (says('offset-path', /\(/)) return because('some_readers', 'offset-path');
  if (says('transform', DEEP)) return because('some_readers', 'transform');
  if (says('unicode-bidi', /override/)) return because('some_readers', 'unicode-bidi');
  if (says('backface-visibility', /^hidden/)) return because('some_readers', 'backface-visibility');
  return null;
}

/** Returns why declarations hide text, unless an inner element shows it again: null: they show it. Undefined: they say nothing. */
export function visibilityWithin(declarations: Declarations): Unseen | null | undefined {
  const values = declarations.get('visibility');
  if (values === undefined || values.at(-1) === 'inherit') return undefined;
  return values.some((value) => /^(?:hidden|collapse)/.test(value))
    ? question(declarations).because('hidden', 'visibility')
    : null;
}

/** The size of letters. */
export interface FontSize {
  pixels: number;
  unseen: Unseen | null;
}

/** Returns the size of letters within an element; relative sizes multiply. */
export function fontSizeWithin(declarations: Declarations, outer: FontSize): FontSize {
  let size = outer;
  for (const property of ['font', 'font-size'])
    for (const value of declarations.get(property) ?? []) {
      const pixels = fontPixels(property === 'font' ? (fontSizeIn(value) ?? '') : value, outer.pixels);
      if (pixels === null) continue;
      const unseen: Unseen | null =
        pixels <= TINY_PIXELS ? { kind: 'tiny', detail: `${property}: ${value.slice(0, 60)}` } : null;
      size = { pixels, unseen };
    }
  return size;
}

/** Returns the size in the short form: `italic 700 14px/1.5 Arial`. */
function fontSizeIn(value: string): string | undefined {
  return value
    .split(/[\s/]+/)
    .find((each) => /^[+-]?(?:[\d.]+(?:e[+-]?\d+)?(?:[a-z]+|%)|0+(?:\.0*)?|\.0+)$/.test(each));
}

function fontPixels(value: string, outer: number): number | null {
  const relative = /^([+-]?[\d.]+(?:e[+-]?\d+)?)(em|%|ex)$/.exec(value);
  if (relative !== null) return Number(relative[1]) * outer * (FONT_UNITS[relative[2] ?? ''] ?? 1);
  const pixels = readPixels(value);
  return Number.isFinite(pixels) ? pixels : null;
}

const FONT_UNITS: Readonly<Record<string, number>> = { em: 1, '%': 0.01, ex: 0.5 };

/** Returns the first declaration that makes a gap of more than a screen; null: none. */
export function findGap(declarations: Declarations): Unseen | null {
  if (declarations.size === 0) return null;
  const known = DECLARED_GAPS.get(declarations);
  if (known !== undefined) return known;
  const { largest, because } = question(declarations);
  const property = GAPS.find((each) => largest(each) >= GAP_PIXELS);
  const gap = property === undefined ? null : because('gap', property);
  DECLARED_GAPS.set(declarations, gap);
  return gap;
}

const GAPS = [
  'height',
  'min-height',
  'padding',
  'padding-top',
  'padding-bottom',
  'margin',
  'margin-top',
  'margin-bottom',
  'line-height',
  'top',
];
const GAP_PIXELS = 1_000;

const NUMBER = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)$/;

/** Returns a number, or a percentage as a part of one; infinity when there is none. */
function readNumber(value: string): number {
  const [, number, unit] = NUMBER.exec(value) ?? [];
  if (number === undefined) return Number.POSITIVE_INFINITY;
  return unit === '%' ? Number(number) / 100 : Number(number);
}

const UNITS: Readonly<Record<string, number>> = {
  em: 16,
  rem: 16,
  ex: 8,
  '%': 0.16,
  pt: 1.33,
  in: 96,
  cm: 38,
  mm: 3.8,
  vw: 10,
  vh: 8,
  '': 1,
};

/** Returns a length in CSS pixels, at a font of 16 pixels; infinity when there is none. */
function readPixels(value: string): number {
  const [, number, unit = ''] = NUMBER.exec(value) ?? [];
  return number === undefined ? readSum(value) : Number(number) * (UNITS[unit] ?? 1);
}

/** Returns the length of `calc(2px - 1em)`, which has no other marks; infinity when it is something else. */
function readSum(value: string): number {
  const [, content = ''] = /^calc\(([^()*/]{1,200})\)$/.exec(value) ?? [];
  const terms = content.trim().split(/\s+(?=[+-]\s)/);
  const lengths = terms.map((term) => NUMBER.exec(term.replace(/^([+-])\s+/, '$1')));
  return lengths.reduce(
    (sum, found) => sum + (found === null ? Number.POSITIVE_INFINITY : Number(found[1]) * (UNITS[found[2] ?? ''] ?? 1)),
    0,
  );
}
