import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  GraphQLError,
  GraphQLObjectType,
  GraphQLSchema,
  type IntrospectionQuery,
  introspectionFromSchema,
  isInterfaceType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { deriveDownloadLinkKey, downloadPath } from '../../core/endpoints/download-link.ts';
import type { EventFilter } from '../../core/endpoints/endpoint-events.ts';
import { linkTo } from '../../core/endpoints/payload-facts.ts';
import {
  type PayloadQuery,
  type PayloadQueryError,
  pathName,
  type SelectedPayload,
  type SelectedText,
} from '../../core/endpoints/payload-query.ts';
import { UserError } from '../../core/shared/errors.ts';
import { LargeText } from '../../core/shared/large-text.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import type { ReadLimit } from '../../db/connection/database.ts';
import { limitedTo } from '../../db/connection/transaction.ts';
import { isTransient } from '../../db/errors.ts';
import type { FeedEvent } from '../../db/queries/events/event-list.ts';
import type { OperationContext, PayloadLinks, PayloadQueries } from '../../operations/context.ts';
import { findDomainsByName } from '../../operations/domains/domains.ts';
import { encodeCursor, readReceivedEvents } from '../../operations/events/events.ts';
import { openBodyBudget } from '../../schema/graphql/body-budget.ts';
import { createGraphContext } from '../../schema/graphql/context.ts';
import { schema } from '../../schema/graphql/schema.ts';
import { findBeyondDomain } from './document-access.ts';
import { checkStoredDocument } from './document-limits.ts';

/** Time limit of one run. Milliseconds. */
const RUN_MS = 5_000;
/** Characters of all checked queries in the cache; a parsed query takes about 40 times the memory of its text. */
export const MAX_CACHED_QUERIES = 500_000;

/** The schema of payload queries: that of the gateway, with the type Event as its root. */
const payloadSchema: GraphQLSchema = schemaOfEvent();

/** Returns the introspection of the schema of payload queries, for the editor in the dashboard. */
export function payloadIntrospection(): IntrospectionQuery {
  return introspectionFromSchema(payloadSchema);
}

/** Fields that no payload has: secrets of the account, and payloads, whose query would run again. */
const BARRED_FIELDS: ReadonlySet<string> = new Set([
  'WebhookEndpoint.signingSecrets',
  'WebhookEndpoint.verificationToken',
  'Delivery.payload',
]);

/**
 * The payload queries of the gateway: one selection on the type Event, without variables, with the limits of a request. For an endpoint with a
 * filter they read what a key limited to its domains and addresses would read.
 */
