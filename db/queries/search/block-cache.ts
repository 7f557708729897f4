/** Blocks of segments that were read lately: they never change. Limited in bytes, of all accounts and of each. */
export class BlockCache<Block> {
  readonly #maxBytes: number;
  readonly #maxBytesOfUser: number;
  readonly #maxAgeMs: number;
  /** the one that was used longest ago comes first */
  readonly #entries = new Map<string, Entry<Block>>();
  readonly #bytesOfUsers = new Map<string, number>();
  #bytes = 0;
  #isCleaning = false;

  constructor(limits: { maxBytes: number; maxBytesOfUser: number; maxAgeMs: number }) {
    this.#maxBytes = limits.maxBytes;
    this.#maxBytesOfUser = limits.maxBytesOfUser;
    this.#maxAgeMs = limits.maxAgeMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Block | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    // Words of mail that was removed must not stay here for long.
    if (this.#isOld(entry)) {
      this.#count(entry, -1);
      return undefined;
    }
    this.#entries.set(key, entry);
    return entry.block;
  }

  set(key: string, userId: string, block: Block, bytes: number): void {
    if (bytes > this.#maxBytesOfUser || this.#entries.has(key)) return;
    const entry = { userId, block, bytes, readTick: performance.now() };
    this.#entries.set(key, entry);
    this.#count(entry, 1);
    if (!this.#isCleaning) this.#cleanLater();
    for (const [oldKey, old] of this.#entries) {
      const isUserFull = (this.#bytesOfUsers.get(userId) ?? 0) > this.#maxBytesOfUser;
      if (!isUserFull && this.#bytes <= this.#maxBytes) return;
      if (isUserFull && old.userId !== userId) continue;
      this.#entries.delete(oldKey);
      this.#count(old, -1);
    }
  }

  #cleanLater(): void {
    this.#isCleaning = true;
    const clean = () => {
      for (const [key, entry] of this.#entries) {
        if (!this.#isOld(entry)) continue;
        this.#entries.delete(key);
        this.#count(entry, -1);
      }
      this.#isCleaning = false;
      if (this.#entries.size > 0) this.#cleanLater();
    };
    setTimeout(clean, this.#maxAgeMs).unref();
  }

  #isOld({ readTick }: Entry<Block>): boolean {
    return performance.now() - readTick > this.#maxAgeMs;
  }

  #count({ userId, bytes }: Entry<Block>, sign: 1 | -1): void {
    this.#bytes += sign * bytes;
    const ofUser = (this.#bytesOfUsers.get(userId) ?? 0) + sign * bytes;
    if (ofUser > 0) this.#bytesOfUsers.set(userId, ofUser);
    else this.#bytesOfUsers.delete(userId);
  }
}

interface Entry<Block> {
  userId: string;
  block: Block;
  bytes: number;
  readTick: number;
}
