import type { z } from 'zod';
import type { AccessName } from '../../core/accounts/rights.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { KeysetCursor, KeysetPage, Page } from '../../core/shared/page.ts';
import type { OperationContext } from '../context.ts';
import type { Idempotency } from '../sending/idempotency.ts';

/**
 * What a user can do with one kind of object, declared once: shape, descriptions, rights and functions. From a capability are made
 *
 * - REST routes and their part of openapi.json (gateway/rest/capability-routes.ts),
 * - GraphQL types and fields (schema/graphql/capability-types.ts),
 * - MCP tools (gateway/mcp/capability-tools.ts),
 * - commands of the CLI (bin/cli/resources.ts), by way of bin/cli/capability-commands.json,
 * - rows of docs/parity.md.
 *
 * Names are in camelCase here. How the interfaces name a field of their own is said beside the field (field-notes.ts). What REST responds for
 * other clients is in gateway/rest/{feature}; types of GraphQL that have more than the shape are in schema/graphql/{feature}.
 */
export interface Capability {
  /** heading in docs/parity.md, and the row there */
  feature: string;
  what: string;
  /** operations that are written by hand, by interface, for docs/parity.md */
  byHand?: { rest?: readonly string[]; graphql?: readonly string[]; mcp?: readonly string[] };
  /** why an interface lacks an operation, for docs/parity.md */
  difference?: string;
  /** tag of the operations in openapi.json */
  tag: string;
  /** path of the list in REST */
  path: string;
  /** case of names in REST: objects of the first clients are in camelCase and have no field `object` */
  restCase: 'snake' | 'camel';
  /** absent for operations without an object of their own */
  resource?: Resource;
  operations: readonly Operation[];
  /** command of the CLI */
  command?: Command;
}

/** Named fields. */
export type Fields = z.ZodObject<Record<string, z.ZodType>>;

/** What every resource has. */
export interface ResourceRow {
  id: string;
}

/** A kind of object. Values of fields are `unknown` here: `defineResource` has checked them. */
export interface Resource<Row extends ResourceRow = ResourceRow> {
  /** in GraphQL and openapi.json, such as `ReplyAddress` */
  name: string;
  /** in sentences; made from the name if absent */
  noun?: string;
  /** the value of `object` in REST; made from the name if absent */
  objectName?: string;
  identifier: IdentifierKind;
  description: string;
  /** whether keys of one domain may read it */
  isOfDomain: boolean;
  /** the fields after the ID, in the order of openapi.json */
  shape: Fields;
  /** returns a field of a row */
  readField: (row: Row, field: string, context: OperationContext) => unknown;
  /** fields of the shape that cost a read, by name */
  loaded?: Readonly<Record<string, LoadedField<Row>>>;
  /** returns one row per ID, null where the user has none */
  load: (context: OperationContext, ids: readonly string[]) => Promise<readonly (Row | null)[]>;
}

interface LoadedField<Row extends ResourceRow> {
  /** whether lists of REST have it, too */
  isInLists: boolean;
  /** the field of what is loaded; fields with the same function are read together */
  of?: string;
  /** returns one value per row; null or undefined for none. Rows that have the field already are not read again. */
  load: (context: OperationContext, rows: readonly Row[]) => Promise<readonly unknown[]>;
}

interface OperationNames {
  /** its row in docs/parity.md, if it is not that of the capability */
  what?: string;
  /** who may use it */
  access: AccessName;
  /** `operationId` in openapi.json; absent: not in REST */
  operationId?: string;
  /** field of Query or Mutation; absent: not in GraphQL */
  field?: string;
  /** tag in openapi.json, if it is not that of the capability */
  tag?: string;
  /** title in openapi.json and of the tool */
  summary: string;
  description: string;
  /** the description in GraphQL, if it differs */
  graphqlDescription?: string;
  /** absent: not in MCP */
  tool?: Tool;
  /** time limit, if it differs from that of other requests; milliseconds */
  respondWithinMs?: number;
  /** whether REST counts the response against the limit of downloads */
  isDownload?: boolean;
}

/** A tool of MCP. Its arguments are the target and the input, in snake_case. */
interface Tool {
  name: string;
  /** in few words, because models read it with every conversation */
  description: string;
  /** fewer words than those of the input, by argument; empty: its name says it */
  words?: Readonly<Record<string, string>>;
}

