import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { tools } from '../../../gateway/mcp/tools.ts';
import { schema } from '../../../schema/graphql/schema.ts';
import { secretKind } from '../../../schema/graphql/secret.ts';

/** Names of fields that may hold a secret, and what descriptions say of one. */
const NAME = /key|secret|token|passw|credential|signature|signing|authoriz|cookie|curl|jwt|url$/i;
const DESCRIPTION = /\bkey\b|secret|token|password|credential|signature|signed|prove|without an? (?:API )?key/i;

/** Fields that look like secrets and are none. A name without a type counts everywhere. */
const HARMLESS: Readonly<Record<string, string>> = {
  idempotencyKey: 'a name that the client chose for a request; it opens nothing',
  idempotency_key: 'a name that the client chose for a request; it opens nothing',
  signature: 'text below a mail',
  text: 'the text of a mail',
  cleanedText: 'the text of a mail',
  cleanedHtml: 'the text of a mail',
  html: 'the text of a mail',
  hint: 'eight characters of a secret of at least 32',
  publicUrl: 'the address of the service',
  public_url: 'the address of the service',
  policyUrl: 'published in DNS',
  dkimTokens: 'published in DNS',
  publicKey: 'published in DNS',
  selector: 'published in DNS',
  downloadUrl: 'without a signature: needs a key',
  download_url: 'without a signature: needs a key',
  rawUrl: 'without a signature: needs a key',
  api_key_id: 'an ID, not the secret',
  apiKeyId: 'an ID, not the secret',
  created_by_key_id: 'an ID, not the secret',
  updated_by_key_id: 'an ID, not the secret',
  domainName: 'the name of a domain',
  domains: 'names of domains',
  domainId: 'an ID',
  domain_id: 'an ID',
  domain: 'the name of a domain',
  last_used_from: 'an address of a client',
  lastUsedFrom: 'an address of a client',
  sent_by: 'the name of a key',
  sentBy: 'the name of a key',
  decided_by: 'the name of a key',
  decidedBy: 'the name of a key',
  name: 'a name',
  id: 'an ID, not the secret',
  version: 'a number that changes with a draft',
  path: 'already without secrets',
  actor: 'an ID, or the name of a key or person',
  actor_id: 'an ID, not the secret',
  authorId: 'an ID, not the secret',
  author_id: 'an ID, not the secret',
  authorName: 'the name of a key or person',
  author_name: 'the name of a key or person',
  actorId: 'an ID, not the secret',
  actor_name: 'the name of a key or person',
  actorName: 'the name of a key or person',
  before: 'already without secrets',
  after: 'already without secrets',
  requestHeaders: 'already without secrets',
  'RequestHeader.value': 'already without secrets',
  expires_at: 'a time',
  send_at: 'a time',
  at: 'a time',
  address: 'an address that its correspondents know',
  addresses: 'addresses that their correspondents know',
  invitedBy: 'the name of a person',
  invited_by: 'the name of a person',
  curl: 'a sample with a placeholder for the key',
  list: 'a sample with a placeholder for the key',
  url: 'a page that anyone may read, or a link in a mail',
  cursor: 'a position in a list',
  'Query.apiKey(id)': 'an ID, not the secret',
  config: 'its secrets are marked by name',
  server: 'the address of the service',
  status: 'a status',
};

describe('every text that looks like a secret is marked, or listed as no secret,', () => {
  test('in GraphQL', () => {
    const found: string[] = [];
    const look = (
      name: string,
      element: GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField,
      mark: unknown,
    ) => {
      const type = getNamedType(element.type);
      if (!isScalarType(type) || ['Boolean', 'Int', 'Float', 'DateTime'].includes(type.name)) return;
      if (!NAME.test(element.name) && !DESCRIPTION.test(element.description ?? '')) return;
      if (mark === null && HARMLESS[name] === undefined && HARMLESS[element.name] === undefined) found.push(name);
    };
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.name.startsWith('__')) continue;
      if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        look(`${type.name}.${field.name}`, field, secretKind(field));
        for (const argument of 'args' in field ? field.args : [])
          look(`${type.name}.${field.name}(${argument.name})`, argument, secretKind(argument));
      }
    }
    expect(found).toEqual([]);
  });

  test('in REST and in tools of MCP', () => {
    const file = path.resolve(import.meta.dirname, '../../../openapi.json');
    const { components, paths } = JSON.parse(readFileSync(file, 'utf8'));
    const shapes = tools.flatMap(({ input, output }) => [
      z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }),
      z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }),
    ]);
    expect([...new Set(unmarkedFields([components, paths, shapes]))]).toEqual([]);
  });

  test('and every value that grants access is marked', () => {
    const marked = (type: string, field: string) => {
      const known = schema.getType(type);
      const fields = isObjectType(known) || isInputObjectType(known) ? known.getFields() : {};
      const element = fields[field];
      return element === undefined ? undefined : secretKind(element);
    };
    expect([
      marked('CreateApiKeyPayload', 'secret'),
      marked('SigningSecret', 'secret'),
      marked('WebhookEndpoint', 'verificationToken'),
      marked('WebhookEndpoint', 'url'),
      marked('CustomHeaderInput', 'value'),
      marked('ReplyToEmailInput', 'claimToken'),
      marked('SendDraftInput', 'claimToken'),
      marked('RenewThreadClaimInput', 'token'),
      marked('ApiRequest', 'responseBody'),
    ]).toEqual(['value', 'value', 'value', 'url', 'value', 'value', 'value', 'value', 'value']);
  });
});

/** Returns the names of fields that look like secrets and have no mark. */
function unmarkedFields(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  if (Array.isArray(part)) return part.flatMap(unmarkedFields);
  const { properties } = part as { properties?: Record<string, { description?: string; type?: unknown }> };
  const own =
    typeof properties !== 'object' || properties === null
      ? []
      : Object.entries(properties).filter(
          ([name, field]) =>
            (NAME.test(name) || DESCRIPTION.test(field.description ?? '')) &&
            mayHoldText(field) &&
            !('x-secret' in field) &&
            HARMLESS[name] === undefined,
        );
  const inner = Object.entries(part).filter(([name]) => !/^(?:x-)?examples?$/.test(name));
  return [...own.map(([name]) => name), ...inner.flatMap(([, each]) => unmarkedFields(each))];
}

function mayHoldText(field: {
  type?: unknown;
  anyOf?: unknown;
  enum?: unknown;
  $ref?: unknown;
  allOf?: unknown;
  format?: unknown;
}): boolean {
  if (field.format === 'date-time') return false;
  if (field.enum !== undefined || field.$ref !== undefined) return false;
  if (Array.isArray(field.anyOf)) return field.anyOf.some((each) => mayHoldText(each as object));
  const types = [field.type].flat();
  return types.some((type) => type === undefined || type === 'string');
}
