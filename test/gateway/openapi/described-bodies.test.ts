import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveDownloadLinkKey } from '../../../core/endpoints/download-link.ts';
import { buildEventBody } from '../../../core/endpoints/event-payload.ts';
import { type PayloadFacts } from '../../../core/endpoints/payload-facts.ts';
import { buildResendEvent, buildResendMail } from '../../../core/endpoints/resend-payload.ts';
import { buildWebhookPayload } from '../../../core/endpoints/webhook-payload.ts';
import { EVENT_KINDS } from '../../../core/events/event-kinds.ts';
import { finishSteps } from '../../../core/shared/steps.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let document: OpenAPIV3_1.Document;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { publicUrl: 'https://mail.postroom.test' } });
  document = (await gateway.app.inject('/api/e2/openapi.json')).json();
});
afterAll(() => gateway.close());

type Bodies = ({ content?: Record<string, OpenAPIV3_1.MediaTypeObject> } | undefined)[];

/** Returns the JSON bodies of every operation, requests and successes. */
function readBodies(items: object): { name: string; media: OpenAPIV3_1.MediaTypeObject }[] {
  return Object.values(items).flatMap((item: OpenAPIV3_1.PathItemObject) =>
    (Object.values(item) as OpenAPIV3_1.OperationObject[]).flatMap(
      ({ operationId = '', requestBody, responses = {} }) => {
        const successes = Object.entries(responses).filter(([status]) => !/^[45]/.test(status));
        const holders = [requestBody, ...successes.map(([, response]) => response)] as Bodies;
        return holders.flatMap((holder) => {
          const media = holder?.content?.['application/json'];
          return media === undefined ? [] : [{ name: operationId, media }];
        });
      },
    ),
  );
}

test('every JSON object that is sent or returned has a name', () => {
  const unnamed = readBodies(document.paths ?? {}).filter(({ media }) => {
    const schema = media.schema as OpenAPIV3_1.SchemaObject;
    const parts = (schema.allOf ?? [schema]) as (OpenAPIV3_1.SchemaObject & { $ref?: string })[];
    return parts.some((part) => part.$ref === undefined && part.properties !== undefined);
  });
  expect(unnamed.map(({ name }) => name)).toEqual([]);
  expect(readBodies(document.paths ?? {}).length).toBeGreaterThan(150);
});

test('no two components have the same shape, except two requests that are alike by chance', () => {
  const byShape = Map.groupBy(Object.entries(document.components?.schemas ?? {}), ([, schema]) =>
    JSON.stringify(schema),
  );
  const equal = [...byShape.values()].filter(({ length }) => length > 1).map((same) => same.map(([name]) => name));
  expect(equal).toEqual([['MoveEmails', 'SplitThread']]);
});

test('every operation has an example of its body, and every field has one', () => {
  const bodies = readBodies({ ...document.paths, ...document.webhooks });
  const isBare = ({ media }: { media: OpenAPIV3_1.MediaTypeObject }) => {
    const { anyOf = [media.schema] } = media.schema as OpenAPIV3_1.SchemaObject;
    const examples = (anyOf as OpenAPIV3_1.ReferenceObject[]).map(
      ({ $ref }) => document.components?.schemas?.[$ref?.split('/').at(-1) ?? '']?.examples,
    );
    return media.example === undefined && media.examples === undefined && examples.includes(undefined);
  };
  expect(bodies.filter(isBare).map(({ name }) => name)).toEqual([]);
  const bare: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties } = value as OpenAPIV3_1.SchemaObject;
    if (typeof properties === 'object' && !path.includes('.example'))
      for (const [name, field] of Object.entries(properties) as [string, OpenAPIV3_1.SchemaObject][]) {
        const isPlain = [field.type]
          .flat()
          .some((type) => type === 'string' || type === 'integer' || type === 'number');
        if (isPlain && field.examples === undefined && !('const' in field)) bare.push(`${path}.${name}`);
      }
    for (const [key, inner] of Object.entries(value)) if (!/^examples?$/.test(key)) walk(inner, `${path}.${key}`);
  };
  walk(document.components?.schemas, '');
  walk(document.paths, '');
  expect(bare).toEqual([]);
});

