import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createConfig, lint, lintFromString, loadConfig } from '@redocly/openapi-core';
import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RIGHTS, type Right } from '../../../core/accounts/rights.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let document: OpenAPIV3_1.Document;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { publicUrl: 'https://mail.postroom.test' } });
  document = (await gateway.app.inject('/api/e2/openapi.json')).json();
});
afterAll(() => gateway.close());

interface Operation extends OpenAPIV3_1.OperationObject {
  route: string;
  'x-required-scopes'?: string[][];
}

function operations(): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([route, item]) =>
    (['get', 'post', 'put', 'patch', 'delete'] as const).flatMap((method) => {
      const operation = item?.[method];
      return operation === undefined ? [] : [{ ...operation, route: `${method.toUpperCase()} ${route}` }];
    }),
  );
}

test('the linter finds nothing, with every recommended rule but one on, and more', async () => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // Clients ask for /emails/batch/{id} as well as for /emails/{id}/reply; see the next test for why that is not ambiguous.
      'no-ambiguous-paths': 'off',
      'component-name-unique': 'error',
      'no-http-verbs-in-paths': 'error',
      'operation-description': 'error',
      'operation-singular-tag': 'error',
      'operation-tag-defined': 'error',
      'parameter-description': 'error',
      'path-http-verbs-order': 'error',
      'paths-kebab-case': 'error',
      'request-mime-type': { severity: 'error', allowedValues: ['application/json'] },
      'response-contains-header': { severity: 'error', names: { '2xx': ['X-Request-Id', 'RateLimit-Remaining'] } },
      'spec-example-values': 'error',
      'spec-strict-refs': 'error',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  // These rules are about the responses and paths of the service; a webhook is served by its receiver and named by its event.
  const ofPaths = new Set(['response-contains-header', 'paths-kebab-case']);
  const own = problems.filter(
    ({ ruleId, location }) => !(ofPaths.has(ruleId) && location[0]?.pointer?.startsWith('#/webhooks/')),
  );
  expect(own.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)).toEqual([]);
});

