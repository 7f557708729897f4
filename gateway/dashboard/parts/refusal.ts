import type { DocumentInput } from 'urql';
import { graphql } from '../graphql.ts';

/** Why the service did not take what a form gave. */
export interface Refusal {
  message: string;
  /** error of each input field, by its name */
  fields: Record<string, string>;
}

/**
 * Returns what a form with `values` shows for a refusal: an error at each field that it has, and under `problem` the message of the whole
 * unless its fields say all of it.
 */
export function formErrors({ fields, message }: Refusal, values: object): Record<string, string> {
  const shown = Object.entries(fields).filter(([name]) => name in values);
  const isComplete = shown.length > 0 && shown.length === Object.keys(fields).length;
  return { ...Object.fromEntries(shown), ...(isComplete ? {} : { problem: message }) };
}

/** What every mutation is asked for in addition to its document. */
const REFUSAL = graphql(`
  fragment RefusalParts on Error { __typename message code ... on ValidationError { fields { path message } } }
`);

/** The documents with what is added to them. urql knows a request by its document. */
const asked = new WeakMap<object, object>();

/** Returns the mutation with the fields of an error in each of its root fields. */
export function askForRefusal<Document extends DocumentInput>(mutation: Document): Document {
  if (typeof mutation === 'string') return mutation;
  const known = asked.get(mutation);
  if (known !== undefined) return known as Document;
  const spread = { kind: 'FragmentSpread', name: { kind: 'Name', value: 'RefusalParts' } };
  const definitions = mutation.definitions.map((definition) => {
    if (definition.kind !== 'OperationDefinition') return definition;
    const selections = definition.selectionSet.selections.map((field) =>
      'selectionSet' in field && field.selectionSet !== undefined
        ? { ...field, selectionSet: { ...field.selectionSet, selections: [...field.selectionSet.selections, spread] } }
        : field,
    );
    return { ...definition, selectionSet: { ...definition.selectionSet, selections } };
  });
  const whole = { kind: 'Document', definitions: [...definitions, ...REFUSAL.definitions] };
  asked.set(mutation, whole);
  return whole as unknown as Document;
}
