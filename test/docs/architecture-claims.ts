import { readFileSync } from 'node:fs';
import path from 'node:path';
import { repository } from '../support/runner.ts';

/** Functions of a file that a step of docs/architecture.md names: `name` in `file`. */
export interface Claim {
  step: string;
  names: string[];
  file: string;
}

export const architecturePage = readFileSync(path.join(repository, 'docs/architecture.md'), 'utf8');

/** Returns the text of a section of the page, by its heading. */
export function readSection(heading: string): string {
  const text = architecturePage.split(`## ${heading}\n`)[1]?.split('\n## ')[0];
  if (text === undefined) throw new Error(`docs/architecture.md has no section "${heading}"`);
  return text;
}

/** Returns the numbered steps of a text, and the lines that belong to one. */
export function findSteps(text: string): string[] {
  return [...text.matchAll(/^ *\d+\. .+$/gm)].map(([step]) => step);
}

/** Returns the functions that the steps of a text name, as `name` in `file`. */
export function readClaims(text: string): Claim[] {
  return findSteps(text).flatMap((step) =>
    [...step.matchAll(/((?:`\w+`(?:, | and )?)+) in `([^`\s]+\.tsx?)`/g)].map(([, names = '', file = '']) => ({
      step,
      names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
      file,
    })),
  );
}
