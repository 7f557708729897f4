import { defineEntity, p } from '@mikro-orm/core';
import type { AuditActor } from '../../core/accounts/audit.ts';

/** A change, a sign-in or a refused request. Triggers write entries (db/migrations/0001-initial/audit.sql); no role can change them. */
export const AuditEntrySchema = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    createdAt: p.datetime(3),
    actorKind: p.text().$type<AuditActor>(),
    /** of the person or the key */
    actorId: p.text().nullable(),
    /** address of the person or name of the key at that time; of the system: the process */
    actorName: p.text().nullable(),
    clientAddress: p.text().nullable(),
    userAgent: p.text().nullable(),
    /** as in the header X-Request-Id */
    requestId: p.text().nullable(),
    /** kind of the object and what became of it, such as `endpoint.updated` */
    action: p.text(),
    objectKind: p.text(),
    objectId: p.text().nullable(),
    /** at that time */
    objectName: p.text().nullable(),
    /** changed fields, without secrets; null: there are none */
    before: p.json<Record<string, unknown>>().nullable(),
    after: p.json<Record<string, unknown>>().nullable(),
    isDenied: p.boolean().default(false),
    /** why it was denied */
    reason: p.text().nullable(),
    /** how often the same was refused or read within a few minutes */
    times: p.integer().default(1),
  },
  indexes: [
    { name: 'audit_entry_age', properties: ['createdAt'] },
    {
      name: 'audit_entry_list',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  checks: [
    {
      name: 'audit_entry_actor_kind_check',
      expression: `(actor_kind = ANY (ARRAY['person'::text, 'key'::text, 'link'::text, 'system'::text]))`,
    },
    { name: 'audit_entry_times_check', expression: '(times > 0)' },
  ],
});
