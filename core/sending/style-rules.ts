import type { DefaultTreeAdapterTypes } from 'parse5';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/**
 * Values of CSS by property, in lower case, those with `!important` last: a browser takes the last one that it knows. Programs that know less
 * take an earlier one.
 */
export type Declarations = ReadonlyMap<string, readonly string[]>;

interface Declaration {
  property: string;
  value: string;
  isImportant: boolean;
}

/** A rule of a style sheet. */
interface Rule {
  /** its place among all */
  at: number;
  tag: string | null;
  id: string | null;
  classes: readonly string[];
  declarations: readonly Declaration[];
  /** whether it holds on some screens only */
  isConditional: boolean;
  /** whether its selector says more than is read of it, so that it may not hold */
  isLoose: boolean;
}

/** The rules of the style sheets of a message, by what they select. */
export interface StyleRules {
  byKey: Map<string, Rule[]>;
  /** whether there are more rules, or more work on them for all elements, than is read: the rest of the elements has its own styles only */
  isTruncated: boolean;
  /** what was read so far, in characters: it decides and not time, so that the same mail is always read in the same way */
  work: number;
  /** styles of elements that were read, by what decides about them: mail repeats few of them many times */
  known: Map<string, ElementStyles>;
  /** the same by the rules that hold */
  bySet: Map<string, ElementStyles>;
}

/** Returns the style sheets within a tree. */
export function findStyleSheets(root: Node): string[] {
  const sheets: string[] = [];
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeName === 'style' && 'childNodes' in node)
      sheets.push(node.childNodes.map((child) => ('value' in child ? child.value : '')).join(''));
    if ('childNodes' in node) for (const child of node.childNodes.toReversed()) waiting.push(child);
  }
  return sheets;
}

const MAX_RULES = 3_000;
const MAX_CSS_LENGTH = 300_000;
/** Characters of rules that are read for all elements of a message, which take less than a second. */
const MAX_WORK = 10_000_000;
/** Characters that a declaration or rule counts beside its own. */
const ENTRY_WORK = 16;

/**
 * Reads style sheets. Of a selector only the last part counts, without attributes and states, so that more elements are marked than a browser
 * would hide, never fewer. Names of classes and ids have no case, as in HTML without a doctype.
 */
