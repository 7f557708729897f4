import type { DefaultTreeAdapterTypes } from 'parse5';
import type { Unseen } from './unseen-text.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Declarations of CSS by property, in lower case. */
export type Declarations = ReadonlyMap<string, string>;

/** A rule of a style sheet. */
interface Rule {
  tag: string | null;
  id: string | null;
  classes: readonly string[];
  declarations: Declarations;
  /** whether it holds on some screens only */
  isConditional: boolean;
}

/** The rules of the style sheets of a message, by what they select. */
export interface StyleRules {
  byKey: ReadonlyMap<string, readonly Rule[]>;
}

/** Returns the style sheets within a tree. */
export function findStyleSheets(root: Node): string[] {
  const sheets: string[] = [];
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeName === 'style' && 'childNodes' in node)
      sheets.push(node.childNodes.map((child) => ('value' in child ? child.value : '')).join(''));
    if ('childNodes' in node) waiting.push(...node.childNodes.toReversed());
  }
  return sheets;
}

const MAX_RULES = 3_000;
const MAX_CSS_LENGTH = 300_000;

/**
 * Reads style sheets. Of a selector only the last part counts, without attributes and states, so that more elements are marked than a browser
 * would hide, never fewer.
 */
export function readStyleRules(sheets: readonly string[]): StyleRules {
  const byKey = new Map<string, Rule[]>();
  let count = 0;
  let length = 0;
  for (const sheet of sheets) {
    length += sheet.length;
    if (length > MAX_CSS_LENGTH) break;
    for (const { selectors, body, isConditional } of blocksOf(decodeCss(sheet))) {
      const declarations = readDeclarations(body);
      for (const selector of selectors.split(',')) {
        if (++count > MAX_RULES) return { byKey };
        const rule = ruleOf(selector, declarations, isConditional);
        const key = rule.id !== null ? `#${rule.id}` : (rule.classes[0] ?? rule.tag ?? '*');
        const group = byKey.get(key) ?? [];
        group.push(rule);
        byKey.set(key, group);
      }
    }
  }
  return { byKey };
}

function decodeCss(css: string): string {
  let text = '';
  let from = 0;
  for (let at = css.indexOf('/*'); at !== -1; at = css.indexOf('/*', from)) {
    text += css.slice(from, at);
    const end = css.indexOf('*/', at + 2);
    from = end === -1 ? css.length : end + 2;
  }
  return (text + css.slice(from))
    .replace(/<!--|-->/g, ' ')
    .replaceAll(/\\([0-9a-f]{1,6})\s?|\\(.)/gi, (_all, hex?: string, character?: string) => {
      const code = Number.parseInt(hex ?? '', 16);
      return hex === undefined ? (character ?? '') : code > 0x10ffff ? '' : String.fromCodePoint(code);
    });
}

function* blocksOf(css: string): Generator<{ selectors: string; body: string; isConditional: boolean }> {
  const groups: string[] = [];
  let from = 0;
  for (const { 0: mark, index } of css.matchAll(/[{}]/g)) {
    const text = css.slice(from, index).trim();
    from = index + 1;
    if (mark === '{') groups.push(text.slice(text.lastIndexOf(';') + 1).trim());
    else {
      const selectors = groups.pop() ?? '';
      const isConditional = groups.some((group) => /^@(?:media|supports|container)/i.test(group));
      if (!selectors.startsWith('@') && text !== '') yield { selectors, body: text, isConditional };
    }
  }
}

function ruleOf(selector: string, declarations: Declarations, isConditional: boolean): Rule {
  const last =
    selector
      .trim()
      .split(/[\s>+~]+/)
      .at(-1) ?? '';
  const plain = last.replace(/\[[^\]]*\]?|::?[\w-]+(?:\([^)]*\)?)?/g, '');
  const classes = [...plain.matchAll(/\.([\w-]+)/g)].map(([, name = '']) => name);
  const id = /#([\w-]+)/.exec(plain)?.[1] ?? null;
  const tag = /^[a-z][\w-]*/i.exec(plain)?.[0].toLowerCase() ?? null;
  return { tag, id, classes, declarations, isConditional };
}

/** Returns the declarations of a style attribute, or of a block of a style sheet. */
function readDeclarations(css: string): Declarations {
  const found = new Map<string, string>();
  for (const declaration of (css.includes('\\') || css.includes('/*') ? decodeCss(css) : css).split(';')) {
    const colon = declaration.indexOf(':');
    if (colon === -1) continue;
    const value = declaration
      .slice(colon + 1)
      .replace(/!\s*important/i, '')
      .trim()
      .toLowerCase();
    found.set(declaration.slice(0, colon).trim().toLowerCase(), value);
  }
  return found;
}

