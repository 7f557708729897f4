import type { GraphContext } from './context.ts';

type Load = (id: string, context: GraphContext) => Promise<object | null>;

const kinds = new Map<string, Load>();

/** Says which type ids with a prefix (core/shared/identifiers.ts) are of: `load` answers its object, branded with its type, or null. */
export function addNodeKind(prefix: string, load: Load): void {
  kinds.set(prefix, load);
}

/** The prefixes that `node` answers to. */
export function nodePrefixes(): string[] {
  return [...kinds.keys()];
}

/** What the user has under that id; null when that is nothing, as of an id of another user’s or of none. */
export async function loadNode(id: string, context: GraphContext): Promise<object | null> {
  return (await kinds.get(id.split('_', 1)[0] ?? '')?.(id, context)) ?? null;
}
