import { styleText } from 'node:util';
import { areas, type Finding } from './finding.ts';

/** The mark in front of each finding. */
const MARKS: Record<Finding['state'], { mark: string; style: Parameters<typeof styleText>[0] }> = {
  ok: { mark: '✓', style: 'green' },
  skip: { mark: '·', style: 'gray' },
  warn: { mark: '!', style: 'yellow' },
  fail: { mark: '✗', style: 'red' },
};

/** Maximum line width in columns; longer lines wrap. */
const WIDTH = 110;

/** Prints the findings by area, aligned, with the fix below each, and a summary line. */
export function printFindings(findings: readonly Finding[], hasColors: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    hasColors ? styleText(style, text, { validateStream: false }) : text;
  const column = Math.max(...findings.map(({ name }) => name.length)) + 2;
  const indent = ' '.repeat(4 + column);
  const lines: string[] = [];
  for (const area of areas) {
    const there = findings.filter((finding) => finding.area === area);
    if (there.length === 0) continue;
    lines.push('', paint('bold', area));
    for (const { name, state, detail, fix } of there) {
      const { mark, style } = MARKS[state];
      const [first = '', ...rest] = wrap(detail, WIDTH - indent.length);
      const painted = state === 'skip' ? paint('gray', first) : first;
      lines.push(`  ${paint(style, mark)} ${name.padEnd(column)}${painted}`, ...rest.map((line) => `${indent}${line}`));
      if (fix !== null)
        for (const [at, line] of wrap(fix, WIDTH - indent.length - 2).entries())
          lines.push(`${indent}${paint(style, at === 0 ? '→' : ' ')} ${line}`);
    }
  }
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const [failed, warned] = [count('fail'), count('warn')];
  const verdict =
    failed > 0
      ? paint('red', `${plural(failed, 'problem')}, ${plural(warned, 'warning')}.`)
      : warned > 0
        ? paint('yellow', `No problems, ${plural(warned, 'warning')}.`)
        : paint('green', 'All is well.');
  return [...lines.slice(1), '', verdict, ''].join('\n');
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