describe('webhooks', () => {
  const check = (name: string, body: Buffer) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'document', ...document } as AnySchemaObject);
    const validate = ajv.getSchema(`document#/components/schemas/${name}`);
    const isValid = validate?.(JSON.parse(body.toString()));
    expect([isValid, validate?.errors ?? null]).toEqual([true, null]);
  };
  const addresses = { text: 'Ann <ann@a.test>', addresses: [{ name: 'Ann', address: 'ann@a.test' }] };
  const endpoint = { id: 'ep_1', name: 'Mine', type: 'webhook' };
  const at = new Date('2026-11-28T09:30:00Z');
  const facts: PayloadFacts = {
    timestamp: at,
    workspaceId: 'usr_1',
    sender: { authentication: null, verdict: null },
    linkKey: deriveDownloadLinkKey(Buffer.alloc(32, 1)),
    linkHolder: 'ep_1',
    email: {
      id: 'em_1',
      messageId: '<1@a.test>',
      subject: 'Hi',
      recipient: 'b@b.test',
      receivedAt: at,
      date: null,
      threadId: null,
      threadPosition: null,
      metadata: null,
    },
    content: {
      headers: [['subject', 'Hi']],
      addresses: { from: addresses, to: addresses, cc: addresses, bcc: null, replyTo: null },
      inReplyTo: [],
      references: [],
      textBody: 'text',
      htmlBody: null,
      cleanedText: 'text',
      cleanedHtml: null,
      quotedText: null,
      signature: null,
      removedParts: [],
      attachments: [
        {
          index: 0,
          filename: 'a.pdf',
          contentType: 'application/pdf',
          size: 3,
          contentId: null,
          contentDisposition: 'attachment',
          start: 15,
          length: 4,
          transferEncoding: 'base64',
        },
      ],
      priority: null,
      injection: null,
      screening: null,
      isTruncated: false,
    },
    raw: Buffer.from('Subject: Hi\r\n\r\nAAAA'),
    endpoint,
    publicUrl: 'https://mail.example.test',
  };

  test('are described for every kind of event', () => {
    expect(Object.keys(document.webhooks ?? {})).toEqual([...Object.keys(EVENT_KINDS), 'audit.*']);
  });

  test.each([1_000_000, 100])('of received mail have the shape of the document, with at most %i bytes, too', (size) => {
    const options = { payload: 'nested', maxPayloadOctets: size, attachments: 'content' } as const;
    check('WebhookEmailReceived', finishSteps(buildWebhookPayload(options, facts)));
  });

  test('about other events have the shape of the document, also when their subject was deleted', () => {
    const event = { id: 'evt_1', kind: 'email.bounced', at, cursor: 'x', endpoint } as const;
    check('WebhookEvent', buildEventBody({ ...event, data: { id: 'em_1' } }, 1_000_000));
    check('WebhookEvent', buildEventBody({ ...event, data: null }, 1_000_000));
    check('WebhookEvent', buildEventBody({ ...event, data: { text: 'x'.repeat(5_000) } }, 1_000));
  });

  test('for the resend client have the shapes of the document, and no field that it does not tell', () => {
    const tellsAll = (name: string, body: Buffer) => {
      check(name, body);
      const { properties = {} } = (document.components?.schemas?.[name] ?? {}) as OpenAPIV3_1.SchemaObject;
      const { properties: told = {} } = (properties['data'] ?? {}) as OpenAPIV3_1.SchemaObject;
      expect(Object.keys(told)).toEqual(expect.arrayContaining(Object.keys(JSON.parse(body.toString()).data ?? {})));
    };
    for (const size of [1_000_000, 100]) tellsAll('WebhookResendReceived', buildResendMail(facts, size));
    const event = { id: 'evt_1', at, cursor: 'x', endpoint } as const;
    const email = { id: 'em_1', created_at: at, message_id: null, from: 'a@a.test', to: ['b@b.test'], subject: 'Hi' };
    for (const kind of ['email.bounced', 'email.failed', 'email.delayed'] as const)
      tellsAll('WebhookResendEmail', buildResendEvent({ ...event, kind, data: email }, 1_000));
    check('WebhookResendEmail', buildResendEvent({ ...event, kind: 'email.sent', data: null }, 1_000));
    check('WebhookResendEvent', buildResendEvent({ ...event, kind: 'domain.verified', data: { id: 'dom_1' } }, 1_000));
    const bodies = Object.values(document.webhooks ?? {}).map((item) => JSON.stringify(item));
    expect(bodies.filter((body) => !body.includes('/WebhookResend'))).toEqual([]);
  });
});

test('downloads name their media type, and only files of any type are `*/*`', () => {
  const types = (id: string) =>
    Object.values(document.paths ?? {})
      .flatMap((item) => Object.values(item ?? {}) as OpenAPIV3_1.OperationObject[])
      .filter(({ operationId }) => operationId === id)
      .flatMap(({ responses }) => {
        const response = responses?.['200'] as OpenAPIV3_1.ResponseObject | undefined;
        return Object.keys(response?.content ?? {});
      });
  expect(types('downloadRawEmail')).toEqual(['message/rfc822']);
  expect(types('downloadAttachments')).toEqual(['application/zip']);
  expect(types('previewAttachment')).toContain('application/pdf');
  expect(types('downloadAttachment')).toEqual(['*/*']);
});