export type Operation<Row extends ResourceRow = ResourceRow> =
  | List<Row>
  | OwnedList<Row>
  | Read<Row>
  | Change<Row>
  | Delete<Row>
  | Action;

/** Lists what matches a filter, newest first unless it has an order of its own. */
export interface List<Row extends ResourceRow = ResourceRow> extends OperationNames {
  kind: 'list';
  /** all fields are optional; omitted ones match all */
  filter: Fields;
  /** whether REST pages by `after` and `before`, too, as the `resend` client does */
  isPagedByItem: boolean;
  order?: Order<Row>;
  /** the field of the filter that orders the list; cursors in GraphQL are valid in one order only */
  orderField?: string;
  page: (context: OperationContext, filter: unknown, page: KeysetPage<never>) => Promise<Row[]>;
  count: (context: OperationContext, filter: unknown) => Promise<number>;
  list: (context: OperationContext, filter: unknown, page: Page) => Promise<{ rows: Row[]; total: number }>;
}

/** Lists the objects that belong to an object of another kind, such as the deliveries of an email, newest first unless it has an order. */
export interface OwnedList<Row extends ResourceRow = ResourceRow> extends OperationNames {
  kind: 'ownedList';
  /** the type and the field of GraphQL */
  of: { type: string; field: string };
  /** in REST, with `:id` for the owner */
  path?: string;
  filter: Fields;
  order?: Order<Row>;
  /** returns a page for each owner */
  page: (
    context: OperationContext,
    ownerIds: readonly string[],
    filter: unknown,
    page: KeysetPage<never>,
  ) => Promise<Row[][]>;
  count: (context: OperationContext, ownerIds: readonly string[], filter: unknown) => Promise<number[]>;
  /** absent: not in REST */
  list?: (
    context: OperationContext,
    ownerId: string,
    filter: unknown,
    page: Page,
  ) => Promise<{ rows: Row[]; total: number }>;
}

/** The order of a list: the cursor of a row. Cursors that are not of time and ID have a text of their own. */
export interface Order<Row extends ResourceRow, Cursor = KeysetCursor> {
  cursorOf: (row: Row) => Cursor;
  text?: { encode: (cursor: Cursor) => string; decode: (text: string) => Cursor | null };
}

/** Names the object of an operation. */
export interface Target {
  /** the argument in GraphQL, such as `id`; of type ID if its name says so */
  argument: string;
  argumentDescription: string;
  /** the variable in the path of REST; `id` if absent */
  parameter?: string;
  /** the variable of another object before it in the path of an action, whose input has its value under this name */
  owner?: string;
}

/** Reads one. */
export interface Read<Row extends ResourceRow = ResourceRow> extends OperationNames {
  kind: 'read';
  /** after the path of the capability; `/:id` if absent */
  path?: string;
  target: Target;
  /** whether GraphQL reads each by itself, because `read` does more than load the row */
  isReadAlone?: boolean;
  /** throws not_found; absent for what only GraphQL reads, by its ID */
  read?: (context: OperationContext, id: string) => Promise<Row>;
}

interface ChangeNames extends OperationNames {
  input: Fields;
  /** an example of the input, for openapi.json; several: one per use */
  example?: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];
  /** the input's name in openapi.json, if it has one */
  inputName?: string;
  /** HTTP statuses of its errors, beside the statuses that each operation can have */
  errors: readonly number[];
  /** whether the body can be omitted */
  isInputOptional?: boolean;
  /** whether the input can be as large as an email with its attachments */
  isMail?: boolean;
  /** type of what GraphQL returns, if it is one of several types of the resource */
  returns?: string;
  /** types of its errors in GraphQL, beside the types that each mutation can have */
  graphqlErrors?: readonly 'SuppressedRecipient'[];
  /** what GraphQL shows of the object to keys without the scope `read`: `Type.field` */
  shows?: readonly string[];
}

/** Creates one, or changes it. */
export interface Change<Row extends ResourceRow = ResourceRow> extends ChangeNames {
  kind: 'create' | 'update';
  /** absent for what creates it */
  target?: Target;
  /** `operationId` of PUT, which clients of other services send */
  putOperationId?: string;
  /** what is returned once, beside the object, such as its secret; with a name in openapi.json */
  shownOnce?: Fields;
  /** throws what operations throw; `id` is the target's, empty without one. The row has the fields of `shownOnce`, too. */
  run: (context: OperationContext, input: unknown, id: string) => Promise<Row>;
}

