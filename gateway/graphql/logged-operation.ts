import {
  type ArgumentNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type ObjectFieldNode,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { REDACTED } from '../../core/accounts/logged-request.ts';
import { type Redactions, redactByName, type SecretKind } from '../../core/accounts/redaction.ts';
import type { Right } from '../../core/accounts/rights.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import { capabilities } from '../../operations/capability/capabilities.ts';
import { readingRight } from '../../operations/capability/reading-right.ts';
import { readAccess } from '../../schema/graphql/access.ts';
import { schema } from '../../schema/graphql/schema.ts';
import { secretKind } from '../../schema/graphql/secret.ts';
import { MAX_TOKENS } from './document-limits.ts';
import { readSampleOperations } from './sample-operations.ts';

/** A request of GraphQL as the log has it. Null: the log has no such body. */
interface LoggedOperation {
  /** name of the operation, or its first field */
  name: string | null;
  request: Record<string, unknown>;
  /** the rights that its root fields need */
  rights: readonly Right[];
  /** returns the response without secrets */
  redactResponse: (response: unknown) => unknown;
}

/** What a document says about its secrets. */
interface Reading {
  document: DocumentNode;
  operations: readonly OperationDefinitionNode[];
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** names of variables that are given where a secret, or nothing that the schema knows, is expected */
  secretVariables: ReadonlySet<string>;
}

/** The end of a text that was cut. */
const CUT = /… \[[\d,]+ characters\]$/;
const INTROSPECTION = '[introspection]';

/**
 * Returns the operation of a request, without secrets: values of marked arguments, input fields and fields of the response, whatever their
 * aliases, fragments and variables are, and all values that the schema does not know. Null when the document cannot be parsed, or is cut, so
 * that it is unknown what its response holds.
 */
export function readLoggedOperation(
  given: Readonly<Record<string, unknown>>,
  redactions: Redactions,
): LoggedOperation | null {
  const { query, variables, operationName, extensions, ...others } = given;
  const text = typeof query === 'string' && query !== '' ? query : persistedDocument(extensions);
  const reading = text === null || CUT.test(text) ? null : readDocument(text);
  if (text === null || reading === null) return null;
  const request: Record<string, unknown> = {};
  if (typeof query === 'string') request['query'] = printDocument(reading, text, redactions);
  if (variables !== undefined) request['variables'] = redactVariables(reading, variables, redactions);
  const named = reading.operations.find(({ name }) => name !== undefined && name.value === operationName);
  if (operationName !== undefined)
    request['operationName'] =
      named === undefined && operationName !== null ? redactions.replace(operationName, 'value') : operationName;
  if (extensions !== undefined) request['extensions'] = redactByName(extensions, redactions);
  for (const [name, value] of Object.entries(others)) request[name] = redactions.replace(value, 'value');
  return {
    name: operationTitle(named ?? reading.operations[0] ?? null),
    request,
    rights: readRights(reading),
    redactResponse: (response) => redactResponse(reading, response, redactions),
  };
}

/** The right that reading a type of nodes needs, by its name. */
const rightsOfTypes = new Map(
  capabilities.flatMap(({ resource, operations }) =>
    resource === undefined ? [] : [[resource.name, readingRight(operations)] as const],
  ),
);

/** Returns the rights of all root fields and nodes of a document, whichever of its operations was executed. */
function readRights({ document }: Reading): readonly Right[] {
  const known = rightsOfDocuments.get(document);
  if (known !== undefined) return known;
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  const rights = new Set<Right>();
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field() {
        const [parent, field] = [types.getParentType(), types.getFieldDef()];
        if (field == null || !isObjectType(parent)) return;
        const right = roots.has(parent) ? readAccess(field)?.right : rightsOfTypes.get(parent.name);
        if (right !== undefined) rights.add(right);
      },
    }),
  );
  const found = [...rights];
  rightsOfDocuments.set(document, found);
  return found;
}

/** Parsed documents are kept, see MAX_PLAIN_DOCUMENTS. */
const rightsOfDocuments = new WeakMap<DocumentNode, readonly Right[]>();

const samples = new Map<string, string>();

function persistedDocument(extensions: unknown): string | null {
  const sha256 = (extensions as { persistedQuery?: { sha256Hash?: unknown } } | null)?.persistedQuery?.sha256Hash;
  if (samples.size === 0) for (const sample of readSampleOperations()) samples.set(sample.sha256, sample.text);
  return typeof sha256 === 'string' ? (samples.get(sha256) ?? null) : null;
}

function operationTitle(operation: OperationDefinitionNode | null): string | null {
  if (operation === null) return null;
  if (operation.name !== undefined) return operation.name.value;
  // Without a name, the first field says most.
  const field = operation.selectionSet.selections.find((selection) => selection.kind === Kind.FIELD)?.name.value;
  if (field === undefined) return null;
  return operation.operation === 'query' ? field : `${operation.operation} ${field}`;
}

