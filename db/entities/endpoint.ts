import { defineEntity, p } from '@mikro-orm/core';

/** Where received mail goes; see db/migrations for its invariants and core/endpoints/endpoint-config.ts for `config`. */
export const EndpointSchema = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoint',
  properties: {
    userId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    type: p.enum(['webhook', 'email', 'email_group'] as const),
    webhookFormat: p.enum(['native', 'chat_a', 'chat_b'] as const).default('native'),
    config: p.json<Record<string, unknown>>(),
    secretCiphertext: p.text().nullable(),
    isActive: p.boolean().default(true),
    inactiveReason: p.text().nullable(),
    description: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class Endpoint extends EndpointSchema.class {}
EndpointSchema.setClass(Endpoint);
