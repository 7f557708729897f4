import { builder } from '../builder.ts';

export const EndpointTypeEnum = builder.enumType('EndpointType', {
  description: 'Type of an endpoint.',
  values: {
    WEBHOOK: { value: 'webhook', description: 'A WebhookEndpoint.' },
    EMAIL: { value: 'email', description: 'An EmailEndpoint.' },
    EMAIL_GROUP: { value: 'email_group', description: 'An EmailGroupEndpoint.' },
  } as const,
});

export const WebhookFormat = builder.enumType('WebhookFormat', {
  description: 'Format of webhook requests.',
  values: {
    NATIVE: { value: 'native', description: 'The whole email as JSON, for programs.' },
    CHAT_A: { value: 'chat_a', description: 'A message for a Discord channel.' },
    CHAT_B: { value: 'chat_b', description: 'A message for a Slack channel.' },
  } as const,
});

export const WebhookPayload = builder.enumType('WebhookPayload', {
  description: 'Structure of the JSON of webhooks with format NATIVE.',
  values: {
    NESTED: {
      value: 'nested',
      description: 'An object with the event, the endpoint and the email.',
    },
    FLAT: { value: 'flat', description: 'The email only.' },
  } as const,
});

export const SignatureScheme = builder.enumType('SignatureScheme', {
  description: 'Value of the X-Service-Signature header. Standard Webhooks signatures are always sent as well.',
  values: {
    TOKEN: { value: 'token', description: 'The verification token.' },
    HMAC: { value: 'hmac', description: 'An HMAC of the body, using the verification token as key.' },
  } as const,
});

export const AttachmentMode = builder.enumType('AttachmentMode', {
  description: 'How webhook requests include attachments.',
  values: {
    CONTENT: { value: 'content', description: 'As content, if the payload has room for it, and as a link.' },
    LINK: { value: 'link', description: 'As a link only.' },
  } as const,
});
