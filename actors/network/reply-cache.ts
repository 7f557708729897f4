import { createSizedCache } from '../../core/shared/sized-cache.ts';

/** Keeps the replies of DNS, and lookups in progress, so that the same one is not made twice at the same time. */
export interface ReplyCache<Reply> {
  /** Returns the reply that is kept, or makes the lookup. */
  get(name: string, type: string, lookUp: () => Promise<Reply>): Promise<Reply>;
  /** Returns the reply that is kept; undefined without one. */
  find(name: string, type: string): Promise<Reply> | undefined;
}

export interface ReplyCacheOptions<Reply> {
  /** of all replies: others decide how large theirs are; bytes, about */
  maxSize: number;
  /** returns how long a reply is kept; milliseconds */
  keepMs: (reply: Reply) => number;
  /** returns how long a failure is kept; milliseconds */
  keepErrorMs?: (error: unknown) => number;
}

/** Size of a lookup in progress. */
const USUAL_REPLY = 500;

interface Kept<Reply> {
  reply: Promise<Reply>;
  /** on the clock of performance.now(); infinite while the lookup is in progress */
  until: number;
  size: number;
}

/** Creates a cache of DNS replies by name, whose letters may be of either case, and type. */
export function createReplyCache<Reply>(options: ReplyCacheOptions<Reply>): ReplyCache<Reply> {
  const { maxSize, keepMs, keepErrorMs = () => 0 } = options;
  const kept = createSizedCache<Kept<Reply>>({ maxSize, size: ({ size }, key) => size + key.length });

  function find(name: string, type: string): Promise<Reply> | undefined {
    const known = kept.get(makeKey(name, type));
    return known !== undefined && known.until > performance.now() ? known.reply : undefined;
  }

  return {
    find,
    get(name, type, lookUp) {
      const known = find(name, type);
      if (known !== undefined) return known;
      const key = makeKey(name, type);
      const entry: Kept<Reply> = { reply: lookUp(), until: Number.POSITIVE_INFINITY, size: USUAL_REPLY };
      kept.set(key, entry);
      const keep = (milliseconds: number, size: number) => {
        entry.until = performance.now() + milliseconds;
        // The cache reads the size of an entry when it is added, and ignores one that is there already.
        if (kept.get(key) === entry) kept.set(key, { ...entry, size });
      };
      entry.reply.then(
        (reply) => keep(keepMs(reply), JSON.stringify(reply).length),
        (error: unknown) => keep(keepErrorMs(error), USUAL_REPLY),
      );
      return entry.reply;
    },
  };
}

function makeKey(name: string, type: string): string {
  return `${type} ${name.toLowerCase()}`;
}
