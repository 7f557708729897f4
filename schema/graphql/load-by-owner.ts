import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import type { GraphContext } from './context.ts';

/**
 * Creates a loader for rows that belong to other objects, such as the deliveries of endpoints: `load` gets all owners that one response
 * requests with the same arguments, compared as JSON. An error that it returns for an owner is that of the field.
 */
export function loadByOwner<Args, Value>(
  load: (context: GraphContext, ownerIds: readonly string[], args: Args) => Promise<(Value | Error)[]>,
): (context: GraphContext, ownerId: string, args: Args) => Promise<Value> {
  const loadersOf = createContextCache((_context: GraphContext) => new Map<string, DataLoader<string, Value>>());
  return (context, ownerId, args) => {
    const loaders = loadersOf(context);
    const key = JSON.stringify(args);
    const loader = loaders.get(key) ?? new DataLoader<string, Value>((ownerIds) => load(context, ownerIds, args));
    loaders.set(key, loader);
    return loader.load(ownerId);
  };
}