/** Documents without secrets, which clients repeat: parsing and printing one takes most of a millisecond. */
/** Characters of all documents, and of one; a parsed document takes about 40 times the memory of its text. @limit */
export const MAX_PLAIN_DOCUMENTS = 200_000;
const MAX_PLAIN_LENGTH = 4_096;
const plainDocuments = createSizedCache<{ reading: Reading; printed: string }>({
  maxSize: MAX_PLAIN_DOCUMENTS,
  size: (_document, text) => text.length,
});

function printDocument(reading: Reading, text: string, redactions: Redactions): string {
  const known = plainDocuments.get(text);
  if (known !== undefined) return known.printed;
  const { replaced } = redactions;
  const printed = print(redactDocument(reading, redactions));
  if (redactions.replaced > replaced || text.length > MAX_PLAIN_LENGTH) return printed;
  plainDocuments.set(text, { reading, printed });
  return printed;
}

function readDocument(text: string): Reading | null {
  const known = plainDocuments.get(text);
  if (known !== undefined) return known.reading;
  let document: DocumentNode;
  try {
    document = parse(text, { maxLexicalTokens: MAX_TOKENS });
  } catch {
    return null;
  }
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    else if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    else return null;
  }
  return { document, operations, fragments, secretVariables: findSecretVariables(document) };
}

function findSecretVariables(document: DocumentNode): Set<string> {
  const names = new Set<string>();
  const info = new TypeInfo(schema);
  const look = (node: ArgumentNode | ObjectFieldNode) => {
    if (positionKind(info, node) !== null) visit(node.value, { Variable: ({ name }) => void names.add(name.value) });
  };
  visit(document, visitWithTypeInfo(info, { Argument: look, ObjectField: look }));
  return names;
}

/** Returns whether the value of an argument or input field is a secret; also when the schema does not know it. */
function positionKind(info: TypeInfo, node: ArgumentNode | ObjectFieldNode): SecretKind | null {
  if (node.kind === Kind.ARGUMENT) {
    const argument = info.getArgument();
    return argument == null ? 'value' : secretKind(argument);
  }
  const parent = info.getParentInputType();
  const type = parent == null ? null : getNamedType(parent);
  const field = isInputObjectType(type) ? type.getFields()[node.name.value] : undefined;
  return field === undefined ? 'value' : secretKind(field);
}

/** Returns the document with its secrets replaced. Printing it removes comments. */
function redactDocument({ document, secretVariables }: Reading, redactions: Redactions): DocumentNode {
  const info = new TypeInfo(schema);
  const redact = (node: ArgumentNode | ObjectFieldNode) => {
    const kind = positionKind(info, node);
    return kind === null ? undefined : { ...node, value: redactLiteral(node.value, kind, redactions) };
  };
  return visit(
    document,
    visitWithTypeInfo(info, {
      Argument: redact,
      ObjectField: redact,
      VariableDefinition: (node) =>
        node.defaultValue === undefined || !secretVariables.has(node.variable.name.value)
          ? undefined
          : { ...node, defaultValue: redactLiteral(node.defaultValue, 'value', redactions) as never },
      StringValue: (node) =>
        isExpected(info, node) ? { ...node, block: false } : redactLiteral(node, 'value', redactions),
      EnumValue: (node) => (isExpected(info, node) ? undefined : redactLiteral(node, 'value', redactions)),
      IntValue: (node) => (isExpected(info, node) ? undefined : redactLiteral(node, 'value', redactions)),
      FloatValue: (node) => (isExpected(info, node) ? undefined : redactLiteral(node, 'value', redactions)),
    }),
  );
}

/** Returns whether the schema expects a value of this kind here. */
function isExpected(info: TypeInfo, { kind }: ValueNode): boolean {
  const given = info.getInputType();
  const type = given == null ? null : getNamedType(given);
  if (!isLeafType(type)) return false;
  if (isEnumType(type)) return kind === Kind.ENUM;
  if (kind === Kind.ENUM || type.name === 'Boolean') return false;
  return kind !== Kind.STRING || !NUMBERS.includes(type.name);
}

const NUMBERS = ['Int', 'Float'];

function redactLiteral(value: ValueNode, kind: SecretKind, redactions: Redactions): ValueNode {
  if (value.kind === Kind.VARIABLE || value.kind === Kind.NULL) return value;
  const collect = (node: { value: string }) => void redactions.replace(node.value, 'value');
  if (value.kind !== Kind.STRING)
    visit(value, { StringValue: collect, EnumValue: collect, IntValue: collect, FloatValue: collect });
  const shown = value.kind === Kind.STRING ? redactions.replace(value.value, kind) : REDACTED;
  return { kind: Kind.STRING, value: String(shown), block: false };
}

function redactVariables({ operations, secretVariables }: Reading, variables: unknown, redactions: Redactions) {
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables))
    return redactions.replace(variables, 'value');
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const types = operations.flatMap(({ variableDefinitions = [] }) =>
        variableDefinitions
          .filter(({ variable }) => variable.name.value === name)
          .map(({ type }) => typeFromAST(schema, type as never) as GraphQLInputType | undefined),
      );
      const [type] = types;
      const isClear = types.length > 0 && types.every((each) => each !== undefined && String(each) === String(type));
      if (secretVariables.has(name) || !isClear || type === undefined)
        return [name, redactions.replace(value, 'value')];
      return [name, redactInput(value, type, redactions)];
    }),
  );
}

