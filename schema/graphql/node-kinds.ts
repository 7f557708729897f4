import type { GraphContext } from './context.ts';

type Load = (id: string, context: GraphContext) => Promise<object | null>;

const kinds = new Map<string, Load>();

/** Registers the loader for IDs with a prefix (core/shared/identifiers.ts). It returns the object, branded with its type, or null. */
export function addNodeKind(prefix: string, load: Load): void {
  kinds.set(prefix, load);
}

/** Returns the ID prefixes that `node` supports. */
export function nodePrefixes(): string[] {
  return [...kinds.keys()];
}

/** Loads an object by its ID. Returns null if the user has no such object. */
export async function loadNode(id: string, context: GraphContext): Promise<object | null> {
  return (await kinds.get(id.split('_', 1)[0] ?? '')?.(id, context)) ?? null;
}
