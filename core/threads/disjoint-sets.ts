/** Nodes that are joined into disjoint sets; each set goes by one of its nodes (union-find with path halving). */
export class DisjointSets {
  readonly #parents = new Map<string, string>();

  add(node: string): void {
    if (!this.#parents.has(node)) this.#parents.set(node, node);
  }

  /** The node that its set goes by, until it is joined to another; the node itself when it is unknown. */
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
