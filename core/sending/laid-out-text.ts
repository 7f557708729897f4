import type { DefaultTreeAdapterTypes } from 'parse5';
import { findStyleSheets, readStyleRules, type StyleRules, toDeclarations } from './style-rules.ts';
import { type FontSize, findHiding, fontSizeWithin, visibilityWithin } from './unseen-styles.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Elements that browsers lay out as lines or boxes of their own. */
const BLOCKS: ReadonlySet<string> = new Set(
  'address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main menu nav ol optgroup option p plaintext pre search section summary table tbody td tfoot th thead title tr ul xmp'.split(
    ' ',
  ),
);
const UNSEEN: ReadonlySet<string> = new Set('head style script template title'.split(' '));

/** What hides text at a place. */
interface Look {
  isHidden: boolean;
  isInvisible: boolean;
  size: FontSize;
}

/**
 * Returns the text of a tree as a browser lays it out, for the search of links: elements that styles hide are missing, and elements that styles
 * make inline join the words around them, as elements do that are not blocks. Rules for some screens only count as well. Null when it has too many styles. Takes linear time.
 */
export function textAsLaidOut(root: Node): string | null {
  const rules = readStyleRules(findStyleSheets(root));
  const pieces: string[] = [];
  const waiting: { node: Node | '\n'; look: Look }[] = [
    { node: root, look: { isHidden: false, isInvisible: false, size: { pixels: 16, unseen: null } } },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (rules.isTruncated) return null;
    const { node, look } = next;
    if (node === '\n') pieces.push(node);
    else if (node.nodeName === '#text' && 'value' in node) {
      if (!look.isHidden && !look.isInvisible && look.size.unseen === null) pieces.push(node.value);
    } else if ('childNodes' in node) {
      const within = 'attrs' in node ? layOut(node, look, rules) : { look, isBlock: false };
      if (within.look.isHidden) continue;
      if (within.isBlock) {
        pieces.push('\n');
        waiting.push({ node: '\n', look });
      }
      for (const child of node.childNodes.toReversed()) waiting.push({ node: child, look: within.look });
    }
  }
  return rules.isTruncated ? null : pieces.join('');
}

function layOut(element: Element, outer: Look, rules: StyleRules): { look: Look; isBlock: boolean } {
  const { always, conditional } = toDeclarations(element, rules);
  const declarations = conditional ?? always;
  const isHidden =
    UNSEEN.has(element.nodeName) ||
    element.attrs.some(({ name }) => name === 'hidden') ||
    findHiding(declarations) !== null;
  const visibility = visibilityWithin(declarations);
  const isInvisible = visibility === undefined ? outer.isInvisible : visibility !== null;
  const size = fontSizeWithin(declarations, outer.size);
  const displays = declarations.get('display') ?? [];
  const isInline = displays.some((display) => /^(?:inline|contents|ruby|none)/.test(display));
  const isBlock = !isInline && (displays.length > 0 || BLOCKS.has(element.nodeName));
  return { look: { isHidden, isInvisible, size }, isBlock };
}
