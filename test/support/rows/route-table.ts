import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { z } from 'zod';
import type { RouteAccess } from '../../../gateway/admission/access.ts';

/** A JSON schema as far as fields are looked for in it. */
export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  examples?: unknown[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

/** A route as Fastify serves it, also one that the document hides. */
export interface ServedRoute {
  method: string;
  url: string;
  /** names of what stands for itself in the path */
  params: string[];
  query: JsonSchema | null;
  body: JsonSchema | null;
  /** null: it declares none */
  access: RouteAccess | null;
}

/**
 * Runs what makes an application and returns its routes: Fastify tells of each instance when it is made, before it has any.
 * Routes of HEAD are those of GET. `plant` may add routes of its own.
 */
export async function recordRoutes<T>(
  open: () => Promise<T>,
  plant: (app: FastifyInstance) => void = () => undefined,
): Promise<{ opened: T; routes: ServedRoute[] }> {
  const routes: ServedRoute[] = [];
  const onInitialization = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', (route) => void routes.push(...servedRoutes(route)));
    plant(fastify);
  };
  subscribe('fastify.initialization', onInitialization);
  try {
    return { opened: await open(), routes };
  } finally {
    unsubscribe('fastify.initialization', onInitialization);
  }
}

function servedRoutes({ method, url, schema, config }: RouteOptions): ServedRoute[] {
  return [method]
    .flat()
    .filter((each) => each !== 'HEAD')
    .map((each) => ({
      method: each,
      url,
      params: [...url.matchAll(/:(\w+)|\*/g)].map((match) => match[1] ?? '*'),
      query: readJsonSchema(schema?.querystring),
      body: readJsonSchema(schema?.body),
      access: config?.access ?? null,
    }));
}

function readJsonSchema(schema: unknown): JsonSchema | null {
  if (schema === undefined) return null;
  return z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

export type FieldPath = (string | number)[];

/** Where a free text can stand in a value of the schema; 0 is the first of a list. What the schema does not tell the example does. */
export function textFields(schema: JsonSchema | null): FieldPath[] {
  const fields = new Map<string, FieldPath>();
  const root = schema;
  const visit = (node: JsonSchema, path: FieldPath, example: unknown): void => {
    if (path.length > 8) return;
    const target = node.$ref === undefined ? node : (root?.$defs?.[node.$ref.split('/').at(-1) ?? ''] ?? {});
    const shown = target.examples?.[0] ?? example;
    if (target.enum !== undefined || target.const !== undefined) return;
    for (const part of [target.anyOf, target.oneOf, target.allOf].flatMap((parts) => parts ?? []))
      visit(part, path, shown);
    for (const [name, property] of Object.entries(target.properties ?? {}))
      visit(property, [...path, name], (shown as Record<string, unknown> | null | undefined)?.[name]);
    if (target.items !== undefined) visit(target.items, [...path, 0], (shown as unknown[] | undefined)?.[0]);
    const isTold = ['type', 'anyOf', 'oneOf', 'allOf', 'properties', 'items'].some((key) => key in target);
    if (!isTold) for (const inner of textsIn(shown)) fields.set([...path, ...inner].join('.'), [...path, ...inner]);
    if ([target.type].flat().includes('string') && target.format !== 'date-time') fields.set(path.join('.'), path);
  };
  if (schema !== null) visit(schema, [], undefined);
  return [...fields.values()].filter((path) => path.length > 0);
}

function textsIn(value: unknown): FieldPath[] {
  if (typeof value === 'string') return [[]];
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.slice(0, 1).map((each, at) => [at, each])
    : Object.entries(value);
  return entries.flatMap(([key, inner]) => textsIn(inner).map((path) => [key, ...path]));
}

/** The examples of a schema. */
export function listExamples(schema: JsonSchema): unknown[] {
  const named = schema.$ref === undefined ? undefined : schema.$defs?.[schema.$ref.split('/').at(-1) ?? ''];
  return schema.examples ?? named?.examples ?? [];
}

/** The value with another one at that place; what is missing on the way there is made. */
export function withField(value: unknown, [key, ...rest]: FieldPath, field: unknown): unknown {
  if (key === undefined) return field;
  if (typeof key === 'number') return [withField(Array.isArray(value) ? value[0] : undefined, rest, field)];
  const held = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...held, [key]: withField((held as Record<string, unknown>)[key], rest, field) };
}
