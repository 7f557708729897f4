import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { machineText } from './machine.ts';
import { type Part, parts } from './parts.ts';
import type { PartResult } from './results.ts';
import { type Extent, measuredRows, type PartOutcome } from './rows.ts';
import { median } from './statistics.ts';

/** After SIGTERM, a part has this long to end what it started. Milliseconds. */
const END_LIMIT_MS = 120_000;

/** The parts with these names. Throws for an unknown one. */
export function namedParts(names: readonly string[]): Part[] {
  return names.map((name) => {
    const part = parts.find((each) => each.name === name);
    if (part === undefined)
      throw new UsageError(`unknown part ${name}: use ${parts.map((each) => each.name).join(', ')}`);
    return part;
  });
}

/** The options or names of a command are wrong. */
export class UsageError extends Error {}

/** Measures a part in a process of its own, so that no failure of one reaches the next. Never throws: what failed is in `problems`. */
export async function runPart(part: Part, extent: Extent, commit: string): Promise<PartResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-part-'));
  const file = path.join(folder, 'outcome.json');
  const startedTick = performance.now();
  const ending = await runProcess(part, ['part', part.name, extent, file]);
  const outcome = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as PartOutcome,
    (): PartOutcome => ({ rows: [], foreignPercents: [], problems: [] }),
  );
  await rm(folder, { recursive: true, force: true });
  const rows = measuredRows(outcome.rows);
  const problems = [...outcome.problems, ...(ending === null ? [] : [ending])];
  if (problems.length === 0 && rows.length === 0) problems.push('nothing was measured');
  return {
    part: part.name,
    commit,
    machine: machineText(),
    at: new Date().toISOString(),
    seconds: Math.round((performance.now() - startedTick) / 1_000),
    foreignPercent: outcome.foreignPercents.length === 0 ? null : Number(median(outcome.foreignPercents).toFixed(1)),
    isSmall: extent === 'small',
    problems,
    rows: rows.map((row) => ({
      ...row,
      ours: row.ours.map(rounded),
      peer: row.peer === null ? null : { ...row.peer, values: row.peer.values.map(rounded) },
    })),
  };
}

/** Four digits are more than a measurement has. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** Measures a part in this process and writes the outcome to the file. */
export async function measureInProcess([name = '', extent = '', file = '']: string[]): Promise<void> {
  const [part] = namedParts([name]);
  if (part === undefined) return;
  const outcome = await (await part.load()).measurePart(extent as Extent);
  await writeFile(file, JSON.stringify(outcome));
}

/** Returns how it failed; null when it did not. */
async function runProcess({ limitMs }: Part, args: string[]): Promise<string | null> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'run.ts'), ...args], { stdio: 'inherit' });
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      child.kill('SIGTERM');
    }, limitMs),
    setTimeout(() => child.kill('SIGKILL'), limitMs + END_LIMIT_MS),
  ];
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGTERM', forward);
  // Ctrl-C reaches the child as well.
  const onInterrupt = () => undefined;
  process.on('SIGINT', onInterrupt);
  const ended = await new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : `ended with ${code ?? signal}`));
  });
  for (const timer of timers) clearTimeout(timer);
  process.off('SIGTERM', forward);
  process.off('SIGINT', onInterrupt);
  if (isLate) return `not done within ${limitMs / 1_000} s`;
  // The part was told to end, and so is this process.
  if (ended !== null && /130|143|SIGINT|SIGTERM/.test(ended)) process.exit(/130|SIGINT/.test(ended) ? 130 : 143);
  return ended;
}