/** Deletes one, or ends it. */
export interface Delete<Row extends ResourceRow = ResourceRow> extends ChangeNames {
  kind: 'delete';
  target: Target;
  /** The fields of a deleted object that GraphQL returns beside its ID. Absent: the object is returned in its current state. */
  deleted?: { description: string; idDescription?: string; fields: readonly string[] };
  run: (context: OperationContext, input: unknown, id: string) => Promise<Row>;
}

/** Does something else, and returns an object of its own. */
export interface Action extends ChangeNames {
  kind: 'action';
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** after the path of the capability, such as `/:id/check` */
  path: string;
  target?: Target;
  /** what it returns; of a list, REST returns it as `data`, in an object with the name of the list */
  output: Fields | z.ZodArray<Fields> | 'resource';
  /** The field of the payload in GraphQL that has the output. Absent: the output is the payload, or what a query returns. */
  payloadField?: string;
  /** whether keys of one domain may read the output, if the capability has no resource that says so */
  isOfDomain?: boolean;
  /** whether GraphQL has it as a query, although the method is not GET */
  isQuery?: boolean;
  /** whether the query of GraphQL returns null where REST responds with 404 */
  isNullable?: boolean;
  /** cost in GraphQL, if it is not that of a field */
  cost?: Cost;
  /** the field of another type of GraphQL that has the output, too, or instead of a query */
  of?: OwnedField;
  /** The operation of its idempotency keys, such as `simulate`. Absent: it takes none. */
  idempotencyOperation?: string;
  /** absent for what is only a field of another type */
  run?: (context: OperationContext, input: unknown, id: string, idempotency: Idempotency | null) => Promise<unknown>;
}

/** Cost in GraphQL: as many fields, or that of the fields of the output times a number. */
export type Cost = number | ((input: never) => { field: number; multiplier: number });

/** A field of an object that others have, such as the timeline of an email. */
export interface OwnedField {
  /** in GraphQL, such as `Email` */
  type: string;
  field: string;
  /** that of the action if absent */
  description?: string;
  isNullable?: boolean;
  /** returns whether an owner has no value, for which nothing is loaded */
  isAbsent?: (owner: never) => boolean;
  cost?: Cost;
  /** returns one value per ID of an owner, with the same input */
  load: (context: OperationContext, ids: readonly string[], input: never) => Promise<readonly unknown[]>;
}

/** A command of the CLI that lists the objects, and creates or deletes one by the operations of REST. */
interface Command {
  name: string;
  description: string;
  /** columns of the list: their titles by the name of the field in REST */
  columns: Readonly<Record<string, string>>;
  empty: string;
  /** fields of the body in REST by option; the value of `--create` is one of them */
  create?: Readonly<Record<string, { field: string; description: string }>>;
  /** parameters of the list in REST by option */
  filter?: Readonly<Record<string, { field: string; description: string }>>;
  /** whether the command only lists: there is nothing to create or delete */
  isReadOnly?: true;
  examples: readonly string[];
}

/** The fields of a shape that a row does not have, or has in another form. */
type Missing<Output, Row> = {
  [Field in keyof Output]: Field extends keyof Row
    ? Row[Field] extends DeepReadonly<Output[Field]>
      ? never
      : Field
    : Field;
}[keyof Output];

/** Functions that return fields of a row: missing ones, and others for another form. */
type Computed<Output, Row, Loaded> = {
  readonly [Field in Exclude<Missing<Output, Row>, Loaded>]: Compute<Output, Row, Field>;
} & { readonly [Field in keyof Output]?: Compute<Output, Row, Field> };

type Compute<Output, Row, Field extends keyof Output> = (
  row: Row,
  context: OperationContext,
) => DeepReadonly<Output[Field]>;

type DeepReadonly<Value> = Value extends Date
  ? Date
  : Value extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
      : Value;

/** An object whose fields can be functions, which run when an interface needs the field: GraphQL reads only what is requested. */
export type Lazily<Value> = Value extends Date | readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: Lazily<Value[Key]> | (() => Promise<Value[Key]>) }
    : Value;

/** Where REST has most capabilities of a kind. */
export const OF_EMAILS = { tag: 'Emails', path: '/emails', restCase: 'snake' } as const;
export const OF_THREADS = { tag: 'Threads', path: '/mail/threads', restCase: 'snake' } as const;
export const OF_ENDPOINTS = { tag: 'Endpoints', path: '/endpoints', restCase: 'camel' } as const;
export const OF_DOMAINS = { tag: 'Domains', path: '/domains', restCase: 'camel' } as const;