export function readStyleRules(sheets: readonly string[]): StyleRules {
  const byKey = new Map<string, Rule[]>();
  const rules: StyleRules = { byKey, isTruncated: false, work: 0, known: new Map(), bySet: new Map() };
  let count = 0;
  let length = 0;
  for (const sheet of sheets) {
    length += sheet.length;
    if (length > MAX_CSS_LENGTH) return { ...rules, isTruncated: true };
    for (const { selectors, body, isConditional } of listBlocks(decodeCss(sheet))) {
      rules.work += selectors.length + body.length;
      if (rules.work > MAX_WORK) return { ...rules, isTruncated: true };
      const declarations = readDeclarations(body);
      const isOfState = /[:[]/.test(selectors);
      for (const selector of withoutFunctions(selectors).split(',')) {
        if (++count > MAX_RULES) return { ...rules, isTruncated: true };
        const rule = { at: count, ...toRule(selector, declarations, { isConditional, isOfState }) };
        const key = rule.id !== null ? `#${rule.id}` : (rule.classes[0] ?? rule.tag ?? '*');
        const group = byKey.get(key) ?? [];
        group.push(rule);
        byKey.set(key, group);
      }
    }
  }
  return rules;
}

/** Counts work; when it is too much, forgets all rules. */
function spend(rules: StyleRules, work: number): void {
  rules.work += work;
  if (rules.work <= MAX_WORK || rules.byKey.size === 0) return;
  rules.isTruncated = true;
  for (const each of [rules.byKey, rules.known, rules.bySet]) each.clear();
}

/** Marks of CSS that are escaped or quoted, and so are none: they are kept as characters for private use until a value is read. */
const ESCAPED_BASE = 0xf0000;
const ESCAPED = /[\u{f0000}-\u{f007f}]/gu;
const NAME = /^[\w\u0080-\u{10ffff}-]$/u;

/** Returns CSS without its comments. Takes linear time: a pattern would look for the end of each comment that has none. */
export function withoutComments(css: string): string {
  let text = '';
  let from = 0;
  for (let at = css.indexOf('/*'); at !== -1; at = css.indexOf('/*', from)) {
    text += css.slice(from, at);
    const end = css.indexOf('*/', at + 2);
    from = end === -1 ? css.length : end + 2;
  }
  return text + css.slice(from);
}

function decodeCss(css: string): string {
  return withoutComments(css)
    .replace(/<!--|-->/g, ' ')
    .replaceAll(/\\([0-9a-f]{1,6})\s?|\\(?:\r\n|[\n\f])|\\(.)/gi, (_all, hex?: string, character?: string) => {
      const code = Number.parseInt(hex ?? '', 16);
      return hex === undefined ? asName(character ?? '') : code > 0x10ffff ? '' : asName(String.fromCodePoint(code));
    })
    .replace(/"[^"\n]*"|'[^'\n]*'/g, asName);
}

function asName(text: string): string {
  return Array.from(text, (each) =>
    NAME.test(each) ? each : String.fromCodePoint(ESCAPED_BASE + (each.codePointAt(0) ?? 0)),
  ).join('');
}

function fromName(text: string): string {
  return text.replace(ESCAPED, (each) => String.fromCodePoint((each.codePointAt(0) ?? 0) - ESCAPED_BASE));
}

const CONDITION = /^@(?:media|container)/i;
/** What every screen is: a condition that says no more is none. */
const OF_EVERY_SCREEN =
  /^(?:(?:only\s+)?(?:screen|all)|\(min-(?:device-)?(?:width|height):(?:\d{1,2}|[12]\d\d|3[01]\d|320)px\)|\(max-(?:device-)?width:[3-9]\d{3,}px\))$/;
/** Rules within which declarations hold for the selector around them (CSS Nesting §3). */
const GROUPING = /^@(?:media|supports|container|layer|scope|starting-style)/i;

/** A block that is open. */
interface Group {
  /** of the nearest rule that has some; null: none */
  selectors: string | null;
  isConditional: boolean;
}

interface Block {
  selectors: string;
  body: string;
  isConditional: boolean;
}

function* listBlocks(css: string): Generator<Block> {
  const groups: Group[] = [];
  let from = 0;
  for (const { 0: mark, index } of css.matchAll(/[{};]/g)) {
    if (mark === ';') {
      if (groups.length === 0) from = index + 1;
      continue;
    }
    const text = css.slice(from, index).trim();
    from = index + 1;
    const outer = groups.at(-1) ?? null;
    if (mark === '{') {
      // Declarations before a nested rule belong to the rule around it.
      const begin = text.lastIndexOf(';') + 1;
      yield* declared(text.slice(0, begin), outer);
      groups.push(openGroup(text.slice(begin).trim(), outer));
    } else {
      yield* declared(text, outer);
      groups.pop();
    }
  }
  // A browser closes what is open at the end.
  yield* declared(css.slice(from).trim(), groups.at(-1) ?? null);
}

function openGroup(head: string, outer: Group | null): Group {
  return {
    selectors: GROUPING.test(head) ? (outer?.selectors ?? null) : head,
    isConditional: outer?.isConditional === true || (CONDITION.test(head) && !holdsEverywhere(head)),
  };
}

function holdsEverywhere(head: string): boolean {
  const queries = /^@media\s*(\S.{0,299})$/is.exec(head)?.[1] ?? '';
  return queries.split(',').some((query) =>
    query
      .trim()
      .toLowerCase()
      .replace(/\s*:\s*/g, ':')
      .split(/\s+and\s+/)
      .every((part) => OF_EVERY_SCREEN.test(part)),
  );
}

function* declared(body: string, group: Group | null): Generator<Block> {
  if (body === '' || group?.selectors == null || group.selectors.startsWith('@')) return;
  yield { selectors: group.selectors, body, isConditional: group.isConditional };
}

const MAX_NESTING = 6;

/** Removes attributes, states and functions from selectors: `:not(.a, .b)`. */
function withoutFunctions(selectors: string): string {
  let text = selectors.replace(/\[[^\]]*\]?/g, '');
  for (let depth = 0; depth < MAX_NESTING && text.includes('('); depth++)
    text = text.replace(/:{0,2}[\w-]{0,60}\([^()]*\)/g, '');
  return text.replace(/::?[\w-]+/g, '');
}

