/** Which threads the user split (docs/decisions/0030): from each thread id to the threads it stays apart from, in both directions. */
export type ThreadsApart = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the relation for pairs of thread ids, in any order. */
export function threadsApart(pairs: Iterable<readonly [string, string]>): ThreadsApart {
  const apart = new Map<string, Set<string>>();
  const add = (one: string, other: string) => {
    const others = apart.get(one) ?? new Set();
    apart.set(one, others.add(other));
  };
  for (const [one, other] of pairs) {
    add(one, other);
    add(other, one);
  }
  return apart;
}

/** Disjoint sets of nodes, some of which represent threads. No set ever contains two threads that must stay apart. */
export class ThreadSets {
  readonly #sets = new DisjointSets();
  readonly #apart: ThreadsApart;
  /** by representative node: those threads of its set that must stay apart from another */
  readonly #threads = new Map<string, Set<string>>();

  constructor(apart: ThreadsApart) {
    this.#apart = apart;
  }

  add(node: string): void {
    this.#sets.add(node);
  }

  /** Makes a node represent a thread. */
  addThread(node: string, threadId: string): void {
    this.#sets.add(node);
    if (this.#apart.has(threadId)) this.#threads.set(this.#sets.find(node), this.#threadsOf(node).add(threadId));
  }

  find(node: string): string {
    return this.#sets.find(node);
  }

  /** Joins the sets of two nodes unless they contain threads that must stay apart. */
  join(one: string, other: string): void {
    const [threads, others] = [this.#threadsOf(one), this.#threadsOf(other)];
    if (this.#sets.find(one) === this.#sets.find(other) || this.#areApart(threads, others)) return;
    this.#sets.join(one, other);
    if (threads.size + others.size > 0) this.#threads.set(this.#sets.find(one), new Set([...threads, ...others]));
  }

  nodes(): Iterable<string> {
    return this.#sets.nodes();
  }

  #threadsOf(node: string): Set<string> {
    return this.#threads.get(this.#sets.find(node)) ?? new Set();
  }

  #areApart(threads: Set<string>, others: Set<string>): boolean {
    return [...threads].some((thread) => [...others].some((other) => this.#apart.get(thread)?.has(other)));
  }
}

/** Disjoint sets of nodes, each with a representative node (union-find with path halving). */
class DisjointSets {
  readonly #parents = new Map<string, string>();

  add(node: string): void {
    if (!this.#parents.has(node)) this.#parents.set(node, node);
  }

  /** Returns the representative of a node's set, valid until the next join; an unknown node represents itself. */
  find(node: string): string {
    let at = node;
    for (;;) {
      const parent = this.#parents.get(at) ?? at;
      if (parent === at) return at;
      const grandparent = this.#parents.get(parent) ?? parent;
      this.#parents.set(at, grandparent);
      at = grandparent;
    }
  }

  join(one: string, other: string): void {
    this.add(one);
    this.add(other);
    this.#parents.set(this.find(one), this.find(other));
  }

  nodes(): Iterable<string> {
    return this.#parents.keys();
  }
}