test('the linter finds nothing in the file, with the configuration of the repository', async () => {
  const config = await loadConfig({ configPath: 'redocly.yaml' });
  expect((await lint({ ref: 'openapi.json', config })).map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual(
    [],
  );
});

test('lists the schemas by name, whatever file defines them', () => {
  const names = Object.keys(document.components?.schemas ?? {});
  expect(names.length).toBeGreaterThan(20);
  expect(names).toEqual(names.toSorted());
});

test('no word of a path could be an id, so that no two paths are ambiguous', () => {
  const words = Object.keys(document.paths ?? {}).flatMap((route) =>
    route.split('/').filter((word) => !word.startsWith('{')),
  );
  expect(words).toContain('batch');
  // An id has an underscore behind its prefix (core/shared/identifiers.ts).
  expect(words.filter((word) => word.includes('_'))).toEqual([]);
});

test('the committed document is that of the service as it starts without an environment', async () => {
  const stock = await openTestGateway({ config: { publicUrl: 'http://localhost:3000' } });
  const served = (await stock.app.inject('/api/e2/openapi.json')).json();
  await stock.close();
  const committed = readFileSync(path.resolve(import.meta.dirname, '../../../openapi.json'), 'utf8');
  expect(JSON.parse(committed)).toEqual(served);
});

describe('the document', () => {
  test('names the server that serves it', () => {
    expect(document.servers).toEqual([{ url: 'https://mail.postroom.test', description: 'This server.' }]);
  });

  test('requires a key in every operation, and lists the errors of each', () => {
    expect(document.security).toEqual([{ key: [] }]);
    for (const { route, security, responses = {}, requestBody } of operations()) {
      // A signed link serves without a key.
      const isDownload = /\/(?:parts\/\{index\}|raw)$/.test(route);
      // Who signs up has no key yet.
      const isOpen = route === 'POST /api/e2/agent/sign-up';
      expect(security, route).toEqual(isOpen ? [] : isDownload ? [{ key: [] }, {}] : undefined);
      const statuses = Object.keys(responses);
      expect(statuses, route).toEqual(expect.arrayContaining(['401', '403', '429', '500', '503']));
      if (requestBody !== undefined) expect(statuses, route).toEqual(expect.arrayContaining(['400', '413', '415']));
      if (route.includes('{')) expect(statuses, route).toContain('404');
      if (/\/(?:emails|threads)\/bulk$|\/(?:merge|undo|simulate|explain-route|confirm|reprocess)$/.test(route))
        expect(statuses, route).toContain('404');
      expect(statuses, route).not.toContain('default');
      for (const status of statuses.filter((each) => Number(each) >= 400))
        expect(responses[status], `${route} ${status}`).toHaveProperty('$ref');
    }
    for (const [name, response] of Object.entries(document.components?.responses ?? {}))
      expect(response, name).toMatchObject({
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      });
  });

  test('states the scopes of every operation as operation-rights.txt has its rights', () => {
    const table = new Map(
      readFileSync(path.resolve(import.meta.dirname, '../admission/operation-rights.txt'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(': ') as [string, string]),
    );
    for (const { route, description, 'x-required-scopes': lists } of operations()) {
      const name = route.replace('/api/e2', '').replaceAll(/\{(\w+)\}/g, ':$1');
      const line = table.get(name);
      if (line === 'no credential') {
        expect([name, lists, /Needs/.test(description ?? '')]).toEqual(['POST /agent/sign-up', undefined, false]);
        continue;
      }
      const [rights = ''] = (line ?? '').split(', can be limited to domains');
      const cases = rights
        .split(', or ')
        .map((words) => words.replace(/ (?:to|with|without) .*$/, ''))
        .map((each) => (each === 'none' ? [] : each.split(' and ').map((right) => RIGHTS[right as Right].scope)));
      const [first = [], ...others] = cases;
      // A second thing that needs more than the first is no other way to begin.
      const beside = others.filter((scopes) => !first.every((scope) => scopes.includes(scope)));
      expect([name, lists]).toEqual([name, [first, ...beside].map((scopes) => [...new Set(scopes)])]);
      for (const scopes of cases.filter(({ length }) => length > 0)) {
        const words = [...new Set(scopes)].map((scope) => `\`${scope}\``).join(' and ');
        expect([name, description?.slice(description.lastIndexOf(' Needs '))]).toEqual([
          name,
          expect.stringContaining(`${words.includes('and') ? 'scopes' : 'scope'} ${words}`),
        ]);
      }
    }
  });

  test('closes the request bodies whose unknown fields are refused, and no other', async () => {
    const { apiKey } = await gateway.mailbox({ domain: 'unknown-fields.test' });
    const schemas = (document.components?.schemas ?? {}) as Record<string, OpenAPIV3_1.SchemaObject>;
    const found: unknown[] = [];
    for (const { route, requestBody } of operations()) {
      if (requestBody === undefined) continue;
      const given = (requestBody as OpenAPIV3_1.RequestBodyObject).content['application/json']?.schema;
      const { $ref = '' } = (given ?? {}) as { $ref?: string };
      const schema = schemas[$ref.split('/').at(-1) ?? ''] ?? (given as OpenAPIV3_1.SchemaObject);
      const [method = '', url = ''] = route.split(' ');
      const unknown = { unknown_to_all: true };
      const body = schema.type === 'array' ? [unknown] : unknown;
      const named = url.replace('/api/e2', '').replaceAll(/\{\w+\}/g, 'none');
      const response = await gateway.call(apiKey, method, named, body);
      expect([route, response.statusCode]).not.toEqual([route, 401]);
      const { details = [] } = response.json<{ details?: unknown }>();
      const isRefused = response.statusCode === 400 && JSON.stringify(details).includes('unknown_to_all');
      found.push([route, schema.additionalProperties === false, isRefused]);
    }
    const refusing = found.filter((each) => (each as unknown[])[2] === true);
    expect(refusing.length).toBeGreaterThan(5);
    for (const each of found) {
      const [route, isClosed, isRefused] = each as [string, boolean, boolean];
      expect([route, isClosed]).toEqual([route, isRefused]);
    }
  });

  test('marks the request bodies that may be left out', () => {
    const left = operations().filter(({ requestBody }) => (requestBody as { required?: boolean })?.required === false);
    expect(left.map(({ operationId }) => operationId)).toEqual([
      'sendDraft',
      'resumeEmail',
      'rejectEmail',
      'retryEmail',
      'rotateEndpointSecret',
      'testEndpoint',
      'backtestSavedGuardRule',
    ]);
  });

  test("states the service's checks: methods, statuses, and the form of bodies and headers", () => {
    const paths = document.paths ?? {};
    expect(paths['/api/e2/emails/{id}']?.put?.operationId).toBe('putEmail');
    expect(paths['/api/e2/guard/{id}']?.put?.operationId).toBe('putGuardRule');
    expect(paths['/api/e2/events']?.get?.responses).toHaveProperty('410');
    expect(document.components?.schemas?.['TestEndpoint']).toMatchObject({
      properties: { webhookFormat: { type: ['string', 'null'], enum: expect.arrayContaining(['native', null]) } },
    });
    expect(paths['/api/e2/emails']?.post?.parameters).toContainEqual(
      expect.objectContaining({
        name: 'idempotency-key',
        schema: expect.objectContaining({ minLength: 1, maxLength: 256 }),
      }),
    );
    expect(document.components?.schemas?.['LegacyUpdateMailRequest']).toMatchObject({
      anyOf: [{ required: ['isRead'] }, { required: ['isArchived'] }],
    });
  });

  test('keeps the default and the least value of a limit', () => {
    const parameters = document.paths?.['/api/e2/emails']?.get?.parameters;
    expect(parameters).toContainEqual(
      expect.objectContaining({ name: 'limit', schema: { type: 'integer', minimum: 1, default: 50 } }),
    );
  });

  test('gives an example of every request body', () => {
    for (const { route, requestBody } of operations()) {
      if (requestBody === undefined) continue;
      const media = (requestBody as OpenAPIV3_1.RequestBodyObject).content['application/json'];
      const { $ref } = (media?.schema ?? {}) as OpenAPIV3_1.ReferenceObject;
      const named = document.components?.schemas?.[$ref?.split('/').at(-1) ?? ''];
      expect(media?.example ?? media?.examples ?? named?.examples, route).toBeDefined();
    }
  });

  test('gives IDs of the right kind as examples, in paths and in objects', async () => {
    const { apiKey, domainId, address } = await gateway.mailbox({ domain: 'examples.test' });
    const headers = { authorization: `Bearer ${apiKey}` };
    const create = async (path: string, payload: object) => {
      const made = await gateway.app.inject({ method: 'POST', url: `/api/e2/${path}`, headers, payload });
      expect([path, made.statusCode < 300, made.body]).toEqual([path, true, made.body]);
      return made.json<{ id: string; thread_id?: string }>();
    };
    const email = { from: address, to: 'ada@example.org', subject: 'Hi', text: 'Hello' };
    const { id: emailId } = await create('emails', email);
    const { thread_id: threadId = '' } = (
      await gateway.app.inject({ url: `/api/e2/emails/${emailId}`, headers })
    ).json<{ thread_id?: string }>();
    const config = { url: 'https://hooks.example.com/mail' };
    const made: Record<string, string> = {
      'emails/{id}': emailId,
      'mail/threads/{id}': threadId,
      'domains/{id}': domainId,
      'emails/batch/{id}': (await create('emails/batch', [email] as never)).id,
      'endpoints/{id}': (await create('endpoints', { name: 'Mine', type: 'webhook', config })).id,
      'email-addresses/{id}': (await create('email-addresses', { address: 'two@examples.test', domainId })).id,
      'api-keys/{id}': (await create('api-keys', { name: 'Two' })).id,
      'drafts/{id}': (await create('drafts', { subject: 'Draft' })).id,
      'suppressions/{id}': (await create('suppressions', { address: 'bob@example.org' })).id,
      'saved-views/{id}': (
        await create('saved-views', { name: 'Invoices', search: 'subject:invoice', is_shared: true })
      ).id,
      'snippets/{id}': (await create('snippets', { name: 'Thanks', text: 'Thank you' })).id,
      'reply-addresses/{id}': (await create('reply-addresses', { domain: 'examples.test' })).id,
      'workspaces/{id}': (await create('workspaces', { name: 'Smith', client_id: 'customer-42' })).id,
      'mail/notes/{id}': (await create(`mail/threads/${threadId}/notes`, { text: 'A note' })).id,
    };
    const prefix = (id: unknown) => String(id).split('_')[0];
    const schemas = (document.components?.schemas ?? {}) as Record<string, OpenAPIV3_1.SchemaObject>;
    for (const [path, id] of Object.entries(made)) {
      const item = document.paths?.[`/api/e2/${path}`];
      const { parameters = [], responses = {} } = item?.get ?? item?.patch ?? item?.delete ?? {};
      const inPath = (parameters as OpenAPIV3_1.ParameterObject[]).find(({ name }) => name === 'id');
      expect([path, prefix(inPath?.example)]).toEqual([path, prefix(id)]);
      const [media] = Object.values((responses['200'] as OpenAPIV3_1.ResponseObject).content ?? {});
      const [, name = ''] = /#\/components\/schemas\/(\w+)/.exec(JSON.stringify(media?.schema)) ?? [];
      const schema = schemas[name];
      const field = schema?.properties?.['id'] as OpenAPIV3_1.SchemaObject | undefined;
      if (field !== undefined) expect([path, prefix(field.examples?.[0])]).toEqual([path, prefix(id)]);
    }
  });

  test('says of an object of any fields that it has them, which generated clients take for one without fields otherwise', () => {
    const bare: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type } = value as { type?: unknown };
      const isOpen = !['properties', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', '$ref'].some(
        (key) => key in value,
      );
      if ([type].flat().includes('object') && isOpen) bare.push(path);
      for (const [key, inner] of Object.entries(value)) if (!/^examples?$/.test(key)) walk(inner, `${path}/${key}`);
    };
    walk(document.components?.schemas, '');
    walk(document.paths, '');
    expect(bare).toEqual([]);
  });

  test('has integers where fractions make no sense', () => {
    const fractions = new Set<string>();
    const walk = (value: unknown, name: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ([(value as { type?: unknown }).type].flat().includes('number')) fractions.add(name);
      for (const [key, inner] of Object.entries(value)) if (!/^examples?$/.test(key)) walk(inner, key);
    };
    walk(document.components?.schemas, '');
    walk(document.paths, '');
    expect([...fractions].toSorted()).toEqual(['alignedPercent', 'likelihood', 'required', 'score', 'timeout']);
  });

  test('gives examples of numbers that are within their bounds', () => {
    const outside: unknown[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { minimum = -Infinity, maximum = Infinity, examples } = value as Record<string, number | undefined>;
      const [shown] = Array.isArray(examples) ? (examples as unknown[]) : [];
      if (typeof shown === 'number' && (shown < minimum || shown > maximum)) outside.push([path, shown]);
      for (const [key, inner] of Object.entries(value)) if (!/^examples?$/.test(key)) walk(inner, `${path}/${key}`);
    };
    walk(document.components?.schemas, '');
    expect(outside).toEqual([]);
  });

  test('gives each field of a webhook its own example', () => {
    const schema = document.components?.schemas?.['WebhookEmailReceived'] as OpenAPIV3_1.SchemaObject;
    const { properties: fields = {} } = (schema.properties?.['email'] ?? {}) as OpenAPIV3_1.SchemaObject;
    const examples = ['id', 'threadId', 'messageId'].map((name) => {
      const { examples: [example] = [] } = fields[name] as OpenAPIV3_1.SchemaObject;
      return String(example).slice(0, 3);
    });
    expect(examples).toEqual(['em_', 'th_', '<47']);
  });

  test('names no shape as oapi-codegen names its own type of an operation: a client in Go would not compile', () => {
    const operations = Object.values(document.paths ?? {}).flatMap((item) =>
      Object.values(item ?? {}).map((operation) => (operation as { operationId?: string }).operationId ?? ''),
    );
    const taken = new Set(operations.map((id) => `${id}response`.toLowerCase()));
    expect(taken.size).toBeGreaterThan(100);
    expect(Object.keys(document.components?.schemas ?? {}).filter((name) => taken.has(name.toLowerCase()))).toEqual([]);
  });

  test('names no shape twice, and none without a reference', () => {
    const schemas = document.components?.schemas ?? {};
    const text = JSON.stringify(document);
    for (const [name, schema] of Object.entries(schemas)) {
      expect(text).toContain(`"#/components/schemas/${name}"`);
      const input = schemas[`${name}Input`];
      if (input !== undefined) expect(input, name).not.toEqual(schema);
    }
  });

  test('is served without a key, and a second time only when it has changed', async () => {
    const first = await gateway.app.inject('/api/e2/openapi.json');
    expect([first.statusCode, first.headers['content-type'], first.headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'public, max-age=300',
    ]);
    const headers = { 'if-none-match': String(first.headers.etag) };
    const again = await gateway.app.inject({ url: '/api/e2/openapi.json', headers });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    const other = await gateway.app.inject({ url: '/api/v2/openapi.json', headers: { 'if-none-match': '"other"' } });
    expect([other.statusCode, other.body]).toEqual([200, first.body]);
  });
});
