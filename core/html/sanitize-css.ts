import type {
  Atrule,
  AttributeSelector,
  CssNode,
  Declaration,
  PseudoClassSelector,
  PseudoElementSelector,
  Rule,
  Selector,
} from 'css-tree';
import parse from 'css-tree/parser';
import {
  CSS_DROPPED_PSEUDOS,
  CSS_FUNCTIONS,
  CSS_NTH_PSEUDOS,
  CSS_PROPERTIES,
  CSS_PSEUDO_ELEMENTS,
  CSS_PSEUDOS,
  CSS_UNITS,
  IMAGE_PROPERTIES,
  SELECTED_ATTRIBUTES,
} from './css-allow-list.ts';
import { sanitizeMediaQueries } from './media-queries.ts';

/** A style element of a mail. */
export interface StyleSheetSource {
  css: string;
  /** its media attribute */
  media: string;
}

/** A parsed style attribute. */
export interface SanitizedStyle {
  /** without anything that is not on the allow-list */
  style: string;
  /** http(s) URL of the background image as written; null: none */
  background: string | null;
}

/** Maximum characters of all style sheets of a mail; later sheets are dropped. */
const MAX_SHEETS_LENGTH = 300_000;
/** Characters; a longer style attribute is dropped. */
const MAX_STYLE_LENGTH = 10_000;
/** Selectors of a mail: a browser matches each of them against each element. */
const MAX_SELECTORS = 5_000;
const MAX_SELECTOR_PARTS = 24;
/** Functions and parentheses within each other. */
const MAX_DEPTH = 8;
/** Media queries within each other. */
const MAX_MEDIA_DEPTH = 3;

/**
 * Returns the rules of style sheets that are on the allow-list, rewritten from their parsed form: no text of the source is copied, so
 * what a browser reads is what was checked. The result has no `<`, loads nothing and takes linear time.
 */
export function sanitizeStyleSheets(sheets: readonly StyleSheetSource[]): string {
  const budget: Budget = { selectors: MAX_SELECTORS };
  const written: string[] = [];
  let length = 0;
  for (const { css, media } of sheets) {
    length += css.length;
    if (length > MAX_SHEETS_LENGTH) break;
    const rules = writeRules(parsed(css, 'stylesheet'), 0, budget);
    const queries = sanitizeMediaQueries(media);
    if (rules === '' || queries === null) continue;
    written.push(queries === '' ? rules : `@media ${queries}{${rules}}`);
  }
  return written.join('\n');
}

/** Returns the declarations of a style attribute that are on the allow-list, and its background image. */
export function sanitizeStyle(style: string): SanitizedStyle {
  if (style.length > MAX_STYLE_LENGTH) return { style: '', background: null };
  const list = parsed(style, 'declarationList');
  const declarations = list !== null && 'children' in list && list.children !== null ? list.children : [];
  let background: string | null = null;
  const kept: string[] = [];
  for (const declaration of declarations) {
    if (declaration.type !== 'Declaration') continue;
    const image = findBackground(declaration);
    if (image !== null) background = image;
    const written = image === null ? declarationText(declaration) : aroundImage(declaration);
    if (written !== null) kept.push(written);
  }
  return { style: kept.join(';'), background };
}

interface Budget {
  selectors: number;
}

function parsed(css: string, context: 'stylesheet' | 'declarationList'): CssNode | null {
  try {
    return parse(css, { context, parseAtrulePrelude: false, parseCustomProperty: false });
  } catch {
    // Nesting beyond the stack of the parser.
    return null;
  }
}

function writeRules(parent: CssNode | null, mediaDepth: number, budget: Budget): string {
  if (parent === null || (parent.type !== 'StyleSheet' && parent.type !== 'Block')) return '';
  let written = '';
  for (const node of parent.children) {
    if (node.type === 'Rule') written += ruleText(node, budget);
    else if (node.type === 'Atrule') written += mediaText(node, mediaDepth, budget);
  }
  return written;
}

/** Of the at-rules only media queries are kept. */
function mediaText({ name, prelude, block }: Atrule, mediaDepth: number, budget: Budget): string {
  if (name.toLowerCase() !== 'media' || block === null || mediaDepth >= MAX_MEDIA_DEPTH) return '';
  const queries = sanitizeMediaQueries(prelude?.type === 'Raw' ? prelude.value : '');
  if (queries === null) return '';
  const rules = writeRules(block, mediaDepth + 1, budget);
  return rules === '' ? '' : `@media ${queries === '' ? 'all' : queries}{${rules}}`;
}

function ruleText({ prelude, block }: Rule, budget: Budget): string {
  if (prelude.type !== 'SelectorList') return '';
  const declarations: string[] = [];
  for (const node of block.children) {
    const written = node.type === 'Declaration' ? declarationText(node) : null;
    if (written !== null) declarations.push(written);
  }
  if (declarations.length === 0) return '';
  const selectors: string[] = [];
  for (const node of prelude.children) {
    if (node.type !== 'Selector' || --budget.selectors < 0) return '';
    const written = selectorText(node);
    if (written === 'invalid') return '';
    if (written !== 'dropped') selectors.push(written);
  }
  return selectors.length === 0 ? '' : `${selectors.join(',')}{${declarations.join(';')}}\n`;
}

