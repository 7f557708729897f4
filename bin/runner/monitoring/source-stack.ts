import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/*
 * Node's own --enable-source-maps keeps the maps of all loaded files: 40 MiB. A map is read here when an error is logged, and kept for as long
 * as errors follow one another.
 */

/** Errors often come in crowds. Milliseconds. */
const KEPT_MS = 10_000;
const BUILDS = new URL('../../../dist/', import.meta.url).href;
/**
 * A file that `npm run build-server` made, as a stack trace names it, with line and column. Messages of errors may have text of users:
 * it is read once from left to right, and leads to no other file.
 */
const FRAME = new RegExp(
  `(${BUILDS.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}[0-9a-f]{12}(?:/[\\w@-][\\w@.-]{0,100}){1,9}\\.js):(\\d{1,9}):(\\d{1,9})`,
  'g',
);

/** Node's limit of a stack is 10 frames; an error has one for each cause. */
const MAX_FRAMES = 50;

const maps = new Map<string, SourceMap | null>();

/** Returns a stack trace with the files and lines of the sources, where it has those of built files. */
export function readSourceStack(stack: string): string {
  let count = 0;
  return stack.replaceAll(FRAME, (frame, url: string, line: string, column: string) => {
    if (++count > MAX_FRAMES) return frame;
    const entry = openMap(url)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return frame;
    return `${new URL(entry.originalSource, url).href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

/** Names the sources in what Node prints when an error ends this process, too. */
export function traceSources(): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    if (error instanceof Error && error.stack !== undefined) Reflect.set(error, 'stack', readSourceStack(error.stack));
  });
}

function openMap(url: string): SourceMap | null {
  const known = maps.get(url);
  if (known !== undefined) return known;
  if (maps.size === 0) setTimeout(() => maps.clear(), KEPT_MS).unref();
  const map = readMap(url);
  maps.set(url, map);
  return map;
}

/** Returns null if the map is gone: two builds later, for example. */
function readMap(url: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')) as SourceMapPayload);
  } catch {
    return null;
  }
}
