import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/*
 * Node's own --enable-source-maps keeps the maps of all loaded files: 40 MiB. A map is read here when an error is logged, and kept for as long
 * as errors follow one another.
 */

/** Errors often come in crowds. Milliseconds. */
const KEPT_MS = 10_000;
/** A file that `npm run build-server` made, as it stands in a stack trace, with line and column. */
const FRAME = /(file:\/\/\S+\/dist\/[0-9a-f]{12}\/\S+?\.js):(\d+):(\d+)/g;

const maps = new Map<string, SourceMap | null>();

/** Returns a stack trace with the files and lines of the sources, where it has those of built files. */
export function readSourceStack(stack: string): string {
  return stack.replaceAll(FRAME, (frame, url: string, line: string, column: string) => {
    const entry = openMap(url)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return frame;
    return `${new URL(entry.originalSource, url).href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

/** Names the sources in what Node prints when an error ends this process, too. */
export function traceSources(): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    if (error instanceof Error && error.stack !== undefined) error.stack = readSourceStack(error.stack);
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
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return null;
  }
}