/** Returns the declarations that hold for an element, those of its style attribute last; `conditional`: on some screens. */
export function declarationsOf(
  element: Element,
  { byKey }: StyleRules,
): { always: Declarations[]; conditional: Declarations[] } {
  const value = (name: string) => element.attrs.find((each) => each.name === name)?.value;
  const classes = (value('class') ?? '')
    .split(/\s+/)
    .filter((each) => each !== '')
    .slice(0, 50);
  const id = value('id') ?? null;
  const keys = [...classes, ...(id === null ? [] : [`#${id}`]), element.tagName, '*'];
  const always: Declarations[] = [];
  const conditional: Declarations[] = [];
  for (const key of keys)
    for (const rule of byKey.get(key) ?? []) {
      const matches =
        (rule.tag === null || rule.tag === element.tagName) &&
        (rule.id === null || rule.id === id) &&
        rule.classes.every((name) => classes.includes(name));
      if (matches) (rule.isConditional ? conditional : always).push(rule.declarations);
    }
  const style = value('style');
  if (style !== undefined) always.push(readDeclarations(style));
  return { always, conditional };
}

/** Returns why declarations hide an element with all that is in it; null: they do not. */
export function hidingOf(declarations: Declarations): Unseen | null {
  const size = (property: string) => pixelsOf(declarations.get(property));
  const says = (property: string, pattern: RegExp) => pattern.test(declarations.get(property) ?? '');
  const because = (kind: Unseen['kind'], property: string): Unseen => ({
    kind,
    detail: `${property}: ${(declarations.get(property) ?? '').slice(0, 60)}`,
  });
  if (says('display', /^none/)) return because('hidden', 'display');
  if (says('content-visibility', /^hidden/)) return because('hidden', 'content-visibility');
  if (says('mso-hide', /^all/)) return because('some_readers', 'mso-hide');
  if (numberOf(declarations.get('opacity')) <= 0.1) return because('hidden', 'opacity');
  if (says('filter', /opacity\s*\(\s*=?\s*0*(?:\.0\d*)?%?\s*\)|opacity\s*=\s*0\b/)) return because('hidden', 'filter');
  if (says('transform', /scale\w?\(\s*0*(?:\.0\d*)?\s*[,)]/)) return because('hidden', 'transform');
  if (says('clip', /rect\(\s*0/) || says('clip-path', /inset\(\s*(?:50|[6-9]\d|100)%|circle\(\s*0|polygon\(\s*\)/))
    return because('hidden', declarations.has('clip') ? 'clip' : 'clip-path');
  if (size('max-height') <= TINY_PIXELS) return because('hidden', 'max-height');
  if (size('max-width') <= TINY_PIXELS) return because('hidden', 'max-width');
  const isCut =
    says('overflow', /hidden|clip/) || says('overflow-y', /hidden|clip/) || says('overflow-x', /hidden|clip/);
  for (const property of ['height', 'width', 'line-height'])
    if (isCut && size(property) <= TINY_PIXELS) return because('hidden', property);
  for (const property of [
    'left',
    'top',
    'right',
    'bottom',
    'inset',
    'text-indent',
    'margin-left',
    'margin-top',
    'margin-right',
  ])
    if (Math.abs(Math.min(0, size(property))) >= FAR_PIXELS || (POSITIONS.has(property) && isFar(size(property))))
      return because('off_screen', property);
  if (says('transform', /translate\w*\([^)]*-\d{3,}/)) return because('off_screen', 'transform');
  if (says('z-index', /^-\d/) && says('position', /absolute|fixed|relative/)) return because('hidden', 'z-index');
  return null;
}

/**
 * Returns why declarations hide text that has no other declaration: `font-size` and `visibility`. Null: they show it. Undefined: they say
 * nothing.
 */
export function textHidingOf(
  declarations: Declarations,
  property: 'font-size' | 'visibility',
): Unseen | null | undefined {
  const value = declarations.get(property);
  if (value === undefined || value === 'inherit') return undefined;
  const detail = `${property}: ${value.slice(0, 60)}`;
  if (property === 'visibility') return /^(?:hidden|collapse)/.test(value) ? { kind: 'hidden', detail } : null;
  if (pixelsOf(value) <= TINY_PIXELS) return { kind: 'tiny', detail };
  return /(?:em|%)$/.test(value) && !value.endsWith('rem') ? undefined : null;
}

/** Returns the first declaration that makes a gap of more than a screen; null: none. */
export function gapOf(declarations: Declarations): Unseen | null {
  for (const property of GAPS) {
    const lengths = (declarations.get(property) ?? '').split(/\s+/).map((length) => pixelsOf(length));
    if (lengths.some((length) => Number.isFinite(length) && length >= GAP_PIXELS))
      return { kind: 'gap', detail: `${property}: ${declarations.get(property)?.slice(0, 60)}` };
  }
  return null;
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
const TINY_PIXELS = 2;
const FAR_PIXELS = 100;
const POSITIONS: ReadonlySet<string> = new Set(['left', 'top', 'right', 'bottom', 'text-indent']);

function isFar(pixels: number): boolean {
  return Number.isFinite(pixels) && pixels >= 2_000;
}

function numberOf(value: string | undefined): number {
  const number = /^\d*\.?\d+/.exec(value ?? '')?.[0];
  if (number === undefined) return Number.POSITIVE_INFINITY;
  return value?.includes('%') === true ? Number(number) / 100 : Number(number);
}

/** Returns a length in CSS pixels, at a font of 16 pixels; infinity when there is none. */
function pixelsOf(value: string | undefined): number {
  const [, number, unit = ''] = /^(-?\d*\.?\d+)\s*([a-z%]*)/.exec(value ?? '') ?? [];
  if (number === undefined) return Number.POSITIVE_INFINITY;
  const pixels: Readonly<Record<string, number>> = {
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
  return Number(number) * (pixels[unit] ?? 1);
}

/** Red, green, blue and opacity, 0 to 255 and 0 to 1. */
export type Color = readonly [number, number, number, number];
export const WHITE: Color = [255, 255, 255, 1];
export const BLACK: Color = [0, 0, 0, 1];

const NAMED: Readonly<Record<string, string>> = {
  white: 'ffffff',
  black: '000000',
  snow: 'fffafa',
  ivory: 'fffff0',
  ghostwhite: 'f8f8ff',
  whitesmoke: 'f5f5f5',
  floralwhite: 'fffaf0',
  mintcream: 'f5fffa',
  azure: 'f0ffff',
  honeydew: 'f0fff0',
  seashell: 'fff5ee',
  aliceblue: 'f0f8ff',
  oldlace: 'fdf5e6',
  linen: 'faf0e6',
  silver: 'c0c0c0',
  gray: '808080',
  grey: '808080',
  lightgray: 'd3d3d3',
  lightgrey: 'd3d3d3',
  gainsboro: 'dcdcdc',
  red: 'ff0000',
  green: '008000',
  blue: '0000ff',
  navy: '000080',
  yellow: 'ffff00',
  orange: 'ffa500',
  purple: '800080',
  maroon: '800000',
  teal: '008080',
};

/** Parses a color; null when it is not one that is known here. */
export function parseColor(text: string): Color | null {
  const value = text.trim().toLowerCase();
  if (value === 'transparent') return [0, 0, 0, 0];
  const hex = NAMED[value] ?? /^#?((?:[0-9a-f]{3,4}){1,2})$/.exec(value)?.[1];
  if (hex !== undefined) {
    const digits = (hex.length < 5 ? hex.replace(/./g, '$&$&') : hex).match(/../g) ?? [];
    const [red = 0, green = 0, blue = 0, alpha = 255] = digits.map((each) => Number.parseInt(each, 16));
    return [red, green, blue, alpha / 255];
  }
  const [, model, content = ''] = /^(rgb|hsl)a?\(([^)]{0,80})\)/.exec(value) ?? [];
  if (model === undefined) return null;
  const parts = content.split(/[\s,/]+/).filter((each) => each !== '');
  const scale = (part: string | undefined, whole: number) =>
    part?.endsWith('%') === true ? (Number.parseFloat(part) / 100) * whole : Number.parseFloat(part ?? '0') || 0;
  const alpha = parts[3] === undefined ? 1 : scale(parts[3], 1);
  if (model === 'rgb') return [scale(parts[0], 255), scale(parts[1], 255), scale(parts[2], 255), alpha];
  const [hue, saturation, lightness] = [scale(parts[0], 360), scale(parts[1], 1), scale(parts[2], 1)];
  const channel = (offset: number) => {
    const at = (offset + hue / 30) % 12;
    return (
      255 * (lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(at - 3, 9 - at, 1)))
    );
  };
  return [channel(0), channel(8), channel(4), alpha];
}

/** Returns whether text of one color cannot be told from a background of the other. */
export function areAlike(text: Color, background: Color): boolean {
  return (
    text[3] <= 0.1 || [0, 1, 2].every((at) => Math.abs((text[at] ?? 0) - (background[at] ?? 0)) <= MAX_COLOR_DISTANCE)
  );
}

const MAX_COLOR_DISTANCE = 28;
