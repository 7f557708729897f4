/** What runs at once. */
export interface PlaceLimits {
  /** transactions */
  count: number;
  /** of their messages, in all; a single message may be larger */
  octets: number;
}

/**
 * Places for transactions that run at once. Nobody can take all of them: a user may have as many as are left free, so that one alone gets
 * half, two get a third each, and whoever has none finds one. The same holds for the octets of their messages.
 */
export interface Places {
  /** Whether that user may begin a message of that size now. */
  admits(userId: string, octets: number): boolean;
  enter(userId: string, octets: number): void;
  /** Ends what `enter` began with the same values. */
  leave(userId: string, octets: number): void;
  /** Whether nobody may begin anything. */
  isFull(): boolean;
}

export function createPlaces(limits: PlaceLimits): Places {
  const users = new Map<string, PlaceLimits>();
  const taken: PlaceLimits = { count: 0, octets: 0 };

  const change = (userId: string, count: number, octets: number) => {
    const own = users.get(userId) ?? { count: 0, octets: 0 };
    for (const held of [own, taken]) {
      held.count += count;
      held.octets += octets;
    }
    if (own.count === 0) users.delete(userId);
    else users.set(userId, own);
  };

  return {
    admits(userId, octets) {
      const freeCount = limits.count - taken.count;
      if (freeCount <= 0) return false;
      // However large it is, it has to pass at some time.
      if (taken.count === 0) return true;
      const freeOctets = limits.octets - taken.octets - octets;
      const own = users.get(userId);
      if (own === undefined) return freeOctets >= 0;
      return own.count < freeCount && own.octets + octets <= freeOctets;
    },
    enter: (userId, octets) => change(userId, 1, octets),
    leave: (userId, octets) => change(userId, -1, -octets),
    isFull: () => taken.count >= limits.count,
  };
}
