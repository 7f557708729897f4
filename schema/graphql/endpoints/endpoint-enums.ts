import { builder } from '../builder.ts';

export const EndpointTypeEnum = builder.enumType('EndpointType', {
  description: 'The types of endpoints.',
  values: {
    WEBHOOK: { value: 'webhook', description: 'WebhookEndpoint.' },
    EMAIL: { value: 'email', description: 'EmailEndpoint.' },
    EMAIL_GROUP: { value: 'email_group', description: 'EmailGroupEndpoint.' },
  } as const,
});

export const WebhookFormat = builder.enumType('WebhookFormat', {
  description: 'What a webhook is sent of a mail.',
  values: {
    NATIVE: { value: 'native', description: 'The whole mail as JSON, for a program.' },
    CHAT_A: { value: 'chat_a', description: 'A message for a Discord channel.' },
    CHAT_B: { value: 'chat_b', description: 'A message for a Slack channel.' },
  } as const,
});

export const WebhookPayload = builder.enumType('WebhookPayload', {
  description: 'The form of the JSON that a webhook of format NATIVE is sent.',
  values: {
    NESTED: {
      value: 'nested',
      description: 'The email within an object that tells of the event and the endpoint, too.',
    },
    FLAT: { value: 'flat', description: 'The email alone.' },
  } as const,
});

export const SignatureScheme = builder.enumType('SignatureScheme', {
  description: 'What X-Service-Signature holds. The signatures of Standard Webhooks are sent in any case.',
  values: {
    TOKEN: { value: 'token', description: 'The verification token itself.' },
    HMAC: { value: 'hmac', description: 'An HMAC of the body, keyed with the verification token.' },
  } as const,
});

export const AttachmentMode = builder.enumType('AttachmentMode', {
  description: 'How a webhook is sent attachments.',
  values: {
    CONTENT: { value: 'content', description: 'With their content, while the payload has room for it, and a link.' },
    LINK: { value: 'link', description: 'With a link alone.' },
  } as const,
});
