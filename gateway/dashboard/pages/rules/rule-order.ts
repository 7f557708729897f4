interface Placed {
  id: string;
  priority: number;
}

/** Distance of the first and last rule from their neighbor, which leaves room for others. */
const ROOM = 10;

/**
 * Returns the changes of priorities (higher is evaluated first) that produce this order, in which the rule at `moved` was moved. Changes
 * only that rule if there is room between its neighbors, otherwise each rule that is not below its predecessor. Priorities are between
 * -most and most.
 */
export function setPriorities(order: readonly Placed[], moved: number, most: number): Placed[] {
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
    // Below the previous one, with room above the minimum for those that follow.
    const wanted = Math.max(rest - most, Math.min(priority, bound - 1));
    if (wanted !== priority) changes.push({ id, priority: wanted });
    bound = wanted;
  }
  return changes;
}
