/** A node of the editor's document, as `editor.getJSON()` returns it. */
export interface DocumentNode {
  type?: string | undefined;
  text?: string | undefined;
  attrs?: Record<string, unknown> | undefined;
  marks?: { type: string; attrs?: Record<string, unknown> | undefined }[] | undefined;
  content?: DocumentNode[] | undefined;
}

/**
 * Returns the plain text of a document: a blank line between paragraphs, `> ` before quoted lines, `- ` or a number before list items, and
 * `text (URL)` for links. Empty if nothing is written.
 */
export function textOfDocument(document: DocumentNode): string {
  return writeBlocks(document)
    .join('\n\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd();
}

function writeBlocks({ content = [] }: DocumentNode): string[] {
  return content.map(writeBlock);
}

function writeBlock(node: DocumentNode): string {
  switch (node.type ?? 'text') {
    case 'blockquote':
      return prefixed(textOfDocument(node), '> ', '> ');
    case 'bulletList':
      return (node.content ?? []).map((item) => writeItem(item, '- ')).join('\n');
    case 'orderedList': {
      const first = Number(node.attrs?.['start'] ?? 1);
      return (node.content ?? []).map((item, at) => writeItem(item, `${first + at}. `)).join('\n');
    }
    case 'table':
      return (node.content ?? []).map(writeRow).join('\n');
    case 'horizontalRule':
      return '-----';
    case 'signature':
      // The line that separates a signature ends with a space (RFC 3676 §4.3), which HTML does not keep.
      return writeBlocks(node).join('\n').replace(/^--$/m, '-- ');
    default:
      return writeInline(node);
  }
}

/** Cells in one line, in which only a bar separates them. */
function writeRow({ content = [] }: DocumentNode): string {
  return content.map((cell) => writeBlocks(cell).join(' ').replaceAll('\n', ' ').trim()).join(' | ');
}

function writeItem(item: DocumentNode, mark: string): string {
  return prefixed(writeBlocks(item).join('\n'), mark, ' '.repeat(mark.length));
}

/** Returns the lines with prefixes; empty lines have no space after it. */
function prefixed(text: string, first: string, further: string): string {
  return text
    .split('\n')
    .map((line, at) => (line === '' ? (at === 0 ? first : further).trimEnd() : `${at === 0 ? first : further}${line}`))
    .join('\n');
}

function writeInline({ content = [] }: DocumentNode): string {
  const pieces: string[] = [];
  for (const [at, node] of content.entries()) {
    pieces.push(textOfNode(node));
    const href = findHref(node);
    // A link whose text is partly bold is several nodes.
    if (href === null || href === findHref(content[at + 1])) continue;
    let from = at;
    while (from > 0 && findHref(content[from - 1]) === href) from -= 1;
    const shown = content
      .slice(from, at + 1)
      .map(textOfNode)
      .join('')
      .trim();
    if (shown !== href && shown !== href.replace(/^(mailto|tel):/i, '')) pieces.push(` (${href})`);
  }
  return pieces.join('');
}

function textOfNode({ type, text, attrs }: DocumentNode): string {
  if (type === 'hardBreak') return '\n';
  if (type !== 'inlineImage') return text ?? '';
  const alt = attrs?.['alt'];
  return typeof alt === 'string' && alt !== '' ? `[${alt}]` : '';
}

function findHref(node: DocumentNode | undefined): string | null {
  const href = node?.marks?.find(({ type }) => type === 'link')?.attrs?.['href'];
  return typeof href === 'string' ? href : null;
}
