interface Placed {
  id: string;
  priority: number;
}

/** A rule at either end stands so far from its neighbour, which leaves room for others. */
const ROOM = 10;

/**
 * The changes of priorities, higher is asked earlier, that bring rules into this order, of which the one at `moved` has been moved: that rule
 * alone where there is room between its neighbours, else each that is not below the one before it. Priorities lie within -most and most.
 */
export function prioritiesOf(order: readonly Placed[], moved: number, most: number): Placed[] {
  const rule = order[moved];
  if (rule === undefined) return [];
  const before = order[moved - 1]?.priority ?? null;
  const after = order[moved + 1]?.priority ?? null;
  const alone =
    before !== null && after !== null
      ? Math.floor((before + after) / 2)
      : before !== null
        ? Math.max(-most, before - ROOM)
        : Math.min(most, (after ?? 0) + ROOM);
  if ((before === null || alone < before) && (after === null || alone > after))
    return [{ id: rule.id, priority: alone }];
  const changes: Placed[] = [];
  let bound = most + 1;
  for (const [at, { id, priority }] of order.entries()) {
    const rest = order.length - at - 1;
    // Below the one before, and with room above the lowest for those that follow.
    const wanted = Math.max(rest - most, Math.min(priority, bound - 1));
    if (wanted !== priority) changes.push({ id, priority: wanted });
    bound = wanted;
  }
  return changes;
}
