import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readImportGraph } from './import-graph.ts';
import { repository } from './runner.ts';

/** Counts how many files the way of a message takes, words that misname what they stand for, and the lines of the dashboard: `node test/support/house-figures.ts`. */

/** Returns how many source files the steps of these sections of docs/architecture.md name, each counted once. */
export function countStepFiles(...headings: readonly string[]): number {
  const page = readFileSync(path.join(repository, 'docs/architecture.md'), 'utf8');
  const sections = headings.map((heading) => page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '');
  return new Set([...sections.join('\n').matchAll(/`([a-z-]+\/[^`\s]+\.(?:ts|sql))`/g)].map(([, file]) => file)).size;
}

/** The way of most mail, from SMTP to webhook; that of mail that is committed before it is parsed; and from a request to the MX. */
export const WAYS = {
  wayIn: ['The way in: SMTP to webhook'],
  bothWaysIn: ['The way in: SMTP to webhook', 'Mail that is only committed'],
  wayOut: ['The way out: POST to MX'],
};

const WORDS = {
  /** functions whose names end in `Of`, which say no verb */
  functionsInOf: /\b(?:function|const) [a-z]\w*Of\b(?= ?(?:[(<]|= (?:async )?(?:\(|\w+ =>)))/g,
  /** names with `answer`: it is a response or a reply */
  answers: /\b\w*[Aa]nswer\w*\b/g,
  /** limits that are not named `MAX_` */
  most: /\bMOST_\w+/g,
  /** cursors and offsets that are called places */
  places: /\b(?:\w+Place|placeOf\w*|Place)\b/g,
};

/** Files with lists of words that are searched for in mail, which are no names of ours. */
const WORD_LISTS =
  /lexicon|undelivered-clause|(?:automatic-wordings|reply-words|refusal-wordings|phrase-heads|unknown-addressee|prompt-phrases|machine-signals|pressure-signals|link-data|read-instructions|word-languages)\.ts$/;

/** Words of another century, in names and comments. An address of ipaddr.js has `octets`. */
const OLD_WORDS =
  /\b(?:(?<!\.)octets?(?!-)|anew|nobody|whoever|whomever|somebody|wish(?:es|ed)?|bears?|shall|by and by|whence|whereby|thereof|therein|hereby|in vain|sees? to|seen to|mend(?:s|ed|ing)?|former|lest|stands?|tells? of|those that|that which|of which all|of whom|(?:goes|go|went) (?:its|their) way|(?:is|are|was|were) to be \w+)\b|^\s*\/?\*\*? *Answers\b/i;

/** Returns how often each of them is in the sources, and how many lines have old words. */
export function countWords(): Record<keyof typeof WORDS | 'oldWordLines', number> {
  const graph = readImportGraph();
  const text = graph.files
    .filter((file) => !WORD_LISTS.test(file))
    .map((file) => graph.text(file))
    .join('\n');
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return {
    functionsInOf: count(WORDS.functionsInOf),
    answers: count(WORDS.answers),
    most: count(WORDS.most),
    places: count(WORDS.places),
    oldWordLines: text.split('\n').filter((line) => OLD_WORDS.test(line)).length,
  };
}

/** Returns how many functions of the tests are named `xOf`, and how many of their declarations call a response or a reply an answer. */
export function countTestNames(): { functionsInOf: number; answers: number } {
  const texts = globSync('test/**/*.ts', { cwd: repository }).map((file) =>
    readFileSync(path.join(repository, file), 'utf8'),
  );
  const count = (pattern: RegExp) => texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
  return {
    functionsInOf: count(WORDS.functionsInOf),
    answers: count(/^\s*(?:export )?(?:async )?(?:function|const|let|class|interface|type) \w*[Aa]nswer/gm),
  };
}

/** Returns the files of the dashboard and their lines, and those of its longest one. What `npm run contracts` writes is not counted. */
export function countDashboard(): { dashboardFiles: number; dashboardLines: number; longestDashboardFile: number } {
  const graph = readImportGraph();
  const lines = graph.files
    .filter((file) => file.startsWith('gateway/dashboard/') && !file.endsWith('/graphql-env.d.ts'))
    .map((file) => graph.text(file).split('\n').length - 1);
  return {
    dashboardFiles: lines.length,
    dashboardLines: lines.reduce((sum, count) => sum + count, 0),
    longestDashboardFile: Math.max(...lines),
  };
}

if (import.meta.main)
  process.stdout.write(
    `${JSON.stringify({ ...Object.fromEntries(Object.entries(WAYS).map(([way, headings]) => [way, countStepFiles(...headings)])), ...countWords(), ...countDashboard() }, null, 2)}\n`,
  );
