import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import type { GraphContext } from './context.ts';

/**
 * What hangs on many objects of one answer, as the deliveries of endpoints: what is asked for with the same arguments comes from the
 * database together. The arguments are told apart by their JSON.
 */
export function loadByOwner<Args, Answer>(
  load: (context: GraphContext, ownerIds: readonly string[], args: Args) => Promise<Answer[]>,
): (context: GraphContext, ownerId: string, args: Args) => Promise<Answer> {
  const loadersOf = createContextCache((_context: GraphContext) => new Map<string, DataLoader<string, Answer>>());
  return (context, ownerId, args) => {
    const loaders = loadersOf(context);
    const key = JSON.stringify(args);
    const loader = loaders.get(key) ?? new DataLoader<string, Answer>((ownerIds) => load(context, ownerIds, args));
    loaders.set(key, loader);
    return loader.load(ownerId);
  };
}
