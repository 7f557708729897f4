import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';
import { parseGuide, plainText } from './parse-guide.ts';

const DOCS = path.resolve(import.meta.dirname, '../../../docs');
/** Pages for those who work on Postroom itself, which are large and change with each measurement. */
const LEFT_OUT = new Set(['architecture', 'benchmarks', 'chaos', 'cluster-faults', 'testing']);
const PREFIX = '\0guide:';

/** Serves the Markdown of docs/ as `virtual:guides`: the index at once, and each guide, parsed, as a chunk of its own. */
export function guides(): Plugin {
  const names = globSync(['*.md', 'deploy/*.md'], { cwd: DOCS })
    .map((file) => file.replaceAll('\\', '/').replace(/\.md$/, ''))
    .filter((name) => !LEFT_OUT.has(name));
  // A build from a copy without docs/ would have a dashboard without guides.
  if (names.length === 0) throw new Error(`${DOCS} has no pages`);
  const served = new Set(names);
  const read = (name: string) => parseGuide(readFileSync(path.join(DOCS, `${name}.md`), 'utf8'), name, served);
  return {
    name: 'postroom-guides',
    resolveId: (id) => (id === 'virtual:guides' || id.startsWith('guide:') ? `\0${id}` : null),
    load(id) {
      if (id.startsWith(PREFIX)) return `export default ${JSON.stringify(read(id.slice(PREFIX.length)))}`;
      if (id !== '\0virtual:guides') return null;
      const index = names.map((name) => {
        const { title, blocks } = read(name);
        const headings = blocks.flatMap((block) =>
          block.kind === 'heading' && block.level > 1 ? [{ id: block.id, text: plainText(block.children) }] : [],
        );
        return { name, title, headings };
      });
      const loaders = names.map((name) => `${JSON.stringify(name)}: () => import(${JSON.stringify(`guide:${name}`)})`);
      return `export const guides = ${JSON.stringify(index.toSorted((a, b) => a.title.localeCompare(b.title)))};
export const loaders = {${loaders.join(',\n')}};`;
    },
  };
}