/** Returns a selector; `dropped` when it is not on the allow-list, `invalid` when a browser would drop the whole rule. */
function selectorText({ children }: Selector): string {
  if (children.size > MAX_SELECTOR_PARTS) return 'dropped';
  let written = '';
  let isDropped = false;
  for (const node of children) {
    const part = selectorPart(node);
    if (part === 'invalid') return 'invalid';
    if (part === 'dropped') isDropped = true;
    written += part;
  }
  return isDropped || written === '' ? 'dropped' : written;
}

function selectorPart(node: CssNode): string {
  const { type } = node;
  if (type === 'TypeSelector')
    return node.name === '*' || /^[a-z][a-z0-9-]{0,40}$/i.test(node.name) ? node.name.toLowerCase() : 'dropped';
  if (type === 'ClassSelector' || type === 'IdSelector') {
    const name = identifierText(node.name);
    return name === null || isReserved(name) ? 'dropped' : `${type === 'IdSelector' ? '#' : '.'}${name}`;
  }
  if (type === 'Combinator') return /^[ >+~]$/.test(node.name) ? node.name : 'invalid';
  if (type === 'AttributeSelector') return attributeText(node);
  if (type === 'PseudoClassSelector') return pseudoClassText(node);
  return type === 'PseudoElementSelector' ? pseudoElementText(node) : 'invalid';
}

/** Classes and ids of Postroom's elements begin with this. */
export const RESERVED_PREFIX = 'postroom-';

function isReserved(name: string): boolean {
  return name.toLowerCase().startsWith(RESERVED_PREFIX);
}

function attributeText({ name, matcher, value, flags }: AttributeSelector): string {
  const attribute = name.name.toLowerCase();
  if (!SELECTED_ATTRIBUTES.has(attribute)) return 'dropped';
  if (matcher === null || value === null) return `[${attribute}]`;
  if (!/^[~^$*|]?=$/.test(matcher)) return 'invalid';
  const text = value.type === 'String' ? value.value : value.name;
  if (text.includes('\\') && value.type !== 'String') return 'dropped';
  const isInsensitive = flags !== null && flags.toLowerCase() === 'i';
  return `[${attribute}${matcher}${stringText(text)}${isInsensitive ? ' i' : ''}]`;
}

function pseudoClassText({ name, children }: PseudoClassSelector): string {
  const lower = name.toLowerCase();
  const [argument] = children?.toArray() ?? [];
  if (CSS_NTH_PSEUDOS.has(lower)) {
    if (argument?.type !== 'Nth' || argument.selector != null) return 'dropped';
    const { nth } = argument;
    if (nth.type === 'Identifier') return /^(?:odd|even)$/i.test(nth.name) ? `:${lower}(${nth.name})` : 'invalid';
    const step = nth.a ?? '0';
    const offset = nth.b ?? '0';
    return INTEGER.test(step) && INTEGER.test(offset)
      ? `:${lower}(${step}n${/^[+-]/.test(offset) ? offset : `+${offset}`})`
      : 'dropped';
  }
  if (lower === 'not') return negationText(argument);
  // Written with one colon in CSS 2.
  if (children === null && CSS_PSEUDO_ELEMENTS.has(lower)) return `::${lower}`;
  const kept = children === null ? CSS_PSEUDOS.get(lower) : undefined;
  if (kept !== undefined) return `:${kept}`;
  return CSS_DROPPED_PSEUDOS.has(lower) ? 'dropped' : 'invalid';
}

const INTEGER = /^[+-]?\d{1,6}$/;

function negationText(argument: CssNode | undefined): string {
  if (argument?.type !== 'SelectorList') return 'invalid';
  const negated: string[] = [];
  for (const node of argument.children) {
    if (node.type !== 'Selector' || node.children.some(({ type }) => type === 'PseudoClassSelector')) return 'dropped';
    const written = selectorText(node);
    if (written === 'invalid' || written === 'dropped') return written;
    negated.push(written);
  }
  return negated.length === 0 ? 'invalid' : `:not(${negated.join(',')})`;
}

function pseudoElementText({ name, children }: PseudoElementSelector): string {
  const lower = name.toLowerCase();
  if (children === null && CSS_PSEUDO_ELEMENTS.has(lower)) return `::${lower}`;
  return CSS_DROPPED_PSEUDOS.has(lower) || lower.startsWith('-webkit-') ? 'dropped' : 'invalid';
}

/** Returns a declaration; null when its property or a part of its value is not on the allow-list. */
function declarationText({ property, value, important }: Declaration): string | null {
  const name = property.toLowerCase();
  if (!CSS_PROPERTIES.has(name) || value.type !== 'Value') return null;
  const written = valueText(value.children, name, 0);
  if (written === null || written === '') return null;
  if (name === 'position' && written !== 'relative' && written !== 'static') return null;
  return `${name}:${written}${important === true ? '!important' : ''}`;
}

