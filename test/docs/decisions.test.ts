import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';
import { hasVerb } from '../support/title-words.ts';

/** A page of docs/decisions, and the decisions that its line of status names. */
interface Decision {
  file: string;
  number: number;
  title: string;
  supersedes: Succession[];
  supersededBy: Succession[];
}

/** Another decision that the line of status links to, and how much of the older one is meant. */
interface Succession {
  number: number;
  file: string;
  isPart: boolean;
}

const folder = path.join(repository, 'docs/decisions');
const index = readFileSync(path.join(folder, 'README.md'), 'utf8');
const pages = readdirSync(folder).filter((name) => name !== 'README.md');
const decisions = pages.map(readDecision);

test('every decision has a number, a file name and a heading of one form', () => {
  expect(decisions.length).toBeGreaterThan(90);
  expect(pages.filter((name) => !/^\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.test(name))).toEqual([]);
  expect(decisions.filter(({ file, number }) => number !== Number.parseInt(file, 10))).toEqual([]);
  expect(new Set(decisions.map(({ number }) => number)).size).toBe(decisions.length);
});

test('every title is a sentence that says the decision', () => {
  expect(decisions.filter(({ title }) => !hasVerb(title)).map(({ title }) => title)).toEqual([]);
});

test('the index names every decision once, under a topic, with its title and whether it is superseded', () => {
  const topics = index.split(/^## /m).slice(1);
  const lines = topics.flatMap((topic) => [...topic.matchAll(/^- .*$/gm)].map(([line]) => line));
  const expected = decisions.map(({ file, number, title, supersededBy }) => {
    const successor = supersededBy.find(({ isPart }) => !isPart);
    return `- [${number}. ${title}](${file})${successor === undefined ? '' : ` (superseded by ${successor.number})`}`;
  });
  expect([...lines].sort()).toEqual(expected.sort());
});

test('a decision that is superseded and its successor link to each other', () => {
  const forward = decisions.flatMap(({ number, supersedes }) =>
    supersedes.map((older) => `${number} supersedes ${older.isPart ? 'part of ' : ''}${older.number}`),
  );
  const back = decisions.flatMap(({ number, supersededBy }) =>
    supersededBy.map((newer) => `${newer.number} supersedes ${newer.isPart ? 'part of ' : ''}${number}`),
  );
  expect(forward.length).toBeGreaterThan(15);
  expect(forward.sort()).toEqual(back.sort());
  const links = decisions.flatMap(({ supersedes, supersededBy }) => [...supersedes, ...supersededBy]);
  expect(links.filter(({ number, file }) => number !== Number.parseInt(file, 10) || !pages.includes(file))).toEqual([]);
});

test('a decision says what it supersedes in its line of status only', () => {
  const elsewhere = decisions.filter(({ file }) =>
    /^(?:Supersede[sd]|Replaces)\b/m.test(readFileSync(path.join(folder, file), 'utf8')),
  );
  expect(elsewhere.map(({ file }) => file)).toEqual([]);
});

function readDecision(file: string): Decision {
  const text = readFileSync(path.join(folder, file), 'utf8');
  const [, number, title = ''] = /^# (\d+)\. ([A-Z].*[^.\n])\n\n/.exec(text) ?? [];
  const status = /^# .*\n\n\*\*Status\.\*\* (.*)$/m.exec(text)?.[1] ?? '';
  return {
    file,
    number: Number(number),
    title,
    supersedes: readSuccessions(status, /Supersedes (part of )?\[(\d+)\]\(([^)]+)\)/g),
    supersededBy: readSuccessions(status, /Superseded (in part )?by \[(\d+)\]\(([^)]+)\)/g),
  };
}

function readSuccessions(status: string, pattern: RegExp): Succession[] {
  return [...status.matchAll(pattern)].map(([, part, number, file = '']) => ({
    number: Number(number),
    file,
    isPart: part !== undefined,
  }));
}
