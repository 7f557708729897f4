import type { OpenAPIV3_1 } from 'openapi-types';
import { type IdentifierKind, identifierPrefix } from '../../core/shared/identifiers.ts';
import { snakeCase, uncapitalized } from '../../core/shared/word-case.ts';

type Schema = Omit<OpenAPIV3_1.SchemaObject, 'type'> & { $ref?: string; type?: unknown; const?: unknown };
type Schemas = Record<string, Schema>;

const PREFIX = '#/components/schemas/';
const ID = '019aa3c1b2d47e1f8a0b3c4d5e6f7a8b';
const INSTANT = '2026-11-28T09:30:00.000Z';

/** What an ID is of, by the words before `_id`: those of a field, of the object that has it, or of its place in a path; the first that fits counts. */
const KINDS: readonly (readonly [pattern: RegExp, kind: IdentifierKind])[] = [
  [/thread_message|latest_message|list_unsubscription/, 'email'],
  [/attachment$/, 'attachment'],
  [/recipient/, 'recipient'],
  [/suppression/, 'suppression'],
  [/^batch$|(?:sent|changed)_batch|batch_details/, 'batch'],
  [/reply_address/, 'replyAddress'],
  [/^address|email_address|associated_email/, 'emailAddress'],
  [/api_key_domain/, 'domain'],
  [/endpoint|webhook$|routing|configured_item/, 'endpoint'],
  [/key|grant/, 'apiKey'],
  [/api_request|^requests$/, 'apiRequest'],
  [/audit/, 'auditEntry'],
  [/refusal/, 'refusal'],
  [/note/, 'threadNote'],
  [/deliver/, 'delivery'],
  [/guard|rule/, 'guardRule'],
  [/dmarc/, 'dmarcReport'],
  [/dns_record/, 'dnsRecord'],
  [/domain|finding|^object$/, 'domain'],
  [/undo/, 'threadChange'],
  [/thread|^about$/, 'thread'],
  [/draft/, 'draft'],
  [/invitation/, 'invitation'],
  [/workspace/, 'workspace'],
  [/saved_view/, 'savedView'],
  [/snippet/, 'snippet'],
  [/^(?:scim_)?token$/, 'scimToken'],
  [/^(?:event|webhook_event|webhook_email_received)$/, 'event'],
  [/account|member|user|person|assignee|author|actor|mention/, 'user'],
  [/mail|receiving|sending|schedule|reply|forward|batch|approval|^attachments$|^data$|^items?$|^failed$/, 'email'],
];

/** IDs that other programs make, and positions. */
const OTHER_IDS =
  /(?<!thread_|latest_)message_id$|content_id$|^request_id$|(?:receiving|signed)_attachment(?:_response)?_id$/;