export function createPayloadQueries(): PayloadQueries {
  const kept = createSizedCache<Checked>({ maxSize: MAX_CACHED_QUERIES, size: (_checked, key) => key.length });

  function checked({ query, filter }: PayloadQuery): Checked {
    const key = `${filter === null ? 'all' : 'some'} ${query}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const result = checkQuery(query, filter);
    kept.set(key, result);
    return result;
  }

  const selectAll: PayloadQueries['selectAll'] = async (context, query, subjects) => {
    const { document } = checked(query);
    if (document === null || subjects.length === 0) return subjects.map(() => null);
    const arrivals = subjects.flatMap(({ subject }) => (subject.seq === undefined ? [subject] : []));
    const received = await readReceivedEvents(context, arrivals);
    const eventOf = new Map(arrivals.map(({ emailId }, at) => [emailId, received[at]]));
    const runs = subjects.map(({ subject, links }) => {
      const event = subject.seq === undefined ? eventOf.get(subject.emailId) : subject;
      if (event === undefined) throw new Error('a subject has no event');
      return { event, links };
    });
    return runAll(await limited(context, query.filter), document, runs);
  };
  return {
    check: async (query) => checked(query).errors,
    selectAll,
    select: async (context, query, subject, links) =>
      (await selectAll(context, query, [{ subject, links }]))[0] ?? null,
  };
}

/** A query with the hidden fields that `run` needs; null with the errors. */
type Checked =
  | { document: DocumentNode; errors: readonly [] }
  | { document: null; errors: readonly PayloadQueryError[] };

function checkQuery(query: string, filter: EventFilter | null): Checked {
  const document = checkStoredDocument(payloadSchema, query);
  if (!('definitions' in document)) return { document: null, errors: document.map(toError) };
  const refused = findRefusal(document, filter);
  return refused === null
    ? { document: withEmailIds(document), errors: [] }
    : { document: null, errors: [toError(refused)] };
}

function findRefusal(document: DocumentNode, filter: EventFilter | null): GraphQLError | null {
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const [operation, another] = operations;
  if (operation === undefined || another !== undefined)
    return new GraphQLError('A payload query is one selection, such as `{ kind email { subject } }`.', {
      nodes: another ?? document,
    });
  if ((operation.variableDefinitions ?? []).length > 0)
    return new GraphQLError('A payload query has no variables. Write the values into the query.', {
      nodes: operation.variableDefinitions ?? [],
    });
  return barredFieldIn(document) ?? (filter === null ? null : fieldBeyondFilter(document, operation));
}

/** Returns an error for the first field that no payload can have, such as introspection. */
function barredFieldIn(document: DocumentNode): GraphQLError | null {
  const types = new TypeInfo(payloadSchema);
  let found: GraphQLError | null = null;
  const visitor = visitWithTypeInfo(types, {
    Field(node) {
      const name = node.name.value;
      const full = `${types.getParentType()?.name ?? ''}.${name}`;
      if (!/^__(?:schema|type)$/.test(name) && !BARRED_FIELDS.has(full)) return;
      found ??= new GraphQLError(`The field ${name} cannot be part of a payload.`, { nodes: node });
    },
  });
  visit(document, visitor);
  return found;
}

function fieldBeyondFilter(document: DocumentNode, operation: OperationDefinitionNode): GraphQLError | null {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const found = findBeyondDomain(fragments, operation.selectionSet, eventType());
  if (found === null) return null;
  const message = `The field ${found.name} cannot be limited to the filter of the endpoint. Remove the field or the filter.`;
  return new GraphQLError(message, { nodes: found.node });
}

function toError({ message, locations }: GraphQLError): PayloadQueryError {
  const [location] = locations ?? [];
  return { message, line: location?.line ?? null, column: location?.column ?? null };
}

/** The name under which every selection on an email also selects its ID. */
const EMAIL_ID = '__emailId';

function withEmailIds(document: DocumentNode): DocumentNode {
  const types = new TypeInfo(payloadSchema);
  const visitor = visitWithTypeInfo(types, {
    SelectionSet(node) {
      if (types.getParentType()?.name !== 'Email') return undefined;
      const id = { kind: Kind.FIELD, name: nameNode('id'), alias: nameNode(EMAIL_ID) } as const;
      return { ...node, selections: [...node.selections, id] };
    },
  });
  return visit(document, visitor);
}

const nameNode = (value: string) => ({ kind: Kind.NAME, value }) as const;

/** Returns the context with a database that shows what the filter covers. */
async function limited(context: OperationContext, filter: EventFilter | null): Promise<OperationContext> {
  if (filter === null) return context;
  const domains = await findDomainsByName(context, filter.domains);
  const addresses = filter.addresses.filter((address) => isInReach(address, context.database.limit));
  return { ...context, database: limitedTo(context.database, { domains, addresses }) };
}

/** Whether a key of one domain, which previews a query, may read the mail of an address. */
function isInReach(address: string, limit: ReadLimit | undefined): boolean {
  const [, domain] = /@([^@]*)$/.exec(address) ?? [];
  return limit === undefined || limit.addresses.includes(address) || limit.domains.some(({ name }) => name === domain);
}

/** Runs the query for each event. They share loaders, so that a statement reads for all of them, and each has its own budget of texts. */
async function runAll(
  operations: OperationContext,
  document: DocumentNode,
  runs: readonly { event: FeedEvent; links: PayloadLinks }[],
): Promise<SelectedPayload[]> {
  const end = new AbortController();
  const { context, stopReads } = createGraphContext({
    operations: { ...operations, respondBy: performance.now() + RUN_MS },
    requestId: runs[0]?.event.id ?? '',
    signal: end.signal,
    respondWithin: () => undefined,
  });
  const late = new UserError('unavailable', `The payload query took longer than ${RUN_MS / 1_000} s`);
  const timer = setTimeout(() => end.abort(late), RUN_MS);
  const isLate = new Promise<never>((_resolve, reject) => end.signal.addEventListener('abort', () => reject(late)));
  try {
    const results = await Promise.race([
      Promise.all(
        runs.map(async ({ event }): Promise<ExecutionResult> => {
          const contextValue = { ...context, requestId: event.id, bodies: openBodyBudget() };
          return execute({ schema: payloadSchema, document, rootValue: event, contextValue });
        }),
      ),
      isLate,
    ]);
    return runs.map(({ event, links }, at) => ({
      ...selectedFrom(results[at] ?? {}, operations, links),
      event: { id: event.id, kind: event.kind, cursor: encodeCursor(operations, event) },
    }));
  } finally {
    clearTimeout(timer);
    stopReads();
    await context.endReads();
  }
}

function selectedFrom(
  { data, errors = [] }: ExecutionResult,
  operations: OperationContext,
  { from: timestamp, holder: linkHolder }: PayloadLinks,
): Omit<SelectedPayload, 'event'> {
  const visible = errors.map((error) => {
    const cause = error.cause ?? error;
    // What passes is no part of a payload: the delivery is tried again, and a preview says when.
    if (!(cause instanceof UserError) || isTransient(cause) || cause.code === 'unavailable') throw cause;
    return { message: cause.message, path: pathName(error.path ?? []) };
  });
  const texts: SelectedText[] = [];
  const linkKey = deriveDownloadLinkKey(operations.settings.secretKey);
  const { workspaceId, settings } = operations;
  const signed = (emailId: string, text: string): string => {
    const { publicUrl } = settings;
    if (!text.startsWith(`${publicUrl}/api/e2/`)) return text;
    const [, part] = /\/(raw|\d+)$/.exec(text) ?? [];
    const target = part === 'raw' ? part : Number(part);
    if (text !== publicUrl + downloadPath({ emailId, part: target })) return text;
    return linkTo({ publicUrl, linkKey, linkHolder, workspaceId, email: { id: emailId }, timestamp }, target);
  };

  /** Removes the hidden IDs, collects the texts, and signs links to the parts of emails. */
  const visited = (value: unknown, path: readonly (string | number)[], emailId: string | null): unknown => {
    if (typeof value === 'string') {
      if (emailId === null) return value;
      texts.push({ path, emailId });
      return signed(emailId, value);
    }
    if (value instanceof LargeText) {
      if (emailId !== null) texts.push({ path, emailId });
      return value;
    }
    if (Array.isArray(value)) return value.map((each, at) => visited(each, [...path, at], emailId));
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    const { [EMAIL_ID]: own, ...fields } = value as Record<string, unknown>;
    const within = typeof own === 'string' ? own : emailId;
    return Object.fromEntries(
      Object.entries(fields).map(([name, each]) => [name, visited(each, [...path, name], within)]),
    );
  };
  return { data: visited(data ?? {}, [], null) as Record<string, unknown>, texts, errors: visible };
}

function eventType(): GraphQLObjectType {
  const event = schema.getType('Event');
  if (!(event instanceof GraphQLObjectType)) throw new Error('The schema has no type Event');
  return event;
}

/** The types that are reachable from Event, with those of its interfaces. Introspecting it gives the explorer its completion. */
function schemaOfEvent(): GraphQLSchema {
  const config = { directives: schema.getDirectives(), query: eventType(), assumeValid: true };
  let types: GraphQLObjectType[] = [];
  for (;;) {
    const reached = new GraphQLSchema({ ...config, types });
    const known = reached.getTypeMap();
    // Any type can be a Node, and none is reached by that alone.
    const interfaces = Object.values(known)
      .filter((type) => isInterfaceType(type))
      .filter(({ name }) => name !== 'Node');
    const missing = interfaces
      .flatMap((each) => schema.getPossibleTypes(each))
      .filter(({ name }) => known[name] === undefined);
    if (missing.length === 0) return reached;
    types = [...types, ...missing];
  }
}