/** The `difference` of what only REST has a route for. */
export const READ_AS_FIELD = 'GraphQL reads it as a field of the objects it belongs to.';

/**
 * Defines a resource. The compiler checks that a row has each field of the shape with its type, or that `computed` or `loaded` returns it.
 * Curried, because the row is named and the shape is inferred.
 */
export function defineResource<Row extends ResourceRow>() {
  return <Shape extends Fields, Loaded extends string = never>(
    definition: Omit<Resource<Row>, 'readField' | 'shape' | 'loaded'> & {
      shape: Shape;
      computed: Computed<z.output<Shape>, Row, Loaded>;
      loaded?: Readonly<Record<Loaded, LoadedField<Row>>>;
    },
  ): Resource => {
    const { computed, ...rest } = definition;
    const computations = computed as Readonly<Record<string, (row: Row, context: OperationContext) => unknown>>;
    const readField = (row: Row, field: string, context: OperationContext) =>
      field in computations ? computations[field]?.(row, context) : (row as Record<string, unknown>)[field];
    return { ...rest, readField } as unknown as Resource;
  };
}

/** Defines a list; the functions get what `filter` returns. */
export function defineList<Row extends ResourceRow, Filter extends Fields, Cursor = KeysetCursor>(
  definition: Omit<List<Row>, 'kind' | 'filter' | 'page' | 'count' | 'list' | 'order'> & {
    filter: Filter;
    order?: Order<Row, Cursor>;
    page: (context: OperationContext, filter: z.output<Filter>, page: KeysetPage<Cursor>) => Promise<Row[]>;
    count: (context: OperationContext, filter: z.output<Filter>) => Promise<number>;
    list: (context: OperationContext, filter: z.output<Filter>, page: Page) => Promise<{ rows: Row[]; total: number }>;
  },
): Operation {
  return { ...definition, kind: 'list' } as unknown as Operation;
}

/** Defines the list of what belongs to objects of another kind. */
export function defineOwnedList<Row extends ResourceRow, Filter extends Fields>(
  definition: Omit<OwnedList<Row>, 'kind' | 'filter' | 'page' | 'count' | 'list'> & {
    filter: Filter;
    page: (
      context: OperationContext,
      ownerIds: readonly string[],
      filter: z.output<Filter>,
      page: KeysetPage,
    ) => Promise<Row[][]>;
    count: (context: OperationContext, ownerIds: readonly string[], filter: z.output<Filter>) => Promise<number[]>;
    list?: (
      context: OperationContext,
      ownerId: string,
      filter: z.output<Filter>,
      page: Page,
    ) => Promise<{ rows: Row[]; total: number }>;
  },
): Operation {
  return { ...definition, kind: 'ownedList' } as unknown as Operation;
}

export function defineRead<Row extends ResourceRow>(definition: Omit<Read<Row>, 'kind'>): Operation {
  return { ...definition, kind: 'read' } as unknown as Operation;
}

/** Defines what creates or changes an object; its function gets what `input` returns. */
export function defineChange<Row extends ResourceRow, Input extends Fields>(
  definition: Omit<Change<Row>, 'input' | 'run'> & {
    input: Input;
    run: (context: OperationContext, input: z.output<Input>, id: string) => Promise<Row>;
  },
): Operation {
  return definition as unknown as Operation;
}

export function defineDelete<Row extends ResourceRow, Input extends Fields>(
  definition: Omit<Delete<Row>, 'kind' | 'input' | 'run'> & {
    input: Input;
    run: (context: OperationContext, input: z.output<Input>, id: string) => Promise<Row>;
  },
): Operation {
  return { ...definition, kind: 'delete' } as unknown as Operation;
}

/** Defines an action; its function gets what `input` returns, and returns what `output` describes. */
export function defineAction<Input extends Fields, Output extends Fields | z.ZodArray<Fields> | 'resource'>(
  definition: Omit<Action, 'kind' | 'input' | 'output' | 'run'> & {
    input: Input;
    output: Output;
    run?: (
      context: OperationContext,
      input: z.output<Input>,
      id: string,
      idempotency: Idempotency | null,
    ) => Promise<Output extends z.ZodType ? Lazily<DeepReadonly<z.output<Output>>> : ResourceRow>;
  },
): Operation {
  return { ...definition, kind: 'action' } as unknown as Operation;
}
