import type { z } from 'zod';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import type { OperationContext } from '../context.ts';

/**
 * A resource and what a user can do with it, declared once: shape, descriptions, rights and functions. REST routes with their part of
 * openapi.json (gateway/rest/capability-routes.ts), GraphQL types and fields (schema/graphql/capability-schema.ts) and rows of docs/parity.md
 * are made from it. Names are in camelCase here; REST has its own case. What REST does for other clients is in gateway/rest/{feature}.
 */
export interface Capability {
  /** heading in docs/parity.md, and the row there */
  feature: string;
  what: string;
  /** tag of the operations in openapi.json */
  tag: string;
  /** path of the list in REST */
  path: string;
  resource: Resource;
  operations: readonly Operation[];
}

/** Named fields. */
export type Fields = z.ZodObject<Record<string, z.ZodType>>;

/** What every resource has. */
export interface ResourceRow {
  id: string;
  createdAt: Date;
}

/** A kind of object. Values of fields are `unknown` here: `defineResource` has checked them. */
export interface Resource<Row extends ResourceRow = ResourceRow> {
  /** in GraphQL and openapi.json, such as `ReplyAddress` */
  name: string;
  identifier: IdentifierKind;
  description: string;
  /** whether keys of one domain may read it */
  isOfDomain: boolean;
  /** the fields after the ID, in the order of openapi.json */
  shape: Fields;
  /** returns a field of a row */
  valueOf: (row: Row, field: string) => unknown;
  /** fields of GraphQL that lead to another resource, by name */
  references: Readonly<Record<string, Reference<Row>>>;
  /** fields that are read only when they are asked for, by name; the last ones in openapi.json */
  loaded?: Readonly<Record<string, LoadedField>>;
  /** returns one row per ID, null where the user has none */
  load: (context: OperationContext, ids: readonly string[]) => Promise<readonly (Row | null)[]>;
}

/** A field that REST has as a text and GraphQL as the object. */
interface Reference<Row> {
  /** name of the other resource; it may no longer exist, so the field is nullable */
  to: string;
  /** the field of the shape that GraphQL does not have */
  insteadOf: string;
  description: string;
  idOf: (row: Row) => string | null;
}

/** A field that costs a read. REST has it where one object is read, created or changed, unless it is null. */
interface LoadedField {
  shape: z.ZodType;
  /** what it adds to the cost of a GraphQL operation */
  cost: number;
  /** returns one value per ID of an object, null for none */
  load: (context: OperationContext, ids: readonly string[]) => Promise<readonly unknown[]>;
}

/** Who may use an operation: a name of `access` (gateway/admission/access.ts, schema/graphql/access.ts). */
type AccessName = 'read' | 'send' | 'sendAccount' | 'manage';

interface OperationNames {
  access: AccessName;
  /** `operationId` in openapi.json */
  operationId: string;
  /** field of Query or Mutation */
  field: string;
  /** title in openapi.json */
  summary: string;
  description: string;
}

export type Operation<Row extends ResourceRow = ResourceRow> = List<Row> | Read<Row> | Change<Row>;

/** Lists what matches a filter, newest first. */
export interface List<Row extends ResourceRow = ResourceRow> extends OperationNames {
  kind: 'list';
  /** all fields are optional; omitted ones match all */
  filter: Fields;
  /** whether REST pages by `after` and `before`, too, as the `resend` client does */
  isPagedByItem: boolean;
  page: (context: OperationContext, filter: unknown, page: KeysetPage) => Promise<Row[]>;
  count: (context: OperationContext, filter: unknown) => Promise<number>;
  list: (context: OperationContext, filter: unknown, page: Page) => Promise<{ rows: Row[]; total: number }>;
}

/** Reads one. */
export interface Read<Row extends ResourceRow = ResourceRow> extends OperationNames {
  kind: 'read';
  /** the argument in GraphQL; in REST it is `id` */
  argument: 'id' | 'idOrAddress';
  argumentDescription: string;
  /** throws not_found */
  read: (context: OperationContext, id: string) => Promise<Row>;
}

/** Creates, changes or deletes one. */
export interface Change<Row extends ResourceRow = ResourceRow> extends OperationNames {
  kind: 'create' | 'update' | 'delete';
  /** description of the argument that names the object; absent for what creates it */
  target?: Pick<Read, 'argument' | 'argumentDescription'>;
  input: Fields;
  /** an example of the input, for openapi.json */
  example?: Readonly<Record<string, unknown>> | undefined;
  /** the input's name in openapi.json, if it has one */
  inputName?: string | undefined;
  /** HTTP statuses of its errors, beside those that each operation can have */
  errors: readonly number[];
  /** The fields of a deleted object that GraphQL returns beside its ID. Absent: the object is returned in its current state. */
  deleted?: { description: string; fields: readonly string[] };
  /** whether GraphQL shows the object to keys without the scope `read`: `Type.field` */
  shows?: readonly string[];
  /** throws what operations throw; `id` is the target's, empty without one */
  run: (context: OperationContext, input: unknown, id: string) => Promise<Row>;
}

/** Values of a row by the fields of a shape. */
type ValuesOf<Shape extends Fields, Row> = {
  readonly [Field in Exclude<keyof z.output<Shape>, keyof Row>]: (row: Row) => z.output<Shape>[Field];
};

type NamedInShape<Shape extends Fields, Row> = {
  readonly [Field in Extract<keyof z.output<Shape>, keyof Row>]: z.output<Shape>[Field];
};

/**
 * Defines a resource. The compiler checks that a row has each field of the shape with its type, or that `computed` returns it.
 * Curried, because the row is named and the shape is inferred.
 */
export function defineResource<Row extends ResourceRow>() {
  return <Shape extends Fields>(
    definition: Omit<Resource<Row>, 'valueOf' | 'shape'> & {
      shape: Row extends NamedInShape<Shape, Row> ? Shape : never;
      computed: ValuesOf<Shape, Row>;
    },
  ): Resource => {
    const { computed, ...rest } = definition;
    const computations = computed as Readonly<Record<string, (row: Row) => unknown>>;
    const valueOf = (row: Row, field: string) =>
      field in computations ? computations[field]?.(row) : (row as Record<string, unknown>)[field];
    return { ...rest, valueOf } as unknown as Resource;
  };
}

/** Defines a list; the functions get what `filter` returns. */
export function defineList<Row extends ResourceRow, Filter extends Fields>(
  definition: Omit<List<Row>, 'kind' | 'filter' | 'page' | 'count' | 'list'> & {
    filter: Filter;
    page: (context: OperationContext, filter: z.output<Filter>, page: KeysetPage) => Promise<Row[]>;
    count: (context: OperationContext, filter: z.output<Filter>) => Promise<number>;
    list: (context: OperationContext, filter: z.output<Filter>, page: Page) => Promise<{ rows: Row[]; total: number }>;
  },
): Operation {
  return { ...definition, kind: 'list' } as unknown as Operation;
}

export function defineRead<Row extends ResourceRow>(definition: Omit<Read<Row>, 'kind'>): Operation {
  return { ...definition, kind: 'read' } as unknown as Operation;
}

/** Defines a change; its function gets what `input` returns. */
export function defineChange<Row extends ResourceRow, Input extends Fields>(
  definition: Omit<Change<Row>, 'input' | 'run'> & {
    input: Input;
    run: (context: OperationContext, input: z.output<Input>, id: string) => Promise<Row>;
  },
): Operation {
  return definition as unknown as Operation;
}
