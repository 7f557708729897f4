import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/**
 * Validation compares fields that stand in one place under one name each with each other, and all that is below them, which takes as long as
 * the square of their number. Whether a document has more of such pairs, or more fields with what its fragments bring, than may be compared.
 */
export function hasTooManyPairs(document: DocumentNode, most: { pairs: number; fields: number }): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  let { pairs, fields } = most;
  const places: SelectionSetNode[][] = [];
  for (const definition of document.definitions)
    if ('selectionSet' in definition && definition.selectionSet !== undefined) places.push([definition.selectionSet]);
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    for (const nodes of fieldsIn(place, fragments).values()) {
      fields -= nodes.length;
      pairs -= (nodes.length * (nodes.length - 1)) / 2;
      if (fields < 0 || pairs < 0) return true;
      const below = nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]));
      if (below.length > 0) places.push(below);
    }
  }
  return false;
}

/** The fields of selections that stand in one place, by the names under which they are answered; those of a fragment once. */
function fieldsIn(
  place: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Map<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const open = [...place];
  for (let set = open.pop(); set !== undefined; set = open.pop())
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const nodes = found.get(name);
        if (nodes === undefined) found.set(name, [selection]);
        else nodes.push(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment !== undefined) open.push(fragment.selectionSet);
      }
    }
  return found;
}
