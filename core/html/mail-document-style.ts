/** A style attribute in parts. */
export interface Declarations {
  /** without the declarations that could do harm */
  style: string;
  /** http(s) address of the background picture, as it was written; null: there is none */
  background: string | null;
}

/**
 * Reads the declarations of a style attribute and leaves out those that match `harmful`, or whose lengths follow the height of the
 * frame, which follows the height of what is shown. A pattern that spans no semicolon does not match the style that is left.
 */
export function readDeclarations(style: string, harmful: RegExp): Declarations {
  let background: string | null = null;
  const kept: string[] = [];
  for (const declaration of style.split(';')) {
    const [, colon, url] = BACKGROUND.exec(declaration) ?? [];
    if (url !== undefined) {
      background ??= url;
      // A shorthand may name a color for when there is no picture.
      const color = colon === 'background' ? COLOR.exec(declaration.replace(/url\([^)]*\)/i, ' '))?.[0] : undefined;
      if (color !== undefined) kept.push(`background-color:${color}`);
    } else if (DECLARATION.test(declaration) && !harmful.test(declaration) && !FRAME_LENGTH.test(declaration))
      kept.push(declaration);
  }
  const left = kept.join(';');
  return { style: harmful.test(left) ? '' : left, background };
}

/** What else stands between semicolons is a piece of something that had one within. */
const DECLARATION = /^\s*[a-z-]+\s*:/i;
const BACKGROUND = /^\s*(background(?:-image)?)\s*:[^\\]*?\burl\(\s*["']?(https?:\/\/[^\s"'()\\<>]{1,2000})["']?\s*\)/i;
const COLOR = /#[0-9a-f]{3,8}\b/i;
/** CSS Values and Units §6.1.2 */
const FRAME_LENGTH = /\d\s*[sld]?v(?:h|w|min|max|b|i)\b/i;
