/** Characters of style sheets that are searched. */
const MAX_SHEETS_LENGTH = 100_000;
const MAX_STYLE_LENGTH = 2_000;

/** Declarations that hide an element; a preheader usually has several of them. */
const HIDING =
  /(?:^|[;{])\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|max-height)\s*:\s*0(?:\.0{1,9})?(?:px|em|%)?\s*(?:[;!}]|$))/i;

/** Returns whether an element is hidden by itself: with its style or one of its classes (hiddenClasses). */
export function isHidden(attributes: Readonly<Record<string, string>>, classes: ReadonlySet<string>): boolean {
  const { style, class: names, hidden } = attributes;
  if (hidden !== undefined) return true;
  if (style !== undefined && style.length <= MAX_STYLE_LENGTH && HIDING.test(style)) return true;
  if (names === undefined || classes.size === 0) return false;
  return names
    .slice(0, MAX_STYLE_LENGTH)
    .split(/\s+/)
    .some((name) => classes.has(name));
}

/** Returns the classes that style sheets of HTML hide on every screen: `.preheader { display: none }`, but not within `@media`. */
export function hiddenClasses(html: string): ReadonlySet<string> {
  const classes = new Set<string>();
  let searched = 0;
  for (let at = sheetStart(html, 0); at !== -1 && searched < MAX_SHEETS_LENGTH; ) {
    const end = html.indexOf('</', at);
    const sheet = html.slice(at, Math.min(end === -1 ? html.length : end, at + MAX_SHEETS_LENGTH));
    searched += sheet.length + 1;
    addHiddenClasses(sheet, classes);
    at = end === -1 ? -1 : sheetStart(html, end);
  }
  return classes;
}

/** Returns the index after the next start tag of a style element outside comments; -1: none. */
function sheetStart(html: string, from: number): number {
  STYLE_TAG.lastIndex = from;
  for (let found = STYLE_TAG.exec(html); found !== null; found = STYLE_TAG.exec(html)) {
    if (found[0] !== '<!--') return STYLE_TAG.lastIndex;
    const end = html.indexOf('-->', found.index + 2);
    if (end === -1) break;
    STYLE_TAG.lastIndex = end + 3;
  }
  return -1;
}

const STYLE_TAG = /<!--|<style(?![a-z])[^<>]{0,500}>/gi;

function addHiddenClasses(sheet: string, classes: Set<string>): void {
  if (!HIDING.test(sheet)) return;
  let depth = 0;
  let selectors = '';
  for (const [piece, mark] of pieces(sheet)) {
    if (mark === '{') {
      if (depth === 0) selectors = piece;
      depth++;
    } else if (depth > 0) {
      depth--;
      if (depth === 0 && HIDING.test(piece)) addClasses(selectors, classes);
      else if (depth > 0) selectors = '@';
    }
  }
}

/** The text before each brace, and the brace. */
function* pieces(sheet: string): Generator<[piece: string, mark: string]> {
  const text = withoutComments(sheet);
  let from = 0;
  for (const { index, 0: mark } of text.matchAll(/[{}]/g)) {
    yield [text.slice(from, index), mark];
    from = index + 1;
  }
}

/** Takes linear time: a pattern would look for the end of each comment that has none. */
function withoutComments(sheet: string): string {
  let text = '';
  let from = 0;
  for (let at = sheet.indexOf('/*'); at !== -1; at = sheet.indexOf('/*', from)) {
    text += `${sheet.slice(from, at)} `;
    const end = sheet.indexOf('*/', at + 2);
    from = end === -1 ? sheet.length : end + 2;
  }
  return `${text}${sheet.slice(from)}`.replace(/<!--|-->/g, ' ');
}

function addClasses(selectors: string, classes: Set<string>): void {
  if (selectors.includes('@')) return;
  for (const selector of selectors.split(',')) {
    const name = /^\s*[a-z]{0,10}\.([\w-]{1,60})\s*$/i.exec(selector)?.[1];
    if (name !== undefined) classes.add(name);
  }
}
