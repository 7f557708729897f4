import { defineEntity, p } from '@mikro-orm/core';

/** An address of a user's domain; see db/migrations for its invariants. */
export const EmailAddressSchema = defineEntity({
  name: 'EmailAddress',
  tableName: 'email_address',
  properties: {
    userId: p.text().primary(),
    id: p.text().primary(),
    domainId: p.text(),
    address: p.text(),
    endpointId: p.text().nullable(),
    webhookId: p.text().nullable(),
    isActive: p.boolean().default(true),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class EmailAddress extends EmailAddressSchema.class {}
EmailAddressSchema.setClass(EmailAddress);
