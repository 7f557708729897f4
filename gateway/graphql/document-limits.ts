import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  type ParseOptions,
  parse,
  type SelectionSetNode,
  type Source,
  specifiedRules,
  type ValidationOptions,
  type ValidationRule,
  validate,
} from 'graphql';
import { type Plugin } from 'graphql-yoga';
import { MAX_PICTURE_BYTES } from '../../core/accounts/picture.ts';
import { measureOperation } from './operation-cost.ts';
import { findOperation, type RequestedOperation, refuseOperations } from './requested-operation.ts';

const MAX_ALIASES = 30;
export const MAX_TOKENS = 2_000;
/** Brackets within each other: parsing and reading values take a part of the stack for each. */
const MAX_DEPTH = 100;
const MAX_ERRORS = 20;
/** Only variables can be large, because they carry the mail to send. Characters. */
const MAX_QUERY_LENGTH = 100_000;
/** Maximum fields of a document including its fragments, and pairs of fields that validation compares; a pair takes about 15 µs. */
const MAX_COMPARED = { fields: 10_000, pairs: 5_000 };
const TOO_MANY_PAIRS = 'The query selects the same fields too often. Select each field once.';
/** Maximum introspection fields of one operation; introspecting the whole schema takes tens of milliseconds. */
const MAX_INTROSPECTIONS = 2;
/** Number of introspection results in the cache. */
const MAX_KEPT_INTROSPECTIONS = 16;

/**
 * Limits the work of one request: its tokens during parsing, its aliases and introspection fields during validation. A request that exceeds a limit gets 400.
 */
export function boundedOperations(): Plugin {
  const introspections = new Map<string, Record<string, unknown>>();
  return {
    onParse({ params, setParseFn }) {
      if (typeof params.source === 'string' && params.source.length > MAX_QUERY_LENGTH)
        throw refusal(`The query is longer than ${MAX_QUERY_LENGTH} characters. Send long values as variables.`);
      setParseFn((source: string | Source, options?: ParseOptions) => parseDocument(source, options));
    },
    onValidate({ params, setResult, addValidationRule, setValidationFn }) {
      if (hasTooManyPairs(params.documentAST as DocumentNode, MAX_COMPARED))
        return setResult([refusal(TOO_MANY_PAIRS)]);
      addValidationRule(limitAliases);
      addValidationRule(limitIntrospections);
      // Admission has refused anonymous callers, so that suggestions reach only those who may read the schema.
      setValidationFn(
        (of: GraphQLSchema, document: DocumentNode, rules?: ValidationRule[], options?: ValidationOptions) =>
          validate(of, document, rules, { ...options, hideSuggestions: false, maxErrors: MAX_ERRORS }),
      );
      return undefined;
    },
    onExecute({ args, setResultAndStopExecution }) {
      const text = introspectionText(args);
      if (text === null || Object.keys((args.variableValues ?? {}) as object).length > 0) return undefined;
      const kept = introspections.get(text);
      if (kept !== undefined) return setResultAndStopExecution({ data: kept });
      return {
        onExecuteDone({ result }) {
          if (!('data' in result) || result.data == null || result.errors !== undefined) return;
          if (introspections.size < MAX_KEPT_INTROSPECTIONS) introspections.set(text, result.data);
        },
      };
    },
  };
}

/**
 * Parses and validates a stored document against the given schema, by the limits of a request. Returns the document, or the errors with their
 * locations. Its cost is that of its only operation, without variables.
 */