function toRule(
  selector: string,
  declarations: readonly Declaration[],
  { isConditional, isOfState }: { isConditional: boolean; isOfState: boolean },
): Omit<Rule, 'at'> {
  const parts = selector.trim().split(/[\s>+~]+/);
  const last = parts.at(-1)?.toLowerCase() ?? '';
  const classes = [...new Set(last.matchAll(/\.([^.#&*()]+)/g).map(([, name = '']) => name))];
  const id = /#([^.#&*()]+)/.exec(last)?.[1] ?? null;
  const tag = /^[a-z][\w-]*/.exec(last)?.[0] ?? null;
  return { tag, id, classes, declarations, isConditional, isLoose: isOfState || parts.length > 1 };
}

/** Returns the declarations of a style attribute, or of a block of a style sheet. */
function readDeclarations(css: string): Declaration[] {
  return (css.includes('\\') || css.includes('/*') ? decodeCss(css) : css).split(';').flatMap((text) => {
    const colon = text.indexOf(':');
    if (colon === -1) return [];
    const given = fromName(text.slice(colon + 1))
      .replace(/\s+/g, ' ')
      .trim();
    const value = given.replace(/! ?important/i, '').trim();
    const property = fromName(text.slice(0, colon)).trim().toLowerCase();
    return value === '' ? [] : [{ property, value: value.toLowerCase(), isImportant: value.length < given.length }];
  });
}

/** The declarations that hold for an element. */
interface ElementStyles {
  always: Declarations;
  /** as far as rules for some screens only hold, and those whose selectors are not read whole; null: there are none */
  conditional: Declarations | null;
  /** characters of the declarations */
  size: number;
}

/** Returns the declarations that hold for an element, those of its style attribute last. */
export function toDeclarations(element: Element, rules: StyleRules): ElementStyles {
  const value = (name: string) => element.attrs.find((each) => each.name === name)?.value;
  const key = [element.tagName, value('class') ?? '', value('id') ?? '\0', value('style') ?? '\0'].join('\n');
  const known = rules.known.get(key);
  const styles = known ?? readStyles(element, value, rules);
  if (known === undefined) rules.known.set(key, styles);
  // A caller reads all of them, for each element.
  spend(rules, styles.size);
  return styles;
}

function readStyles(element: Element, value: (name: string) => string | undefined, rules: StyleRules): ElementStyles {
  const matching = listMatching(element, value, rules);
  const style = value('style');
  const key = `${matching.map(({ at }) => at).join()}\n${style ?? ''}`;
  const known = rules.bySet.get(key);
  if (known !== undefined) return known;
  const always = matching.filter(({ isConditional, isLoose }) => !isConditional && !isLoose);
  const loose = matching.filter(({ isConditional, isLoose }) => !isConditional && isLoose);
  const conditional = matching.filter(({ isConditional }) => isConditional);
  const own = { declarations: style === undefined ? [] : readDeclarations(style) };
  // What may not hold shows nothing that others hide.
  const weak = loose.map(({ declarations }) => ({ declarations, isWeak: true }));
  const ofAlways = byProperty([...weak, ...always, own]);
  const ofConditional =
    always.length === matching.length ? null : byProperty([...always, ...loose, own, ...conditional]);
  const styles = {
    always: ofAlways,
    conditional: ofConditional,
    size: measureDeclarations(ofAlways) + (ofConditional === null ? 0 : measureDeclarations(ofConditional)),
  };
  rules.bySet.set(key, styles);
  for (const { declarations } of matching) spend(rules, declarations.length * ENTRY_WORK);
  // They are read by many patterns when they are new.
  if (matching.length > 0) spend(rules, styles.size * PATTERNS);
  return styles;
}

/** How often new declarations are read, as against known ones. */
const PATTERNS = 4;

function listMatching(element: Element, value: (name: string) => string | undefined, rules: StyleRules): Rule[] {
  if (rules.byKey.size === 0) return [];
  const classes = new Set(
    (value('class') ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((each) => each !== '')
      .slice(0, MAX_CLASSES)
      .map((each) => asName(each)),
  );
  const tag = element.tagName.toLowerCase();
  const id = value('id') === undefined ? null : asName(value('id')?.toLowerCase() ?? '');
  const keys = new Set([...classes, ...(id === null ? [] : [`#${id}`]), tag, '*']);
  const matching: Rule[] = [];
  for (const key of keys)
    for (const rule of rules.byKey.get(key) ?? []) {
      spend(rules, ENTRY_WORK * (1 + Math.min(rule.classes.length, classes.size)));
      if (
        (rule.tag === null || rule.tag === tag) &&
        (rule.id === null || rule.id === id) &&
        rule.classes.every((name) => classes.has(name))
      )
        matching.push(rule);
    }
  return matching;
}

const MAX_CLASSES = 50;

/** Returns the values of each property, each once: where it is last. */
function byProperty(parts: readonly { declarations: readonly Declaration[]; isWeak?: boolean }[]): Declarations {
  const found = new Map<string, Set<string>>();
  for (const isImportant of [false, true])
    for (const { declarations, isWeak } of parts)
      for (const { property, value, isImportant: given } of declarations) {
        if ((given && isWeak !== true) !== isImportant) continue;
        const values = found.get(property) ?? new Set();
        values.delete(value);
        found.set(property, values.add(value));
      }
  return new Map([...found].map(([property, values]) => [property, [...values]]));
}

function measureDeclarations(declarations: Declarations): number {
  let size = 0;
  for (const values of declarations.values()) for (const { length } of values) size += ENTRY_WORK + length;
  return size;
}
