import { defineEntity, p } from '@mikro-orm/core';

/** A domain that a user has claimed; see db/migrations for its invariants. */
export const DomainSchema = defineEntity({
  name: 'Domain',
  tableName: 'domain',
  properties: {
    userId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    status: p.enum(['pending', 'verified', 'failed'] as const).default('pending'),
    isTrusted: p.boolean().default(false),
    verifiedAt: p.datetime(3).nullable(),
    isCatchAllEnabled: p.boolean().default(false),
    catchAllEndpointId: p.text().nullable(),
    receiveDmarcEmails: p.boolean().default(false),
    parentId: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class Domain extends DomainSchema.class {}
DomainSchema.setClass(Domain);