export function checkStoredDocument(of: GraphQLSchema, text: string): DocumentNode | readonly GraphQLError[] {
  let document: DocumentNode;
  try {
    document = parseDocument(text);
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
  if (hasTooManyPairs(document, MAX_COMPARED)) return [refusal(TOO_MANY_PAIRS)];
  const errors = validate(of, document, [...specifiedRules, limitAliases], { maxErrors: MAX_ERRORS });
  if (errors.length > 0) return errors;
  const { refused } = measureOperation({ document }, of);
  return refused === null ? document : [refused];
}

/** Parses a document within the limits of a request. Throws GraphQLError. */
function parseDocument(source: string | Source, options?: ParseOptions): DocumentNode {
  if (nestsTooDeep(typeof source === 'string' ? source : source.body))
    throw refusal(`A query nests at most ${MAX_DEPTH} brackets.`);
  return parse(source, { ...options, maxLexicalTokens: MAX_TOKENS });
}

/** Block strings, strings, comments, and brackets (GraphQL September 2025 §2.1). What is not closed goes on to its end, so that it takes linear time. */
const NESTING = /"""(?:\\"""|[^])*?(?:"""|$)|"(?:[^"\\\n\r]|\\.)*"?|#[^\n\r]*|[([{]|[)\]}]/g;

function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (const [token = ''] of text.matchAll(NESTING)) {
    if (/^[([{]/.test(token)) depth++;
    else if (/^[)\]}]/.test(token)) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Returns the operation name and the text of a document that only introspects the schema; null for all other documents. */
function introspectionText(requested: Pick<RequestedOperation, 'document' | 'operationName'>): string | null {
  const { document } = requested;
  const isPure = document.definitions.every(
    (definition) =>
      definition.kind !== Kind.OPERATION_DEFINITION ||
      (definition.operation === OperationTypeNode.QUERY &&
        definition.selectionSet.selections.every(
          (selection) => selection.kind === Kind.FIELD && selection.name.value.startsWith('__'),
        )),
  );
  const text = document.loc?.source.body;
  return isPure && text !== undefined ? `${findOperation(requested)?.name?.value ?? ''} ${text}` : null;
}

const limitAliases: ValidationRule = (context) => {
  let aliases = 0;
  return {
    [Kind.FIELD]: (node) => {
      if (node.alias !== undefined && ++aliases === MAX_ALIASES + 1)
        context.reportError(refusal(`The query has more than ${MAX_ALIASES} aliases.`));
    },
  };
};

const limitIntrospections: ValidationRule = (context) => {
  let looks = 0;
  return {
    [Kind.FIELD]: ({ name }) => {
      if (/^__(schema|type)$/.test(name.value) && ++looks === MAX_INTROSPECTIONS + 1)
        context.reportError(refusal(`The query has more than ${MAX_INTROSPECTIONS} introspection fields.`));
    },
  };
};

/**
 * Returns whether a document has more fields or more pairs of fields than may be compared. Validation compares all fields with the same
 * response name in the same selection with each other, including everything below them, which takes quadratic time.
 */
function hasTooManyPairs(document: DocumentNode, most: { pairs: number; fields: number }): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  let { pairs, fields } = most;
  const places: SelectionSetNode[][] = [];
  for (const definition of document.definitions)
    if ('selectionSet' in definition) places.push([definition.selectionSet]);
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

/** Groups the fields of merged selections by response name. Visits each fragment once. */
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

/** Maximum length of variables for operations without files; characters. */
const MAX_USUAL_LENGTH = 262_144;
/** Maximum number of values in variables, including those in lists and objects. A batch of 100 full emails has about 20,000. */
const MAX_VALUES = 40_000;
/** Mutations whose variables contain files, with the length that these may have. What sends mail is bounded by the body of the request. */
const FILE_FIELDS: ReadonlyMap<string, number> = new Map([
  ['sendEmail', Number.POSITIVE_INFINITY],
  ['sendEmails', Number.POSITIVE_INFINITY],
  ['replyToEmail', Number.POSITIVE_INFINITY],
  ['simulateInbound', Number.POSITIVE_INFINITY],
  // In base64, and what is somewhat too large, so that the response can say the limit.
  ['setPicture', 2 * MAX_PICTURE_BYTES],
]);

/** Limits the variables of a request before they are validated one by one: only those with files can be large. */
export const boundedVariables = refuseOperations(findRefusal);

function findRefusal(requested: RequestedOperation): GraphQLError | null {
  const { length, count } = measure(requested.variableValues);
  if (count > MAX_VALUES) return refusal(`The variables contain more than ${MAX_VALUES} values.`, 400);
  if (length <= MAX_USUAL_LENGTH) return null;
  const bounds = (findOperation(requested)?.selectionSet.selections ?? []).map((selection) =>
    selection.kind === Kind.FIELD ? (FILE_FIELDS.get(selection.name.value) ?? MAX_USUAL_LENGTH) : MAX_USUAL_LENGTH,
  );
  const most = bounds.length === 0 ? MAX_USUAL_LENGTH : Math.min(...bounds);
  if (length <= most) return null;
  const fields = [...FILE_FIELDS.keys()].join(', ');
  const why = most === MAX_USUAL_LENGTH ? `Only ${fields} can have` : 'A picture cannot have';
  return refusal(`${why} variables of more than ${most} characters.`, 413);
}

/** Counts the values, and the characters of names and texts. Stops soon after a limit is exceeded. */
function measure(variables: unknown): { length: number; count: number } {
  const open: unknown[] = [variables];
  let length = 0;
  let count = 0;
  while (open.length > 0 && count <= MAX_VALUES) {
    const value = open.pop();
    count++;
    if (typeof value === 'string') length += value.length;
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      if (value.length > MAX_VALUES) return { length, count: value.length };
      for (const each of value) open.push(each);
      continue;
    }
    for (const [name, each] of Object.entries(value)) {
      length += name.length;
      open.push(each);
    }
  }
  return { length, count };
}

function refusal(message: string, status = 400): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'validation_error', http: { status } } });
}
