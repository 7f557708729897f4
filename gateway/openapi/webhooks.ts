import type { OpenAPIV3_1 } from 'openapi-types';
import { ALL_AUDIT } from '../../core/endpoints/endpoint-events.ts';
import { EVENT_KINDS, type EventKind } from '../../core/events/event-kinds.ts';

type Schema = OpenAPIV3_1.SchemaObject | OpenAPIV3_1.ReferenceObject;

const text: Schema = { type: 'string' };
const maybeText: Schema = { type: ['string', 'null'] };
const time: Schema = { type: 'string', format: 'date-time' };
const texts: Schema = { type: 'array', items: text };
const headers: Schema = { type: 'object', additionalProperties: text };
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const record = (properties: Record<string, Schema>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const resendBody = (type: Schema, data: Schema, description: string): Schema => ({
  ...record({ type, created_at: time, data }),
  description: `${description} With the \`payload\` \`resend\`.`,
});

const endpoint = record({ id: text, name: text, type: text });
const truncated: Schema = { ...texts, description: 'What was left out, because the payload would be too large.' };

/** What webhooks post. Fields can be added. */
export const webhookSchemas: Record<string, Schema> = {
  WebhookAddressList: {
    ...record({ text, addresses: { type: 'array', items: record({ name: maybeText, address: maybeText }) } }),
    description: 'A field of addresses: as text, and each address.',
  },
  WebhookAttachment: record(
    {
      filename: maybeText,
      contentType: text,
      size: { type: 'integer', description: 'Bytes, decoded.' },
      contentId: maybeText,
      contentDisposition: maybeText,
      downloadUrl: {
        ...text,
        description: 'Works without an API key for 7 days, while the endpoint exists and may read.',
      },
      content: { type: ['string', 'null'], description: 'Base64, if the endpoint includes contents.' },
    },
    ['content'],
  ),
  WebhookEmailReceived: record({
    event: { type: 'string', const: 'email.received' },
    id: { ...text, description: 'ID of the event, the same in all deliveries of the email.' },
    type: { type: 'string', const: 'email.received' },
    timestamp: time,
    email: record({
      id: text,
      messageId: text,
      from: ref('WebhookAddressList'),
      to: ref('WebhookAddressList'),
      recipient: { ...text, description: 'The address that received it.' },
      subject: text,
      receivedAt: time,
      threadId: maybeText,
      threadPosition: { type: ['integer', 'null'] },
      metadata: { description: 'Of the reply address that received it, or of the sent email that it replies to.' },
      senderVerdict: {
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'Who vouches for the sender: `verdict`, `domain` and `text`. Null if not checked.',
      },
      authentication: {
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'Results of SPF, DKIM, DMARC and ARC. Null if not checked.',
      },
      security: {
        type: 'object',
        additionalProperties: true,
        description:
          'What the screening says: `injection` with `verdict` and `findings`, or null if the email was not screened, and `spam` with `verdict`, `score`, `required`, `symbols` and `by`.',
      },
      parsedData: record(
        {
          messageId: text,
          date: time,
          subject: text,
          from: ref('WebhookAddressList'),
          to: ref('WebhookAddressList'),
          cc: { anyOf: [ref('WebhookAddressList'), { type: 'null' }] },
          bcc: { anyOf: [ref('WebhookAddressList'), { type: 'null' }] },
          replyTo: { anyOf: [ref('WebhookAddressList'), { type: 'null' }] },
          inReplyTo: text,
          references: texts,
          textBody: maybeText,
          htmlBody: maybeText,
          raw: { ...text, description: 'The message as it was received, without large parts.' },
          rawUrl: {
            ...text,
            description: 'Works without an API key for 7 days, while the endpoint exists and may read.',
          },
          attachments: { type: 'array', items: ref('WebhookAttachment') },
          priority: text,
          event: { type: ['object', 'null'], additionalProperties: true, description: 'The event of an invitation.' },
          headers,
        },
        ['inReplyTo', 'priority'],
      ),
      cleanedContent: {
        ...record({
          html: maybeText,
          text: maybeText,
          hasHtml: { type: 'boolean' },
          hasText: { type: 'boolean' },
          attachments: { type: 'array', items: ref('WebhookAttachment') },
          headers,
          quotedText: maybeText,
          signature: maybeText,
          removedParts: { type: 'array', items: { type: 'object', additionalProperties: true } },
        }),
        description: 'What the author typed, without quoted mail and signature.',
      },
      truncated,
    }),
    endpoint,
  }),
  WebhookEvent: record(
    {
      id: { ...text, description: 'ID of the event. The header `webhook-id` is the ID of the delivery.' },
      type: text,
      event: { ...text, description: 'Same as `type`.' },
      timestamp: time,
      cursor: { ...text, description: 'Position in the feed `GET /events`.' },
      data: {
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'What the event is about, as it is now; null if it was deleted.',
      },
      truncated,
      endpoint,
    },
    ['truncated'],
  ),
  WebhookResendReceived: resendBody(
    { type: 'string', const: 'email.received' },
    record({
      email_id: text,
      created_at: time,
      from: text,
      to: texts,
      cc: texts,
      bcc: texts,
      received_for: { ...texts, description: 'The address that received it.' },
      message_id: maybeText,
      subject: text,
      attachments: {
        type: 'array',
        items: record({
          id: { ...text, description: 'Number of the attachment.' },
          filename: maybeText,
          content_type: text,
          content_disposition: text,
          content_id: maybeText,
        }),
      },
    }),
    'A received email, as the `resend` client has it. Lists, and then the subject, are empty if the payload would be too large.',
  ),
  WebhookResendEmail: resendBody(
    { ...text, description: 'Kind of the event as the client names it, such as `email.delivery_delayed`.' },
    {
      ...record(
        {
          email_id: text,
          created_at: time,
          message_id: maybeText,
          from: text,
          to: texts,
          subject: maybeText,
          bounce: {
            ...record({ message: text, type: text, subType: text }),
            description: 'Of `email.bounced`. `type` is `Transient` or `Permanent`.',
          },
          failed: { ...record({ reason: text }), description: 'Of `email.failed`.' },
        },
        ['bounce', 'failed'],
      ),
      type: ['object', 'null'],
      description: 'Null if the email was deleted.',
    },
    'An event of an email, as the `resend` client has it.',
  ),
  WebhookResendEvent: resendBody(
    { ...text, description: 'Kind of the event: `domain.updated` as the client names it, and all others as they are.' },
    {
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'What the event is about, as it is now; null if it was deleted.',
    },
    'Another event, in the frame of the `resend` client.',
  ),
};

/** Returns the section `webhooks` of the document: what Postroom posts to endpoints, by kind of event. */
export function describeWebhooks(): Record<string, OpenAPIV3_1.PathItemObject> {
  // The types of openapi-types have the media types of OpenAPI 3.0 here.
  return Object.fromEntries(
    [...(Object.entries(EVENT_KINDS) as [EventKind, string][]), [ALL_AUDIT, AUDIT_DESCRIPTION] as const].map(
      ([kind, description]) => [
        kind,
        {
          post: {
            operationId: `webhook${kind.replace('.*', '').replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
            summary: `Event ${kind}`,
            description: `${description} The request is signed in \`webhook-signature\` (Standard Webhooks).`,
            tags: ['Webhooks'],
            // The signature says who posts it; there is no key.
            security: [],
            requestBody: {
              required: true,
              content: { 'application/json': { schema: { anyOf: componentsFor(kind).map(ref) } } },
            },
            responses: {
              '2XX': { description: 'The event was taken. Any other status is retried.' },
            },
          },
        },
      ],
    ),
  ) as unknown as Record<string, OpenAPIV3_1.PathItemObject>;
}

const AUDIT_DESCRIPTION =
  'The audit log has a new entry, which is in `data` as `GET /audit/{id}` returns it. The kind has the action in its name: `audit.member_deleted` of `member.deleted`.';

/** Returns the names of the bodies of a kind: Postroom's own, and that of the `resend` client. */
function componentsFor(kind: string): string[] {
  if (kind === 'email.received') return ['WebhookEmailReceived', 'WebhookResendReceived'];
  return ['WebhookEvent', kind.startsWith('email.') ? 'WebhookResendEmail' : 'WebhookResendEvent'];
}
