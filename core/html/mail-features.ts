import type { CssNode } from 'css-tree';
import parse from 'css-tree/parser';
import type { DefaultTreeAdapterTypes } from 'parse5';

type Element = DefaultTreeAdapterTypes.Element;

/** Where and how often a message uses a feature of HTML or CSS. */
interface FeatureUse {
  count: number;
  /** as written, each once */
  examples: string[];
}

/** By the name that caniemail.com has for the feature, such as `css-display-flex`. */
export type FeatureUses = Map<string, FeatureUse>;

const MAX_EXAMPLES = 3;
/** Characters of an example. */
const MAX_EXAMPLE = 100;
/** Characters of all CSS of a message; what follows is not examined. */
const MAX_CSS = 300_000;
/** Nodes of parsed CSS. */
const MAX_CSS_NODES = 300_000;
/** Different style attributes of a message. */
const MAX_STYLES = 5_000;

/** Returns the beginning of a text of a message, on one line. */
export function shortExample(text: string): string {
  const line = text
    .slice(0, 4 * MAX_EXAMPLE)
    .replace(/\s+/g, ' ')
    .trim();
  return (line.length <= MAX_EXAMPLE ? line : `${line.slice(0, MAX_EXAMPLE - 1)}…`).toWellFormed();
}

/** Counts the features of the elements and style sheets of a message. */
export function createFeatureCounter(known: ReadonlySet<string>) {
  const uses: FeatureUses = new Map();
  /** not to shorten the same long text for each of its parts */
  const lastExample = new Map<string, string>();
  /** features of a style attribute: newsletters repeat the same few hundred times */
  const styles = new Map<string, [feature: string, example: string][]>();
  let cssLeft = MAX_CSS;
  let nodesLeft = MAX_CSS_NODES;
  let isPartial = false;

  const add = (feature: string, example: string) => {
    if (!known.has(feature)) return;
    const use = uses.get(feature) ?? { count: 0, examples: [] };
    uses.set(feature, use);
    use.count++;
    if (use.examples.length >= MAX_EXAMPLES || lastExample.get(feature) === example) return;
    lastExample.set(feature, example);
    const shown = shortExample(example);
    if (shown !== '' && !use.examples.includes(shown)) use.examples.push(shown);
  };

  const read = (css: string, context: 'stylesheet' | 'declarationList', found: typeof add) => {
    cssLeft -= css.length;
    if (cssLeft < 0) isPartial = true;
    if (isPartial) return;
    try {
      const tree = parse(css, { context, parseAtrulePrelude: false, parseCustomProperty: false, positions: true });
      nodesLeft = readCss(tree, css, found, nodesLeft);
    } catch {
      // Nesting beyond the stack of the parser.
      isPartial = true;
    }
    if (nodesLeft <= 0) isPartial = true;
  };

  return {
    uses,
    /** Returns whether some CSS was too long to examine. */
    isPartial: () => isPartial,
    addStyleSheet(css: string): void {
      read(css, 'stylesheet', add);
    },
    addElement(element: Element): void {
      const { tagName } = element;
      add(ELEMENTS.get(tagName) ?? `html-${tagName}`, `<${tagName}>`);
      for (const { name, value } of element.attrs) {
        const feature = attributeFeature(tagName, name, value);
        if (feature !== null) add(feature, `${name}="${value}"`);
        if (name === 'src' && tagName === 'img') addImage(value, add);
        if (name === 'srcset') for (const candidate of value.split(',').slice(0, 20)) addImage(candidate.trim(), add);
        if (name !== 'style') continue;
        const before = styles.get(value) ?? [];
        if (!styles.has(value)) {
          if (styles.size >= MAX_STYLES) isPartial = true;
          styles.set(value, before);
          read(value, 'declarationList', (feature, example) => before.push([feature, example]));
        }
        for (const [feature, example] of before) add(feature, example);
      }
    },
  };
}

/** Elements whose feature is not called like them. */
const ELEMENTS: ReadonlyMap<string, string> = new Map([
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, 'html-h1-h6'] as const),
  ...['ul', 'ol', 'dl'].map((tag) => [tag, 'html-lists'] as const),
  ...'article aside details figcaption figure footer header main mark nav section summary time'
    .split(' ')
    .map((tag) => [tag, 'html-semantics'] as const),
  ['map', 'html-image-maps'],
  // These names are features of attributes or of some elements of the name.
  ...['align', 'background', 'button', 'dir', 'height', 'hidden', 'input', 'required', 'valign', 'width'].map(
    (tag) => [tag, ''] as const,
  ),
]);

const ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ...'align background cellpadding cellspacing dir height hidden popover required srcset valign width'
    .split(' ')
    .map((name) => [name, `html-${name}`] as const),
  ['inert', 'css-inert-attribute'],
]);

function attributeFeature(tagName: string, name: string, value: string): string | null {
  if (name === 'type' && (tagName === 'input' || tagName === 'button'))
    return `html-${tagName}-${value.trim().toLowerCase()}`;
  if (name === 'href' && tagName === 'a') {
    if (value.startsWith('#') && value.length > 1) return 'html-anchor-links';
    return /^mailto:/i.test(value) ? 'html-mailto-links' : null;
  }
  if (name === 'name' && tagName === 'meta') return value === 'color-scheme' ? 'html-meta-color-scheme' : null;
  return ATTRIBUTES.get(name) ?? null;
}

const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ['heic', 'heif'],
  ['jpeg', 'jpg'],
  ['svg+xml', 'svg'],
  ['tif', 'tiff'],
]);

function addImage(url: string, add: (feature: string, example: string) => void): void {
  const head = url.slice(0, 2_000);
  const data = /^data:image\/([a-z0-9.+-]+)/i.exec(head)?.[1];
  if (data !== undefined) add('image-base64', head);
  const extension = data ?? /\.([a-z0-9]{2,5})(?:[?#\s]|$)/i.exec(head)?.[1];
  if (extension === undefined) return;
  const type = extension.toLowerCase();
  add(`image-${IMAGE_TYPES.get(type) ?? type}`, head);
}

/** Properties whose feature is not called like them. */
const PROPERTIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'css-block-inline-size': 'block-size inline-size',
    'css-border-inline-block': 'border-inline border-block',
    'css-border-inline-block-individual': 'border-block-end border-block-start border-inline-end border-inline-start',
    'css-border-inline-block-longhand':
      'border-block-color border-block-style border-block-width border-inline-color border-inline-style border-inline-width',
    'css-border-radius-logical':
      'border-end-end-radius border-end-start-radius border-start-end-radius border-start-start-radius',
    'css-column-layout-properties':
      'column-fill column-rule column-rule-color column-rule-style column-rule-width column-span column-width columns',
    'css-gap': 'gap row-gap column-gap',
    'css-grid-template': 'grid-template grid-template-areas grid-template-columns grid-template-rows',
    'css-left-right-top-bottom': 'left right top bottom',
    'css-margin-block-start-end': 'margin-block-start margin-block-end',
    'css-margin-inline-block': 'margin-inline margin-block',
    'css-margin-inline-start-end': 'margin-inline-start margin-inline-end',
    'css-padding-block-start-end': 'padding-block-start padding-block-end',
    'css-padding-inline-block': 'padding-inline padding-block',
    'css-padding-inline-start-end': 'padding-inline-start padding-inline-end',
    // Features of values with the name of a property.
    '': 'flex-direction flex-wrap display-flex',
  }).flatMap(([feature, names]) => names.split(' ').map((name) => [name, feature] as const)),
);

const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['calc', 'css-unit-calc'],
  ['var', 'css-variables'],
  ['rgb', 'css-rgb'],
  ['rgba', 'css-rgba'],
  ...['lch', 'oklch', 'lab', 'oklab'].map((name) => [name, 'css-modern-color'] as const),
  ...['clamp', 'max', 'min', 'light-dark'].map((name) => [name, `css-function-${name}`] as const),
  ...['linear-gradient', 'radial-gradient', 'conic-gradient'].map((name) => [name, `css-${name}`] as const),
]);

const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ...['fit-content', 'min-content', 'max-content'].map((name) => [name, 'css-intrinsic-size'] as const),
  ...['system-ui', 'ui-serif', 'ui-sans-serif', 'ui-rounded', 'ui-monospace'].map(
    // The data spells it so.
    (name) => [name, 'css-sytem-ui'] as const,
  ),
  ['initial', 'css-unit-initial'],
]);

const COMBINATORS: ReadonlyMap<string, string> = new Map([
  [' ', 'css-selector-descendant'],
  ['>', 'css-selector-child'],
  ['+', 'css-selector-adjacent-sibling'],
  ['~', 'css-selector-general-sibling'],
]);

