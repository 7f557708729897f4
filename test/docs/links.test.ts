import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

const pages = ['README.md', 'CHANGELOG.md', 'core/STANDARDS.md'].concat(
  readdirSync(path.join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name)),
);

test.each(pages)('the links of %s lead to existing files and headings', (page) => {
  const text = readFileSync(path.join(repository, page), 'utf8');
  const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', heading] = target.split('#');
      const to = file === '' ? page : path.join(path.dirname(page), file);
      if (!existsSync(path.join(repository, to))) return true;
      return heading !== undefined && to.endsWith('.md') && !listHeadings(to).includes(heading);
    });
  expect(broken).toEqual([]);
});

/** The names by which the headings of a page are linked to, as GitHub makes them. */
function listHeadings(page: string): string[] {
  const text = readFileSync(path.join(repository, page), 'utf8').replaceAll(/```.*?```/gs, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}
