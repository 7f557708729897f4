/** A limit on works at once per key; those that come when all slots are taken wait in line. */
export interface Slots {
  /** Runs the work when a slot of the key is free; settles as it does. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Lets all that wait in line go at once, over the limit: for works that have nothing left to do. */
  clear(): void;
}

export function createSlots(slotsPerKey: number): Slots {
  const taken = new Map<string, { count: number; line: (() => void)[] }>();
  return {
    clear() {
      for (const slot of taken.values())
        for (const next of slot.line.splice(0)) {
          slot.count++;
          next();
        }
    },
    async run(key, work) {
      const slot = taken.get(key) ?? { count: 0, line: [] };
      taken.set(key, slot);
      if (slot.count >= slotsPerKey) await new Promise<void>((resolve) => void slot.line.push(resolve));
      else slot.count++;
      try {
        return await work();
      } finally {
        // The slot is handed to the next in line as it is.
        const next = slot.line.shift();
        if (next !== undefined) next();
        else if (--slot.count === 0) taken.delete(key);
      }
    },
  };
}