const MEDIA_FEATURES =
  /\(\s*(?:(?:-webkit-)?(?:min-|max-)?(device-pixel-ratio)|(?:any-)?(hover)|(orientation|prefers-color-scheme|prefers-reduced-motion))\b/gi;

/** Examines each node of parsed CSS, up to `limit`. Returns how many are left. Without recursion: mail is hostile. */
function readCss(tree: CssNode, css: string, add: (feature: string, example: string) => void, limit: number): number {
  const written = ({ loc }: CssNode) => (loc == null ? '' : css.slice(loc.start.offset, loc.end.offset));
  const left: [node: CssNode, around: string][] = [[tree, '']];
  for (let next = left.pop(); next !== undefined && limit > 0; next = left.pop(), limit--) {
    const [node, above] = next;
    const isUnit = node.type === 'Declaration' || node.type === 'SelectorList' || node.type === 'Atrule';
    const around = isUnit ? written(node) : above;
    for (const feature of listFeatures(node)) add(feature, around);
    if (node.type === 'Url') addImage(node.value, (feature) => add(feature, around));
    for (const part of listParts(node)) left.push([part, around]);
  }
  return limit;
}

function listParts(node: CssNode): Iterable<CssNode> {
  if (node.type === 'Rule') return [node.prelude, node.block];
  if (node.type === 'Atrule') return node.block === null ? [] : [node.block];
  if (node.type === 'Declaration') return [node.value];
  return 'children' in node && node.children !== null ? node.children : [];
}

function listFeatures(node: CssNode): string[] {
  const { type } = node;
  if (type === 'Atrule') return atRuleFeatures(node.name.toLowerCase(), node.prelude);
  if (type === 'Declaration')
    return declarationFeatures(node.property.toLowerCase(), node.value, node.important !== false);
  if (type === 'Function') return [FUNCTIONS.get(node.name.toLowerCase()) ?? ''];
  if (type === 'Identifier') return [KEYWORDS.get(node.name.toLowerCase()) ?? ''];
  if (type === 'Dimension') return [`css-unit-${node.unit.toLowerCase()}`];
  if (type === 'Percentage') return ['css-unit-percent'];
  return selectorFeatures(node);
}

function selectorFeatures(node: CssNode): string[] {
  const { type } = node;
  if (type === 'SelectorList') return node.children.size > 1 ? ['css-selector-grouping'] : [];
  if (type === 'Selector') {
    const classes = node.children.toArray().filter((part) => part.type === 'ClassSelector');
    return classes.length > 1 ? ['css-selector-chaining'] : [];
  }
  if (type === 'TypeSelector') return [node.name === '*' ? 'css-selector-universal' : 'css-selector-type'];
  if (type === 'ClassSelector') return ['css-selector-class'];
  if (type === 'IdSelector') return ['css-selector-id'];
  if (type === 'AttributeSelector') return ['css-selector-attribute'];
  if (type === 'NestingSelector') return ['css-nesting'];
  if (type === 'Combinator') return [COMBINATORS.get(node.name) ?? ''];
  if (type === 'PseudoElementSelector') return [`css-pseudo-element-${node.name.toLowerCase()}`];
  // `:before` and `:first-line` are written with one colon, too.
  return type === 'PseudoClassSelector'
    ? ['class', 'element'].map((kind) => `css-pseudo-${kind}-${node.name.toLowerCase()}`)
    : [];
}

function atRuleFeatures(name: string, prelude: CssNode | null): string[] {
  const rule = `css-at-${name}`;
  if (name !== 'media' || prelude?.type !== 'Raw') return [rule];
  const features = [...prelude.value.slice(0, 1_000).matchAll(MEDIA_FEATURES)].map((match) =>
    (match[1] ?? match[2] ?? match[3] ?? '').toLowerCase(),
  );
  return [rule, ...features.map((feature) => `css-at-media-${feature}`)];
}

function declarationFeatures(property: string, value: CssNode, isImportant: boolean): string[] {
  const found = isImportant ? ['css-important'] : [];
  if (property.startsWith('--')) return [...found, 'css-variables'];
  const name = property.replace(/^-(?:webkit|moz|ms|o)-/, '');
  // Outlook's own properties (`mso-…`) are meant for Outlook alone.
  found.push(PROPERTIES.get(name) ?? `css-${name}`);
  if (name.startsWith('scroll-snap')) found.push('css-scroll-snap');
  const first = value.type === 'Value' ? value.children.first : null;
  const keyword = first?.type === 'Identifier' ? first.name.toLowerCase() : '';
  if (name === 'display' && /^(?:inline-)?(?:flex|grid)$|^none$/.test(keyword))
    found.push(`css-display-${keyword.replace('inline-', '')}`);
  if (name === 'flex-direction' && keyword.startsWith('column')) found.push('css-flex-direction');
  if (name === 'flex-wrap' && keyword.startsWith('wrap')) found.push('css-flex-wrap');
  return found;
}