function valueText(nodes: Iterable<CssNode>, property: string, depth: number): string | null {
  if (depth > MAX_DEPTH) return null;
  let written = '';
  for (const node of nodes) {
    const part = valuePart(node, property, depth);
    if (part === null) return null;
    written += written === '' || part === ',' || written.endsWith('(') ? part : ` ${part}`;
  }
  return written;
}

function valuePart(node: CssNode, property: string, depth: number): string | null {
  const { type } = node;
  if (type === 'Identifier') return IDENTIFIER.test(node.name) ? node.name : null;
  if (type === 'Number') return NUMBER.test(node.value) ? node.value : null;
  if (type === 'Percentage') return NUMBER.test(node.value) ? `${node.value}%` : null;
  if (type === 'Dimension')
    return NUMBER.test(node.value) && CSS_UNITS.has(node.unit.toLowerCase()) ? `${node.value}${node.unit}` : null;
  if (type === 'Hash') return /^[0-9a-f]{3,8}$/i.test(node.value) ? `#${node.value}` : null;
  if (type === 'Operator') return /^[,/+*-]$/.test(node.value.trim()) ? node.value.trim() : null;
  if (type === 'String') return TEXT_PROPERTIES.has(property) ? stringText(node.value) : null;
  if (type === 'Url') return IMAGE_PROPERTIES.has(property) && depth === 0 ? 'none' : null;
  const name = type === 'Function' ? node.name.toLowerCase() : null;
  const isKept = name === null ? depth > 0 : CSS_FUNCTIONS.has(name) && property !== 'content';
  if (!isKept || (type !== 'Function' && type !== 'Parentheses')) return null;
  const inside = valueText(node.children, property, depth + 1);
  return inside === null ? null : `${name ?? ''}(${inside})`;
}

/** No custom property: two hyphens. */
const IDENTIFIER = /^(?!--)[a-z_\u00a0-\uffff-][\w\u00a0-\uffff-]{0,60}$/i;
const NUMBER = /^[+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})$/;
/** Properties whose values may contain strings. */
const TEXT_PROPERTIES = new Set(['font', 'font-family', 'content', 'quotes']);

/** Returns the http(s) URL of a background image. */
function findBackground({ property, value }: Declaration): string | null {
  if (!/^background(?:-image)?$/i.test(property) || value.type !== 'Value') return null;
  for (const node of value.children)
    if (node.type === 'Url' && /^https?:\/\//i.test(node.value.trim())) return node.value.trim();
  return null;
}

const REPEAT = /^(?:no-repeat|repeat|repeat-x|repeat-y|round|space)$/i;
const PLACE = /^(?:left|right|top|bottom|center)$/i;
const SIZE = /^(?:cover|contain|auto)$/i;

/**
 * Returns what a background declares besides its image, without saying that there is none: the image is shown by an attribute, over which
 * styles have precedence.
 */
function aroundImage({ property, value }: Declaration): string | null {
  if (!/^background$/i.test(property) || value.type !== 'Value') return null;
  const parts: Record<string, string[]> = {};
  let isSize = false;
  for (const node of value.children) {
    if (node.type === 'Url') continue;
    const part = valuePart(node, 'background', 0);
    // Of several layers the last one has the color; which of them an attribute shows is open.
    if (part === null || part === ',') return null;
    if (part === '/') {
      isSize = true;
      continue;
    }
    const isLength = /^(?:Number|Dimension|Percentage)$/.test(node.type);
    const name = REPEAT.test(part)
      ? 'background-repeat'
      : SIZE.test(part) || (isSize && isLength)
        ? 'background-size'
        : PLACE.test(part) || isLength
          ? 'background-position'
          : 'background-color';
    parts[name] = [...(parts[name] ?? []), part];
  }
  const written = Object.entries(parts).map(([name, words]) => `${name}:${words.join(' ')}`);
  return written.length === 0 ? null : written.join(';');
}

/** Returns the text as a quoted string; everything that means something to CSS or HTML is escaped (CSS Syntax §4.3.7). */
function stringText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they end a string
  return `"${text.toWellFormed().replace(/[\u0000-\u001f\u007f"'\\<>&/@*;{}()]/g, escaped)}"`;
}

/** Returns a class or id in a selector, with its escapes resolved and rewritten; null when it is too long. */
function identifierText(name: string): string | null {
  if (name.length > 200) return null;
  const plain = name.replace(/\\(?:([0-9a-f]{1,6})[ \t\n\f\r]?|([^\n\r\f]))/gi, (_, hex, character) => {
    if (hex === undefined) return String(character);
    const code = Number.parseInt(String(hex), 16);
    return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : String.fromCodePoint(code);
  });
  return plain.toWellFormed().replace(/^\d|^-(?=\d|$)|[^\w\u00a0-\u{10ffff}-]/gu, escaped);
}

function escaped(character: string): string {
  return `\\${(character.codePointAt(0) ?? 0xfffd).toString(16)} `;
}