function redactInput(value: unknown, type: GraphQLInputType, redactions: Redactions): unknown {
  const inner = getNullableType(type);
  if (value === null) return value;
  if (isListType(inner))
    return Array.isArray(value)
      ? value.map((each) => redactInput(each, inner.ofType, redactions))
      : redactInput(value, inner.ofType, redactions);
  if (isInputObjectType(inner)) {
    if (typeof value !== 'object' || Array.isArray(value)) return redactions.replace(value, 'value');
    const fields = inner.getFields();
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        const kind = field === undefined ? 'value' : secretKind(field);
        return [
          name,
          field === undefined || kind !== null
            ? redactions.replace(each, kind ?? 'value')
            : redactInput(each, field.type, redactions),
        ];
      }),
    );
  }
  if (typeof value === 'string' && [...NUMBERS, 'Boolean'].includes(inner.name))
    return redactions.replace(value, 'value');
  if (typeof value !== 'object') return value;
  return inner.name === 'JSON' ? redactByName(value, redactions) : redactions.replace(value, 'value');
}

/** A selection of the fields of one object. */
interface Selected {
  set: SelectionSetNode;
  parent: GraphQLNamedType;
}

function redactResponse(reading: Reading, response: unknown, redactions: Redactions): unknown {
  if (typeof response !== 'object' || response === null || Array.isArray(response))
    return redactions.replace(response, 'value');
  const { data, errors, extensions, ...others } = response as Record<string, unknown>;
  const roots = reading.operations.flatMap(({ selectionSet, operation }) => {
    const parent = schema.getRootType(operation);
    return parent == null ? [] : [{ set: selectionSet, parent }];
  });
  return {
    ...(errors === undefined ? {} : { errors: redactByName(errors, redactions) }),
    ...(data === undefined ? {} : { data: redactData(reading, data, roots, redactions) }),
    ...(extensions === undefined ? {} : { extensions: redactByName(extensions, redactions) }),
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, redactions.replace(value, 'value')])),
  };
}

function redactData(reading: Reading, data: unknown, selected: readonly Selected[], redactions: Redactions): unknown {
  if (Array.isArray(data)) return data.map((each) => redactData(reading, each, selected, redactions));
  if (typeof data !== 'object' || data === null) return data;
  const chosen = collectFields(reading, selected);
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      redactField(reading, value, chosen.get(name) ?? [], redactions),
    ]),
  );
}

/** A field that a response can have under one name. */
interface Chosen {
  name: string;
  parent: GraphQLNamedType;
  set: SelectionSetNode | undefined;
}

function redactField(reading: Reading, value: unknown, chosen: readonly Chosen[], redactions: Redactions): unknown {
  if (chosen.length > 0 && chosen.every(({ name }) => name === '__typename')) return value;
  if (chosen.some(({ name }) => name.startsWith('__'))) return INTROSPECTION;
  const below: Selected[] = [];
  for (const { name, parent, set } of chosen) {
    const fields = findFields(parent, name);
    const kind = fields.length === 0 ? 'value' : fields.map(secretKind).find((each) => each !== null);
    if (kind != null) return redactions.replace(value, kind);
    if (set !== undefined) for (const field of fields) below.push({ set, parent: getNamedType(field.type) });
  }
  if (chosen.length === 0) return redactions.replace(value, 'value');
  if (below.length > 0) return redactData(reading, value, below, redactions);
  return typeof value === 'object' ? redactByName(value, redactions) : value;
}

/** Returns the definitions of a field: of an interface, also those of its objects. */
function findFields(parent: GraphQLNamedType, name: string): GraphQLField<unknown, unknown>[] {
  const types = [parent, ...(isAbstractType(parent) ? schema.getPossibleTypes(parent) : [])];
  return types.flatMap((type) => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    return field === undefined ? [] : [field];
  });
}

/** Groups the fields of selections by their names in the response, whatever their conditions are. Visits each fragment once. */
function collectFields({ fragments }: Reading, selected: readonly Selected[]): Map<string, Chosen[]> {
  const found = new Map<string, Chosen[]>();
  const spread = new Set<string>();
  const open = [...selected];
  for (let place = open.pop(); place !== undefined; place = open.pop())
    for (const selection of place.set.selections) {
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const chosen = { name: selection.name.value, parent: place.parent, set: selection.selectionSet };
        const others = found.get(key);
        if (others === undefined) found.set(key, [chosen]);
        else others.push(chosen);
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const fragment = isSpread ? fragments.get(selection.name.value) : selection;
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      const parent = condition === undefined ? place.parent : (schema.getType(condition) ?? place.parent);
      // A fragment may be used at different types.
      const once = isSpread ? `${selection.name.value} ${parent.name}` : null;
      if (once !== null && spread.has(once)) continue;
      if (once !== null) spread.add(once);
      open.push({ set: fragment.selectionSet, parent });
    }
  return found;
}
