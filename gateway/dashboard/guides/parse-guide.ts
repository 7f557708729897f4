/** A piece of a line: text, or what marks some of it. */
export type Inline =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'strong'; children: Inline[] }
  | { kind: 'emphasis'; children: Inline[] }
  /** `href`: a path of the dashboard, a fragment, or a URL with http or https */
  | { kind: 'link'; href: string; children: Inline[] };

/** A part of a guide. */
export type Block =
  | { kind: 'heading'; level: number; id: string; children: Inline[] }
  | { kind: 'paragraph' | 'quote'; children: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; isOrdered: boolean; items: Block[][] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] };

/** A guide as the dashboard shows it. */
export type Guide = { title: string; blocks: Block[] };

/**
 * Parses the Markdown that the guides in docs/ use. The result has no HTML: what is not known here is text. `name` is the guide's path without
 * its ending, such as `deploy/compose`; links lead to the guides in `served`, to http and https, or are text.
 */
export function parseGuide(markdown: string, name: string, served: ReadonlySet<string>): Guide {
  const lines = markdown.replaceAll(/<!--[\s\S]*?-->/g, '').split(/\r?\n/);
  const blocks = parseBlocks(lines, (href) => resolveLink(href, name, served));
  const first = blocks.find(({ kind }) => kind === 'heading');
  const title = first?.kind === 'heading' ? plainText(first.children) : name;
  return { title, blocks };
}

/** Returns the text without its marks. */
export function plainText(children: readonly Inline[]): string {
  return children
    .map((child) =>
      typeof child === 'string' ? child : child.kind === 'code' ? child.text : plainText(child.children),
    )
    .join('');
}

type Resolve = (href: string) => string | null;

/** Lists within lists beyond this depth are text. */
const MAX_DEPTH = 8;

