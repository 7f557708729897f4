/** Inverts the lightness of colors and keeps the hue; not quite to black. */
const INVERSION = 0.92;
const DARK_FILTER = `invert(${INVERSION}) hue-rotate(180deg)`;
/** Restores what must not be inverted. */
const UNDO_FILTER = 'invert(1) hue-rotate(180deg)';
/** Sum of red, green and blue below which a background counts as dark already. */
const DARK_SUM = 300;
/** Contrast of text that everyone can read (WCAG 2.2, 1.4.3). */
const ENOUGH_CONTRAST = 4.5;
/** Rows and columns of the points of a mail whose backgrounds are looked at. */
const POINTS = 12;
const HALF = 0.5;
/** Share of dark points from which a mail counts as dark. */
const MOSTLY = 2 / 3;
/** Elements of a mail that are looked at; more would hold up the page. */
const MAX_ELEMENTS = 5_000;
/** Steps from the color of a text to white or black. */
const STEPS = 20;

/** Red, green and blue, 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

const WHITE: Color = [255, 255, 255];
const BLACK: Color = [0, 0, 0];

/** Colors of texts that were changed, to change them back. */
const changed = new WeakMap<Document, Map<HTMLElement, string>>();

/** Shows a mail in dark colors, or as its sender designed it. Images keep their colors. Text that would be harder to read than it was gets a clearer color. */
export function darken({ contentDocument: shown, contentWindow }: HTMLIFrameElement, isWanted: boolean): void {
  if (shown === null || contentWindow === null) return;
  for (const [element, style] of changed.get(shown) ?? []) element.style.cssText = style;
  changed.delete(shown);
  shown.documentElement.style.filter = isWanted ? DARK_FILTER : '';
  shown.documentElement.style.background = isWanted ? '#ffffff' : '';
  // The words in place of an image that is not loaded are text, which is inverted with the rest.
  for (const image of shown.images) image.style.filter = isWanted && image.naturalWidth > 0 ? UNDO_FILTER : '';
  if (isWanted) changed.set(shown, clearTexts(shown, contentWindow));
}

/**
 * Returns whether most of what a mail shows is dark already. Newsletters seldom color their body: a table inside has the background. So points
 * all over the mail are looked at.
 */
export function isDarkAlready({ contentDocument: shown, contentWindow: view }: HTMLIFrameElement): boolean {
  if (shown === null || view === null) return false;
  const { width, height } = shown.documentElement.getBoundingClientRect();
  let dark = 0;
  const elements = [...shown.body.querySelectorAll<HTMLElement>('*')].slice(0, MAX_ELEMENTS);
  const surfaces = [shown.body, ...elements].flatMap((element) => {
    const { color, alpha } = readColor(view.getComputedStyle(element).backgroundColor);
    return alpha < HALF ? [] : [{ box: element.getBoundingClientRect(), isBody: element === shown.body, color }];
  });
  for (let row = 0; row < POINTS; row += 1) {
    for (let column = 0; column < POINTS; column += 1) {
      const [x, y] = [((column + HALF) / POINTS) * width, ((row + HALF) / POINTS) * height];
      // The last one is on top: children come after their parents.
      const top = surfaces.findLast(
        ({ box, isBody }) => isBody || (box.left <= x && x <= box.right && box.top <= y && y <= box.bottom),
      );
      if (top !== undefined && top.color.reduce((sum, part) => sum + part) <= DARK_SUM) dark += 1;
    }
  }
  return dark >= POINTS * POINTS * MOSTLY;
}

/** Gives texts colors that are as easy to read in dark colors as theirs were before. Returns what the styles of the elements were. */
function clearTexts(shown: Document, view: Window): Map<HTMLElement, string> {
  const backgrounds = new Map<Element | null, Color>();
  const next: [HTMLElement, property: 'color' | 'background-color', Color][] = [];
  // In the order of the document: parents come first. Colors are read before any is written.
  for (const element of [shown.body, ...shown.body.querySelectorAll<HTMLElement>('*')].slice(0, MAX_ELEMENTS)) {
    const style = view.getComputedStyle(element);
    const own = readColor(style.backgroundColor);
    const background = blend(own, backgrounds.get(element.parentElement) ?? WHITE);
    backgrounds.set(element, background);
    if (own.alpha > 0 && clearBackground(background) !== background)
      next.push([element, 'background-color', clearBackground(background)]);
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim() !== '');
    if (!isText && !isMissingImage(element)) continue;
    const color = blend(readColor(style.color), background);
    const clear = clearColor(color, background);
    if (clear !== color) next.push([element, 'color', clear]);
  }
  const before = new Map<HTMLElement, string>();
  for (const [element, property, color] of next) {
    if (!before.has(element)) before.set(element, element.style.cssText);
    element.style.setProperty(property, `rgb(${color.join(' ')})`, 'important');
  }
  return before;
}

/** Returns whether the element is an image that shows its alternative text. */
function isMissingImage(element: Element): boolean {
  return element.tagName === 'IMG' && (element as HTMLImageElement).naturalWidth === 0;
}

/**
 * Returns the color for a text that is as easy to read in dark colors as it was before, or easy enough: its own, or the nearest of those
 * towards black and white. The background becomes that of clearBackground.
 */
export function clearColor(color: Color, background: Color): Color {
  const dark = darkened(clearBackground(background));
  const wanted = Math.min(ENOUGH_CONTRAST, contrast(color, background));
  return nearest(color, [BLACK, WHITE], (candidate) => contrast(darkened(candidate), dark) >= wanted);
}

/** Returns the background itself, or the nearest towards white on which some text is easy to read in dark colors: white and black are not quite. */
export function clearBackground(background: Color): Color {
  return nearest(background, [WHITE], (candidate) =>
    [BLACK, WHITE].some((text) => contrast(darkened(text), darkened(candidate)) >= ENOUGH_CONTRAST),
  );
}

/** Returns the first color that fits on the ways from a color to the ends; the color itself if none does. */
function nearest(color: Color, ends: readonly Color[], fits: (candidate: Color) => boolean): Color {
  if (fits(color)) return color;
  for (let step = 1; step <= STEPS; step += 1) {
    for (const end of ends) {
      const candidate = mix(color, end, step / STEPS);
      if (fits(candidate)) return candidate;
    }
  }
  return color;
}

/** Returns a color as the filter shows it (Filter Effects 1, §9.1 and §9.2). */
export function darkened(color: Color): Color {
  const [red, green, blue] = mapColor(color, (part) => 255 * INVERSION + part * (1 - 2 * INVERSION));
  const light = 2 * (0.213 * red + 0.715 * green + 0.072 * blue);
  return mapColor([red, green, blue], (part) => Math.min(255, Math.max(0, Math.round(light - part))));
}

/** Returns the contrast of two colors, 1 to 21 (WCAG 2.2). */
export function contrast(one: Color, other: Color): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(color: Color): number {
  const [red, green, blue] = mapColor(color, (part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Parses a computed color, `rgb(…)` or `rgba(…)`. */
function readColor(text: string): { color: Color; alpha: number } {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return { color: [red, green, blue], alpha };
}

function blend({ color, alpha }: { color: Color; alpha: number }, below: Color): Color {
  return alpha === 1 ? color : mix(below, color, alpha);
}

function mix([r, g, b]: Color, [red, green, blue]: Color, share: number): Color {
  const between = (from: number, to: number) => Math.round(from + (to - from) * share);
  return [between(r, red), between(g, green), between(b, blue)];
}

function mapColor([red, green, blue]: Color, map: (part: number) => number): [number, number, number] {
  return [map(red), map(green), map(blue)];
}
