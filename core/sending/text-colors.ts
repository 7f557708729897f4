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
  lavenderblush: 'fff0f5',
  lightyellow: 'ffffe0',
  lightcyan: 'e0ffff',
  cornsilk: 'fff8dc',
  beige: 'f5f5dc',
  antiquewhite: 'faebd7',
  lavender: 'e6e6fa',
  lemonchiffon: 'fffacd',
  papayawhip: 'ffefd5',
  mistyrose: 'ffe4e1',
  canvas: 'ffffff',
  window: 'ffffff',
  field: 'ffffff',
  highlighttext: 'ffffff',
  canvastext: '000000',
  windowtext: '000000',
  fieldtext: '000000',
};

/** Returns whether a value computes a color in a way that parseColor does not read. */
export function isUnreadColor(value: string): boolean {
  return /\b(?:var|env|color|color-mix|light-dark|contrast-color|device-cmyk|lab|lch|hwb|attr|if)\s*\(|\bfrom\s/.test(
    value,
  );
}

/** Words of a value that are read: of several backgrounds, only the last has a color. */
const MAX_WORDS = 100;

/** Returns the first color in a value such as `#fff url(a.png)`; null: none that is known. */
export function firstColor(value: string): Color | null {
  return (
    parseColor(value) ??
    value
      .match(/(?:[^\s(]+|\([^)]*\)?)+/g)
      ?.slice(-MAX_WORDS)
      .map(parseColor)
      .find((each) => each !== null) ??
    null
  );
}

/** Colors of a gradient that are read: each text upon it is compared with them. */
const MAX_SHADES = 100;

/** Returns the colors of a gradient, the first if there are many. */
export function gradientColors(value: string): Color[] {
  const words = value.match(/#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([^()]*\)|[a-z]+/g) ?? [];
  return words
    .map(parseColor)
    .filter((color) => color !== null)
    .slice(0, MAX_SHADES);
}

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
  const ok = /^ok(lab|lch)\(([^)]{0,80})\)/.exec(value);
  if (ok !== null) return parseOklab(ok[1] === 'lch', ok[2] ?? '');
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

/** Returns the color of the content of `oklab()`, or of `oklch()` (CSS Color 4 §9). */
function parseOklab(isPolar: boolean, content: string): Color {
  const parts = content.split(/[\s,/]+/).filter((each) => each !== '');
  const read = (part: string | undefined, whole: number) =>
    part?.endsWith('%') === true ? (Number.parseFloat(part) / 100) * whole : Number.parseFloat(part ?? '0') || 0;
  const [lightness, second, third] = [read(parts[0], 1), read(parts[1], 0.4), read(parts[2], 0.4)];
  const angle = (third * Math.PI) / 180;
  const [a, b] = isPolar ? [second * Math.cos(angle), second * Math.sin(angle)] : [second, third];
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channel = (linear: number) => {
    const clear = Math.min(1, Math.max(0, linear));
    return 255 * (clear <= 0.0031308 ? 12.92 * clear : 1.055 * clear ** (1 / 2.4) - 0.055);
  };
  return [
    channel(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    channel(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    channel(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
    parts[3] === undefined ? 1 : read(parts[3], 1),
  ];
}

/** Returns whether text of one color cannot be told from a background of the other. */
export function areAlike(text: Color, background: Color): boolean {
  return (
    text[3] <= 0.1 || [0, 1, 2].every((at) => Math.abs((text[at] ?? 0) - (background[at] ?? 0)) <= MAX_COLOR_DISTANCE)
  );
}

const MAX_COLOR_DISTANCE = 28;