/** Examples by the name of a field; the first pattern that fits counts. Names are in snake case. */
const BY_NAME: readonly (readonly [pattern: RegExp, example: string | number])[] = [
  [/message_id$|^in_reply_to$/, '<4711@example.org>'],
  [/content_id$/, '<logo@example.com>'],
  [/(?:receiving|signed)_attachment(?:_response)?_id$|^index$/, '0'],
  [/cursor|^(?:after|before)$/, 'MTc2NDMyMjIwMA'],
  [/token$/, 'clm_Qm9vdHM'],
  [/secret$/, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  [/(?:^|_)(?:url|link)$|_to$/, 'https://app.example.com/hook'],
  [/filename|^file$/, 'invoice.pdf'],
  [/content_type/, 'application/pdf'],
  [/(?:^|_)subject$/, 'Your order'],
  [/html/, '<p>It is on its way.</p>'],
  [/text|preview|^body$|^summary$/, 'It is on its way.'],
  [/(?:^|_)host(?:name)?$|^organization$/, 'mx.example.com'],
  [/ip$|remote_address|client_address|used_from/, '192.0.2.10'],
  [/time_?zone$/, 'Europe/Berlin'],
  [/domain|^mail_from/, 'example.com'],
  [/from_name|holder|^name$|sender_name/, 'Support'],
  [/^to$|cc$|recipient|reply_to/, 'ada@example.org'],
  [/email|address|^from$|envelope|sender|^user$/, 'support@example.com'],
  [/status_code|^code$/, 200],
  [/reason|message|detail|description|advice|title|warning|^error$/, 'The mailbox is full.'],
  [/method/, 'POST'],
  [/version/, 1],
  [/label/, 'billing'],
  [/search|query/, 'invoice'],
  [/time_range/, '30d'],
  [/bytes|size/, 18_204],
  [/port/, 2525],
];

/**
 * Adds an example to every field, required parameter and JSON body that has none. Those of the routes come first; the others follow from the name and
 * the type of the field.
 */
export function addExamples(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = (document.components?.schemas ?? {}) as unknown as Schemas;
  for (const [name, schema] of Object.entries(schemas)) fillFields(schema, snakeCase(uncapitalized(name)));
  for (const [path, item] of Object.entries({ ...document.paths, ...document.webhooks }))
    for (const operation of Object.values(item ?? {}) as OpenAPIV3_1.OperationObject[]) {
      for (const parameter of (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[]) {
        const schema = parameter.schema as unknown as Schema;
        const isGiven = [parameter.example, parameter.examples, schema.examples].some((each) => each !== undefined);
        // The reference sends what has an example: of optional parameters, that would be all filters at once.
        const isSent = parameter.required === true || schema.default !== undefined;
        if (!isGiven && isSent)
          parameter.example =
            (schema.default as unknown) ?? readExample(schema, nameParameter(parameter, path), schemas, 0);
      }
      const bodies = [operation.requestBody, ...Object.values(operation.responses ?? {})];
      for (const body of bodies as ({ content?: Record<string, OpenAPIV3_1.MediaTypeObject> } | undefined)[]) {
        const json = body?.content?.['application/json'];
        if (json?.schema === undefined || json.example !== undefined || json.examples !== undefined) continue;
        const schema = json.schema as unknown as Schema;
        fillFields(schema, '');
        // The routes’ own examples, often several.
        if (((schemas[schema.$ref?.slice(PREFIX.length) ?? ''] ?? schema).examples?.length ?? 0) > 0) continue;
        json.example = readExample(schema, '', schemas, 0);
      }
    }
  return document;
}

/** Adds examples to the fields of a schema. `owner` is the name of the object in snake case. */
function fillFields(schema: Schema, owner: string): void {
  const fields = (schema.properties ?? {}) as Record<string, Schema>;
  for (const [name, field] of Object.entries(fields)) {
    const [type] = listTypes(field);
    const isPlain = type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
    // Other fields can have the same schema.
    if (isPlain && field.examples === undefined && field.const === undefined)
      fields[name] = { ...field, examples: [readExample(field, nameField(name, owner), {}, 0)] };
    fillFields(field, snakeCase(name));
  }
  for (const inner of innerSchemas(schema)) fillFields(inner, owner);
}

/** Returns the name of a field, with that of its object where it is the ID of the object. */
function nameField(name: string, owner: string): string {
  return /^ids?$/.test(name) && owner !== '' ? `${owner}_${name}` : name;
}

/** Returns the name of a parameter; that of an ID begins with the word before it in the path. */
function nameParameter({ name }: OpenAPIV3_1.ParameterObject, path: string): string {
  const [word = ''] = path.split(`/{${name}}`);
  return /id$/i.test(name) && word !== path ? `${word.split('/').at(-1) ?? ''}_${name}` : name;
}

function innerSchemas({ anyOf, oneOf, allOf, ...schema }: Schema): Schema[] {
  const items = (schema as { items?: Schema }).items;
  const others = schema.additionalProperties;
  const lists = [anyOf, oneOf, allOf].flatMap((list) => (list ?? []) as unknown as Schema[]);
  return [...lists, ...(items === undefined ? [] : [items]), ...(typeof others === 'object' ? [others as Schema] : [])];
}

/** Returns a value of the schema. */
function readExample(schema: Schema, name: string, schemas: Schemas, depth: number): unknown {
  if (schema.$ref !== undefined)
    return readExample(schemas[schema.$ref.slice(PREFIX.length)] ?? {}, name, schemas, depth + 1);
  const [given] = (schema.examples ?? []) as unknown[];
  if (given !== undefined) return given;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = (schema.anyOf ?? schema.oneOf ?? []) as unknown as Schema[];
  if (choice !== undefined) return readExample(choice, name, schemas, depth + 1);
  if (schema.allOf !== undefined) {
    const parts = (schema.allOf as unknown as Schema[]).filter(({ $ref }) => $ref !== `${PREFIX}Warned`);
    return Object.assign({}, ...parts.map((part) => readExample(part, name, schemas, depth + 1) as object));
  }
  const [type] = listTypes(schema);
  if (type === 'object' || schema.properties !== undefined) return objectExample(schema, name, schemas, depth);
  if (type === 'array') {
    const { items = {} } = schema as { items?: Schema };
    return depth > MAX_DEPTH ? [] : [readExample(items, name.replace(/(?<=[a-z]{2})s$/, ''), schemas, depth + 1)];
  }
  if (type === 'boolean') return true;
  return plainExample(schema, type, name);
}

/** Deeper lists are empty. */
const MAX_DEPTH = 8;

function objectExample(schema: Schema, owner: string, schemas: Schemas, depth: number): object {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>).filter(
    ([key]) => depth <= MAX_DEPTH || required.has(key),
  );
  return Object.fromEntries(
    fields.map(([key, field]) => [key, readExample(field, nameField(key, owner), schemas, depth + 1)]),
  );
}

function plainExample(schema: Schema, type: string | undefined, name: string): unknown {
  const snake = snakeCase(name).replaceAll('-', '_');
  const isText = type === 'string';
  if (isText && schema.format === 'date-time') return INSTANT;
  const [, object] = /^(.+)_ids?$/.exec(snake) ?? [];
  const kind = object === undefined ? undefined : KINDS.find(([pattern]) => pattern.test(object))?.[1];
  if (isText && kind !== undefined && !OTHER_IDS.test(snake)) return `${identifierPrefix(kind)}_${ID}`;
  if (isText && (schema.format === 'binary' || schema.pattern !== undefined) && !/\\S/.test(schema.pattern ?? ''))
    return schema.format === 'binary' ? '' : undefined;
  const found = BY_NAME.find(([pattern, value]) => (typeof value === 'string') === isText && pattern.test(snake));
  const value = found?.[1] ?? (isText ? 'example' : 1);
  if (typeof value === 'string') return value.slice(0, schema.maxLength);
  return Math.min(Math.max(value, schema.minimum ?? value), schema.maximum ?? value);
}

function listTypes({ type }: Schema): string[] {
  return ([type].flat() as unknown[]).filter((each): each is string => typeof each === 'string' && each !== 'null');
}
