import { LRUCache } from 'lru-cache';

/** Limits of a SearchCache. */
export interface SearchCacheLimits {
  /** bytes of all accounts, about */
  perProcess: number;
  /** bytes of one account, about */
  perAccount: number;
  /** after this time an entry is read again, used or not; milliseconds */
  maxAgeMs: number;
}

/** Blocks of segments and texts of the newest mail that searches keep in memory. */
export const SEARCH_CACHE_LIMITS = { perProcess: 64_000_000, perAccount: 24_000_000, maxAgeMs: 60_000 };

/** Entries of one kind of a SearchCache. */
export interface CachedKind<Value> {
  get(workspaceId: string, key: string): Value | undefined;
  set(workspaceId: string, key: string, value: Value, bytes: number): void;
}

interface Entry {
  value: unknown;
  bytes: number;
}

/** Memory of an entry beside its value. Bytes, about. */
const ENTRY_BYTES = 200;

/**
 * What searches read and decode, of which each key always has the same value. Entries belong to an account and are never found by another.
 * When the process has too many bytes, the account that has the most loses what it used longest ago, so that one account cannot displace
 * the entries of others. Words of mail that was removed leave after twice `maxAgeMs` at most.
 */
export class SearchCache {
  readonly #limits: SearchCacheLimits;
  readonly #accounts = new Map<string, LRUCache<string, Entry>>();
  #bytes = 0;
  #isCleaning = false;

  constructor(limits: SearchCacheLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the bytes of an account. */
  bytesOfAccount(workspaceId: string): number {
    return this.#accounts.get(workspaceId)?.calculatedSize ?? 0;
  }

  /** Returns the entries of one kind; each name has one type of values. */
  kind<Value>(name: string): CachedKind<Value> {
    return {
      get: (workspaceId, key) => this.#accounts.get(workspaceId)?.get(`${name} ${key}`)?.value as Value | undefined,
      set: (workspaceId, key, value, bytes) =>
        this.#set(workspaceId, `${name} ${key}`, { value, bytes: Math.ceil(bytes) + ENTRY_BYTES }),
    };
  }

  #set(workspaceId: string, key: string, entry: Entry): void {
    if (entry.bytes > this.#limits.perAccount) return;
    let account = this.#accounts.get(workspaceId);
    if (account === undefined) this.#accounts.set(workspaceId, (account = this.#openAccount()));
    this.#bytes += entry.bytes;
    account.set(key, entry);
    while (this.#bytes > this.#limits.perProcess) this.#findLargest()?.pop();
    if (!this.#isCleaning) this.#cleanLater();
  }

  #openAccount(): LRUCache<string, Entry> {
    return new LRUCache({
      maxSize: this.#limits.perAccount,
      sizeCalculation: ({ bytes }) => bytes,
      ttl: this.#limits.maxAgeMs,
      dispose: ({ bytes }) => {
        this.#bytes -= bytes;
      },
    });
  }

  #findLargest(): LRUCache<string, Entry> | undefined {
    let largest: LRUCache<string, Entry> | undefined;
    for (const account of this.#accounts.values())
      if (largest === undefined || account.calculatedSize > largest.calculatedSize) largest = account;
    return largest;
  }

  #cleanLater(): void {
    this.#isCleaning = true;
    const clean = () => {
      for (const [workspaceId, account] of this.#accounts) {
        account.purgeStale();
        if (account.size === 0) this.#accounts.delete(workspaceId);
      }
      this.#isCleaning = false;
      if (this.#accounts.size > 0) this.#cleanLater();
    };
    setTimeout(clean, this.#limits.maxAgeMs).unref();
  }
}

/** What searches of this process keep. */
export const searchCache = new SearchCache(SEARCH_CACHE_LIMITS);