const FENCE = /^(`{3,}|~{3,})/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s{0,3})([-*]|\d+\.)\s+(.*)$/;
const RULE = /^\|?[\s:|-]*-{3}[\s:|-]*$/;

function parseBlocks(lines: readonly string[], resolve: Resolve, depth = 0): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const next = parseBlock(lines, at, resolve, depth);
    if (next.block !== null) blocks.push(next.block);
    at = line.trim() === '' ? at + 1 : next.end;
  }
  return blocks;
}

function parseBlock(
  lines: readonly string[],
  at: number,
  resolve: Resolve,
  depth: number,
): { block: Block | null; end: number } {
  const line = lines[at] ?? '';
  if (line.trim() === '') return { block: null, end: at + 1 };
  const until = (isPart: (text: string, index: number) => boolean) => {
    let end = at + 1;
    while (end < lines.length && isPart(lines[end] ?? '', end)) end += 1;
    return end;
  };
  const [, fence] = FENCE.exec(line) ?? [];
  if (fence !== undefined) {
    const end = until((text) => !text.startsWith(fence));
    return { block: { kind: 'code', text: lines.slice(at + 1, end).join('\n') }, end: end + 1 };
  }
  if (/^ {4}/.test(line)) {
    const end = until((text) => /^ {4}/.test(text));
    const text = lines.slice(at, end).map((each) => each.slice(4));
    return { block: { kind: 'code', text: text.join('\n') }, end };
  }
  const [, marks, heading] = HEADING.exec(line) ?? [];
  if (marks !== undefined && heading !== undefined) {
    const children = parseInline(heading, resolve);
    const id = headingId(plainText(children));
    return { block: { kind: 'heading', level: marks.length, id, children }, end: at + 1 };
  }
  if (line.startsWith('|') && RULE.test(lines[at + 1] ?? '')) {
    const end = until((text) => text.startsWith('|'));
    const [head = [], , ...rows] = lines
      .slice(at, end)
      .map((row) => splitCells(row).map((cell) => parseInline(cell, resolve)));
    return { block: { kind: 'table', head, rows }, end };
  }
  const item = ITEM.exec(line);
  if (item !== null && depth < MAX_DEPTH)
    return parseList(lines, at, /\d/.test(item[2] ?? ''), (own) => parseBlocks(own, resolve, depth + 1));
  if (line.startsWith('>')) {
    const end = until((text) => text.startsWith('>'));
    const text = lines.slice(at, end).map((each) => each.replace(/^>\s?/, ''));
    return { block: { kind: 'quote', children: parseInline(text.join(' '), resolve) }, end };
  }
  const end = until(
    (text) =>
      text.trim() !== '' && !FENCE.test(text) && !HEADING.test(text) && !ITEM.test(text) && !text.startsWith('|'),
  );
  const children = parseInline(lines.slice(at, end).join(' '), resolve);
  return { block: children.length === 0 ? null : { kind: 'paragraph', children }, end };
}

/** Parses a list with what its items contain, which is indented. */
function parseList(lines: readonly string[], at: number, isOrdered: boolean, parse: (own: string[]) => Block[]) {
  const items: Block[][] = [];
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end] ?? '');
    if (item === null || /\d/.test(item[2] ?? '') !== isOrdered) break;
    const own = [item[3] ?? ''];
    for (end += 1; end < lines.length; end += 1) {
      const line = lines[end] ?? '';
      const isBlankWithin = line.trim() === '' && /^\s{2,}\S/.test(lines[end + 1] ?? '');
      if (!/^\s{2,}\S/.test(line) && !isBlankWithin) break;
      own.push(line.replace(/^\s{2,4}/, ''));
    }
    items.push(parse(own));
    if ((lines[end] ?? '').trim() === '' && ITEM.test(lines[end + 1] ?? '')) end += 1;
  }
  return { block: { kind: 'list' as const, isOrdered, items }, end };
}

function splitCells(row: string): string[] {
  return row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const INLINE =
  /(?<code>`+)(?<text>[\s\S]+?)\k<code>(?!`)|!\[[^\]]*\]\([^)]*\)|\[(?<label>(?:[^[\]]|\[[^\]]*\])+)\]\((?<href>[^()\s]+(?:\([^)]*\)[^()\s]*)*)\)|\*\*(?<strong>[^*]+)\*\*|(?<![\w*])[*_](?<emphasis>[^*_\s](?:[^*_]*[^*_\s])?)[*_](?![\w*])/;

function parseInline(text: string, resolve: Resolve): Inline[] {
  const parts: Inline[] = [];
  const add = (plain: string) => {
    if (plain !== '') parts.push(plain.replaceAll(/\\([\\`*_{}[\]()#+.!|<>-])/g, '$1'));
  };
  let rest = text;
  for (let found = INLINE.exec(rest); found !== null; found = INLINE.exec(rest)) {
    add(rest.slice(0, found.index));
    parts.push(...parseMarked(found.groups ?? {}, resolve));
    rest = rest.slice(found.index + found[0].length);
  }
  add(rest);
  return parts;
}

/** Pictures have no groups, and are left out. */
function parseMarked(groups: Record<string, string | undefined>, resolve: Resolve): Inline[] {
  const { text, label, href, strong, emphasis } = groups;
  if (text !== undefined) return [{ kind: 'code', text: text.trim() }];
  if (strong !== undefined) return [{ kind: 'strong', children: parseInline(strong, resolve) }];
  if (emphasis !== undefined) return [{ kind: 'emphasis', children: parseInline(emphasis, resolve) }];
  if (label === undefined || href === undefined) return [];
  const children = parseInline(label, resolve);
  const target = resolve(href);
  return target === null ? children : [{ kind: 'link', href: target, children }];
}

/** Returns where a link of a guide leads; null: to a page that the dashboard does not serve. */
function resolveLink(href: string, name: string, served: ReadonlySet<string>): string | null {
  if (/^https?:\/\//i.test(href) || href.startsWith('#')) return href;
  const { host, pathname, hash } = new URL(href, `guide:///${name}`);
  const guide = pathname.replace(/^\//, '').replace(/\.md$/, '');
  return host === '' && href.includes('.md') && served.has(guide) ? `/docs/${guide}${hash}` : null;
}

/** Returns the id that links to a heading name, as GitHub makes it. */
function headingId(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}
