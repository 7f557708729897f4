import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Block, type Inline, parseGuide, plainText } from '../../gateway/dashboard/guides/parse-guide.ts';
import { findGuidePath, places } from '../../gateway/dashboard/shell/places.ts';

const DOCS = path.resolve(import.meta.dirname, '../../docs');
const names = readdirSync(DOCS).flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -3)] : []));
const served = new Set(names);
/** Of files that are not there, which the test of documents would miss. */
const ENDING = '.md';

test('a guide has headings, paragraphs, lists, tables, code and quotes', () => {
  const markdown = `# Title with \`code\`

First line
second line with **bold**, *soft* and [a link](rest.md#send).

- one
- two
  with more

  \`\`\`sh
  echo 1
  \`\`\`
1. first

| a | b |
|---|---|
| \`x\\|y\` | [c](https://example.com/) |

> said

\`\`\`json
{"a": 1}
\`\`\`

    indented
`;
  const { title, blocks } = parseGuide(markdown, 'here', served);
  expect(title).toBe('Title with code');
  expect(blocks.map(({ kind }) => kind)).toEqual([
    'heading',
    'paragraph',
    'list',
    'list',
    'table',
    'quote',
    'code',
    'code',
  ]);
  expect(blocks[1]).toEqual({
    kind: 'paragraph',
    children: [
      'First line second line with ',
      { kind: 'strong', children: ['bold'] },
      ', ',
      { kind: 'emphasis', children: ['soft'] },
      ' and ',
      { kind: 'link', href: '/docs/rest#send', children: ['a link'] },
      '.',
    ],
  });
  expect(blocks[2]).toMatchObject({ items: [[{ kind: 'paragraph' }], [{ kind: 'paragraph' }, { text: 'echo 1' }]] });
  expect(blocks[4]).toMatchObject({
    rows: [[[{ kind: 'code', text: 'x|y' }], [{ kind: 'link', href: 'https://example.com/' }]]],
  });
});

test.each([
  '[x](javascript:alert(1))',
  '[x](JAVASCRIPT:alert(1))',
  '[x](data:text/html,hi)',
  '[x](vbscript:x)',
  `[x](//evil.test/rest${ENDING})`,
  '[x](file:///etc/passwd)',
  `[x](../secrets${ENDING})`,
])('the link of %s is text', (markdown) => {
  expect(linksIn(parseGuide(markdown, 'here', served).blocks)).toEqual([]);
});

test('HTML in a guide is text', () => {
  const { blocks } = parseGuide('<script>alert(1)</script> <img src=x onerror=alert(1)>', 'here', served);
  expect(blocks).toEqual([{ kind: 'paragraph', children: ['<script>alert(1)</script> <img src=x onerror=alert(1)>'] }]);
});

test('Markdown of thousands of open marks is parsed', () => {
  for (const piece of ['[', '*a', '`', '|', '![', '- ', '> ', '[a](', '_a_'])
    expect(parseGuide(piece.repeat(3_000), 'here', served).title).toBe('here');
});

test.each(names)('the guide %s has a title, and its links lead to headings that exist', (name) => {
  const { title, blocks } = parseGuide(readFileSync(path.join(DOCS, `${name}.md`), 'utf8'), name, served);
  expect(title).not.toBe('');
  for (const href of linksIn(blocks)) {
    const [, guide, id] = /^\/docs\/([^#]+)#(.+)$/.exec(href) ?? [];
    if (guide === undefined || id === undefined) continue;
    const target = parseGuide(readFileSync(path.join(DOCS, `${guide}.md`), 'utf8'), guide, served);
    expect(listHeadingIds(target.blocks), href).toContain(id);
  }
});

test('every page of the navigation has a guide that exists', () => {
  for (const { path: page } of places.flatMap((group) => group.places)) {
    const guide = findGuidePath(page.split('?')[0] ?? '').slice('/docs/'.length);
    if (page !== '/docs') expect([page, served.has(guide)]).toEqual([page, true]);
  }
});

function listHeadingIds(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => (block.kind === 'heading' ? [block.id] : []));
}

function linksIn(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'code') return [];
    if (block.kind === 'list') return block.items.flatMap(linksIn);
    if (block.kind === 'table') return [block.head, ...block.rows].flat().flatMap(linksInLine);
    return linksInLine(block.children);
  });
}

function linksInLine(children: readonly Inline[]): string[] {
  return children.flatMap((child) => {
    if (typeof child === 'string' || child.kind === 'code') return [];
    return [...(child.kind === 'link' ? [child.href] : []), ...linksInLine(child.children)];
  });
}

test('the text of a marked line is whole', () => {
  const [block] = parseGuide('# A `b` **c *d*** e', 'here', served).blocks;
  expect(block?.kind === 'heading' && plainText(block.children)).toContain('A b');
});
