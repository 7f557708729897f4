import { parseAst } from 'rolldown/parseAst';
import { Visitor } from 'rolldown/utils';

/** Characters with which Node keeps a file in two bytes for each. V8 could keep Latin-1 in one, but Node reads a file as ASCII or as UTF-16. */
const WIDE = /[^\0-\x7f]/g;

/**
 * Returns JavaScript that does the same and whose source V8 keeps in half the memory: one character outside ASCII makes it take two bytes for
 * each character of a file. In texts and regular expressions such characters become escapes, and in templates of String.raw, which has none,
 * texts that are put in. Code is returned as it is when escapes would make it as large, or such characters are elsewhere, as in a template
 * with another tag, which can read how its text was written.
 */
export function narrowCode(code: string): string {
  const wide = code.match(WIDE)?.length ?? 0;
  if (wide === 0 || 5 * wide > code.length) return code;
  const texts: { start: number; end: number; escape: (text: string) => string }[] = [];
  const tagged = new Set<number>();
  const program = parseAst(code, { lang: 'js', sourceType: 'module' });
  new Visitor({
    Literal({ start, end, ...node }) {
      const isByPoint = 'regex' in node && /[uv]/.test(node.regex.flags);
      texts.push({ start, end, escape: isByPoint ? escapePoints : escapeUnits });
    },
    TaggedTemplateExpression({ tag, quasi }) {
      const isRaw = code.slice(tag.start, tag.end) === 'String.raw';
      for (const { start, end } of quasi.quasis) {
        tagged.add(start);
        if (isRaw) texts.push({ start, end, escape: putIn });
      }
    },
    TemplateElement({ start, end }) {
      if (!tagged.has(start)) texts.push({ start, end, escape: escapeUnits });
    },
  }).visit(program);
  let narrow = '';
  let at = 0;
  for (const { start, end, escape } of texts.toSorted((one, other) => one.start - other.start)) {
    narrow += code.slice(at, start) + escape(code.slice(start, end));
    at = end;
  }
  narrow += code.slice(at);
  return narrow.search(WIDE) === -1 ? narrow : code;
}

/** By code point, as patterns with the flag u or v read them. */
function escapePoints(text: string): string {
  return text.replaceAll(/(\\*)([^\0-\x7f])/gu, escapeWide);
}

/** By UTF-16 unit. */
function escapeUnits(text: string): string {
  return text.replaceAll(/(\\*)([^\0-\x7f])/g, escapeWide);
}

/** A backslash that escapes the character itself, which means nothing, goes, because it would escape the one of the escape. */
function escapeWide(_: string, backslashes: string, character: string): string {
  return backslashes.slice(backslashes.length % 2) + nameCharacter(character);
}

/** For String.raw. A backslash before the character stays one, and would escape what is put in. */
function putIn(text: string): string {
  return text.replaceAll(/(\\*)([^\0-\x7f]+)/g, (_, backslashes: string, characters: string) => {
    const isEscaped = backslashes.length % 2 === 1;
    return `${backslashes.slice(isEscaped ? 1 : 0)}\${"${isEscaped ? '\\\\' : ''}${escapeUnits(characters)}"}`;
  });
}

function nameCharacter(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\u{${point.toString(16)}}` : `\\u${point.toString(16).padStart(4, '0')}`;
}
