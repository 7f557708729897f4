import { parseAst } from 'rolldown/parseAst';
import { Visitor } from 'rolldown/utils';

/** Characters that V8 does not keep in one byte. */
const WIDE = /[^\0-\xff]/g;

/**
 * Returns JavaScript that does the same and whose source V8 keeps in half the memory: one character outside Latin-1 makes it take two bytes for
 * each character of a file. In texts and regular expressions such characters become escapes. Code is returned as it is when escapes would
 * make it as large, or such characters are elsewhere, as in a tagged template, which can read how its text was written.
 */
export function narrowCode(code: string): string {
  const wide = code.match(WIDE)?.length ?? 0;
  if (wide === 0 || 5 * wide > code.length) return code;
  const ends: { start: number; end: number; isByPoint: boolean }[] = [];
  const tagged = new Set<number>();
  const program = parseAst(code, { lang: 'js', sourceType: 'module' });
  new Visitor({
    Literal(node) {
      const isByPoint = 'regex' in node && /[uv]/.test(node.regex.flags);
      ends.push({ start: node.start, end: node.end, isByPoint });
    },
    TaggedTemplateExpression(node) {
      for (const { start } of node.quasi.quasis) tagged.add(start);
    },
    TemplateElement(node) {
      if (!tagged.has(node.start)) ends.push({ start: node.start, end: node.end, isByPoint: false });
    },
  }).visit(program);
  let narrow = '';
  let at = 0;
  for (const { start, end, isByPoint } of ends.toSorted((one, other) => one.start - other.start)) {
    narrow += code.slice(at, start) + escapeWide(code.slice(start, end), isByPoint);
    at = end;
  }
  narrow += code.slice(at);
  return narrow.search(WIDE) === -1 ? narrow : code;
}

/**
 * By code point, as patterns with the flag u or v read them, or by UTF-16 unit. A backslash that escapes the character itself, which means
 * nothing, goes, because it would escape the one of the escape.
 */
function escapeWide(text: string, isByPoint: boolean): string {
  return text.replaceAll(
    isByPoint ? /(\\*)([^\0-\xff])/gu : /(\\*)([^\0-\xff])/g,
    (_, before: string, character: string) => {
      const point = character.codePointAt(0) ?? 0;
      const escape = point > 0xffff ? `\\u{${point.toString(16)}}` : `\\u${point.toString(16).padStart(4, '0')}`;
      return before.slice(before.length % 2) + escape;
    },
  );
}
