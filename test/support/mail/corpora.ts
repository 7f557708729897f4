import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Where the corpora lie: CORPORA_DIR, or beside the project. */
export const corporaDirectory =
  process.env['CORPORA_DIR'] ?? path.resolve(import.meta.dirname, '../../../../shared/corpora');

/** Whether the corpora are there; their tests are reported skipped where they are not. */
export const hasCorpora = existsSync(path.join(corporaDirectory, 'facts.jsonl'));

/** One real message: its file below the corpora, and its bytes as in the source (LF line ends). */
export interface CorpusMessage {
  file: string;
  bytes: Buffer;
}

/** Truth of a thread set: partitions of message ids, and the file of each id. */
export interface ThreadTruth {
  threads_refs: string[][];
  threads_references: string[][];
  threads_components: string[][];
  files: Record<string, string>;
}

export const threadSets = ['notmuch-list', 'patchwork-series-a', 'sa-easy-ham-2', 'twisted-2008-03-04'] as const;

/** The 520 messages of eml/, in the order of their names. */
export function readEmlMessages(): Promise<CorpusMessage[]> {
  return readFolder('eml');
}

/** The messages of a thread set in the order in which they were received, and its truth. */
export async function readThreadSet(name: string): Promise<{ messages: CorpusMessage[]; truth: ThreadTruth }> {
  const truth = JSON.parse(
    await readFile(path.join(corporaDirectory, 'threads', `${name}.truth.json`), 'utf8'),
  ) as ThreadTruth;
  return { messages: await readFolder(path.join('threads', name)), truth };
}

/** The same messages in an order decided by the seed (Fisher-Yates over a small linear generator). */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const order = [...items];
  let state = seed * 2_654_435_761 + 1;
  for (let last = order.length - 1; last > 0; last--) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const pick = Math.floor((state / 2_147_483_648) * (last + 1));
    [order[last], order[pick]] = [order[pick] as T, order[last] as T];
  }
  return order;
}

/** Recall against the `refs` truth, and the share of joined pairs that some truth joins too (tools/score_threads.py, same rule). */
export function scoreThreads(
  truth: ThreadTruth,
  got: ReadonlyMap<string, string>,
): { recall: number; justified: number; pairs: number } {
  const label = (threads: string[][]) =>
    new Map(threads.flatMap((thread, at) => thread.map((id) => [id, at] as const)));
  const [refs, references, components] = [
    label(truth.threads_refs),
    label(truth.threads_references),
    label(truth.threads_components),
  ];
  let linked = 0;
  let recalled = 0;
  for (const thread of truth.threads_refs) {
    const ids = thread.filter((id) => got.has(id));
    linked += (ids.length * (ids.length - 1)) / 2;
    recalled += joinedPairs(ids, got);
  }
  let pairs = 0;
  let justified = 0;
  const byThread = Map.groupBy(
    [...got.keys()].filter((id) => refs.has(id)),
    (id) => got.get(id),
  );
  for (const ids of byThread.values()) {
    for (const [at, one] of ids.entries()) {
      for (const other of ids.slice(0, at)) {
        pairs++;
        if ([refs, references, components].some((labels) => labels.get(one) === labels.get(other))) justified++;
      }
    }
  }
  return { recall: linked === 0 ? 1 : recalled / linked, justified: pairs === 0 ? 1 : justified / pairs, pairs };
}

function joinedPairs(ids: string[], got: ReadonlyMap<string, string>): number {
  const sizes = Map.groupBy(ids, (id) => got.get(id));
  return [...sizes.values()].reduce((sum, group) => sum + (group.length * (group.length - 1)) / 2, 0);
}

async function readFolder(folder: string): Promise<CorpusMessage[]> {
  const names = (await readdir(path.join(corporaDirectory, folder))).filter((name) => name.endsWith('.eml')).toSorted();
  return Promise.all(
    names.map(async (name) => ({
      file: path.join(folder, name),
      bytes: await readFile(path.join(corporaDirectory, folder, name)),
    })),
  );
}
