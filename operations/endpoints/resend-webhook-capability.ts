import { z } from 'zod';
import { secret, secretUrl } from '../../core/accounts/secret-fields.ts';
import { MAX_EVENT_PATTERNS } from '../../core/endpoints/endpoint-events.ts';
import { listResendKinds, readResendKinds } from '../../core/endpoints/resend-payload.ts';
import { UserError } from '../../core/shared/errors.ts';
import {
  type Capability,
  defineAction,
  defineChange,
  defineDelete,
  defineList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { invalid, type OperationContext } from '../context.ts';
import { deleteEndpoint, rotateWebhookSecret, updateEndpoint } from './endpoint-changes.ts';
import { MAX_NAME_LENGTH } from './endpoint-types.ts';
import {
  countEndpoints,
  createEndpoint,
  type Endpoint,
  endpointNotFound,
  listEndpoints,
  loadEndpoints,
  pageEndpoints,
  validSecrets,
} from './endpoints.ts';

const target = { argument: 'id', argumentDescription: 'ID of the webhook.' } as const;
const WEBHOOKS = { type: 'webhook' } as const;
const url = text.meta({ ...secretUrl, description: 'HTTPS URL that is posted to.', examples: ['https://hooks.example.com/mail'] });
const kinds = z
  .array(text)
  .min(1)
  .max(MAX_EVENT_PATTERNS)
  .meta({
    description:
      'Kinds of events as the client names them, such as `email.delivery_delayed`. Kinds that never happen here, such as `email.opened`, are left out.',
    examples: [['email.received', 'email.bounced']],
  });
const status = z.enum(['enabled', 'disabled']);

/** Returns the patterns of an endpoint for kinds of the client. Throws validation for an unknown kind, and if none ever happens. */
function readEvents(given: readonly string[]): string[] {
  const { patterns, unknown } = readResendKinds(given);
  if (unknown !== null)
    throw invalid(`\`events[${unknown}]\` is not a kind of event. Use those of the \`resend\` client.`, `events[${unknown}]`);
  if (patterns.length === 0)
    throw invalid('None of these kinds ever happens here. Use `email.received`, `email.delivered` or `email.bounced`.', 'events');
  return patterns;
}

/** Throws not_found for an endpoint that is no webhook. */
async function requireWebhook(context: OperationContext, id: string): Promise<Endpoint> {
  const [endpoint] = await loadEndpoints(context, [id]);
  if (endpoint?.type !== 'webhook') throw endpointNotFound();
  return endpoint;
}

/** Endpoints of type webhook at the paths and in the format of the `resend` client (docs/decisions/0228). */
export const resendWebhookCapability: Capability = {
  feature: 'Paths of other clients',
  what: 'Webhooks',
  tag: 'Paths of other clients',
  path: '/webhooks',
  restCase: 'snake',
  resource: defineResource<Endpoint>()({
    name: 'Webhook',
    identifier: 'endpoint',
    description: 'An endpoint of type `webhook`, in the format of the `resend` client.',
    isOfDomain: false,
    shape: z.object({
      createdAt: z.date(),
      status: status.meta({ description: '`disabled` also if Postroom disabled it.' }),
      endpoint: z.string().meta({ ...secretUrl, description: 'URL that is posted to.' }),
      events: z
        .array(z.string())
        .nullable()
        .meta({ description: 'Kinds of events as the client names them. Null for all.' }),
      signingSecret: z
        .string()
        .optional()
        .meta({ ...secret, description: 'Standard Webhooks secret. Lists leave it out.' }),
    }),
    computed: {
      status: ({ isActive }) => (isActive ? 'enabled' : 'disabled'),
      endpoint: ({ config }) => String(config['url']),
      events: ({ events }) => listResendKinds(events),
    },
    loaded: {
      signingSecret: {
        isInLists: false,
        load: async (context, rows) => rows.map((row) => validSecrets(context, row)[0]?.secret ?? ''),
      },
    },
    load: async (context, ids) =>
      (await loadEndpoints(context, ids)).map((each) => (each?.type === 'webhook' ? each : null)),
  }),
  operations: [
    defineList({
      access: 'readAccount',
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: 'Same as GET /endpoints with type `webhook`, in the format of the `resend` client.',
      filter: z.object({}),
      isPagedByItem: true,
      page: (context, _filter, page) => pageEndpoints(context, WEBHOOKS, page),
      count: (context) => countEndpoints(context, WEBHOOKS),
      async list(context, _filter, page) {
        const { endpoints, total } = await listEndpoints(context, WEBHOOKS, page);
        return { rows: endpoints, total };
      },
    }),
    defineRead({
      access: 'readAccount',
      operationId: 'getWebhook',
      summary: 'Retrieve a webhook',
      description: 'Same as GET /endpoints/{id}, in the format of the `resend` client.',
      target,
      read: requireWebhook,
    }),
    defineChange({
      kind: 'create',
      access: 'endpointsAndRead',
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'Creates an endpoint whose payloads have the format of the `resend` client. `email.received` is posted for all received mail, wherever it is routed.',
      input: z.object({ endpoint: url, events: kinds }),
      inputName: 'CreateWebhook',
      example: { endpoint: 'https://hooks.example.com/mail', events: ['email.received', 'email.bounced'] },
      errors: [],
      run: (context, { endpoint, events }) =>
        createEndpoint(context, {
          name: URL.parse(endpoint)?.hostname.slice(0, MAX_NAME_LENGTH) || 'Webhook',
          type: 'webhook',
          config: { url: endpoint, payload: 'resend' },
          events: readEvents(events),
        }),
    }),
    defineChange({
      kind: 'update',
      access: 'endpoints',
      operationId: 'updateWebhook',
      summary: 'Update a webhook',
      description: 'Omitted fields keep their values. The form of the payload stays, too.',
      target,
      input: z.object({
        endpoint: url.optional(),
        events: kinds.optional(),
        status: status.optional().meta({ description: '`enabled` also enables a webhook that Postroom disabled.' }),
      }),
      inputName: 'UpdateWebhook',
      example: { status: 'disabled' },
      errors: [],
      async run(context, { endpoint, events, status: wanted }, id) {
        await requireWebhook(context, id);
        if (endpoint === undefined && events === undefined && wanted === undefined)
          throw new UserError('validation', 'At least one field must be provided: endpoint, events, status');
        return updateEndpoint(context, id, {
          configChange: endpoint === undefined ? undefined : { url: endpoint },
          events: events === undefined ? undefined : readEvents(events),
          isActive: wanted === undefined ? undefined : wanted === 'enabled',
        });
      },
    }),
    defineDelete({
      access: 'endpoints',
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Same as DELETE /endpoints/{id}.',
      target,
      input: z.object({}),
      errors: [],
      deleted: { description: 'A deleted webhook.', fields: [] },
      async run(context, _input, id) {
        const webhook = await requireWebhook(context, id);
        await deleteEndpoint(context, id);
        return webhook;
      },
    }),
    defineAction({
      access: 'endpointsAndRead',
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the signing secret of a webhook (resend)',
      description: 'Same as POST /endpoints/{id}/rotate-secret: the old secret signs for 24 hours, too.',
      method: 'POST',
      path: '/:id/signing-secret/rotate',
      target,
      input: z.object({}),
      output: 'resource',
      errors: [],
      run: (context, _input, id) => rotateWebhookSecret(context, id, { isTokenReplaced: false }),
    }),
  ],
};
