import { z } from 'zod';
import { AUDIT_ACTORS } from '../../core/accounts/audit.ts';
import { named } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineList, defineRead, defineResource } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import * as log from './audit-log.ts';

const actorKind = oneOf(AUDIT_ACTORS, {
  name: 'AuditActorKind',
  description: 'Who makes a change.',
  values: {
    person: 'A person who is signed in.',
    key: 'An API key.',
    link: 'A signed link.',
    system: 'The service itself, or a program of the operator.',
  },
});
const fields = named(z.record(z.string(), z.unknown()).nullable(), { graphqlType: 'JSON' });
const string = z.string().nullable();

export const auditFilter = z.object({
  actorKind: actorKind.optional().meta({ description: 'Who made the change.' }),
  actor: text.optional().meta({ description: 'ID of the person or API key, or its name at that time.' }),
  action: text.optional().meta({
    description: 'An action such as `endpoint.updated`, or a kind of object for all actions on it.',
  }),
  objectKind: text.optional().meta({ description: 'Kind of the object, such as `endpoint`.' }),
  objectId: named(text.optional(), { graphqlType: 'ID' }).meta({ description: 'ID of the object.' }),
  isDenied: z.boolean().optional().meta({ description: 'Whether the request was refused.' }),
  since: z.date().optional().meta({ description: 'Entries at or after this time.' }),
  until: z.date().optional().meta({ description: 'Entries before this time.' }),
});

export const auditResource = defineResource<log.AuditEntry>()({
  name: 'AuditEntry',
  noun: 'audit entry',
  objectName: 'audit_entry',
  identifier: 'auditEntry',
  description:
    'A change of the account, a sign-in, or a refused request, with who made it. Entries cannot be changed or deleted.',
  isOfDomain: false,
  shape: z.object({
    actorKind: actorKind.meta({ description: 'Who made the change.' }),
    actorId: named(string, { graphqlType: 'ID' }).meta({
      description: 'ID of the person or the API key. Null for links, the system, and failed sign-ins.',
    }),
    actorName: string.meta({
      description: 'Email address of the person, or name of the API key, at that time. For the system: its process.',
    }),
    clientAddress: string.meta({ description: 'IP address of the client. Null for the system.' }),
    userAgent: string.meta({ description: 'The User-Agent header of the client, up to 300 characters.' }),
    requestId: named(string, { graphqlType: 'String' }).meta({
      description: 'Value of the X-Request-Id header of the response. All changes of one request share it.',
    }),
    action: z.string().meta({
      description: 'The kind of the object, a dot, and what was done, such as `endpoint.updated` or `session.created`.',
    }),
    objectKind: z.string().meta({ description: 'Kind of the object, such as `endpoint`.' }),
    objectId: named(string, { graphqlType: 'ID' }).meta({ description: 'ID of the object. It may no longer exist.' }),
    objectName: string.meta({ description: 'Name of the object at that time.' }),
    before: fields.meta({
      description: 'Changed fields before the change. Secrets are redacted. Null if the object was created.',
    }),
    after: fields.meta({
      description: 'Changed fields after the change. Secrets are redacted. Null if the object was deleted.',
    }),
    isDenied: z.boolean().meta({ description: 'Whether the request was refused.' }),
    reason: string.meta({ description: 'Why it was refused. Null if it was allowed.' }),
    times: z.number().int().meta({
      description: 'How often the same was refused or read within a few minutes. 1 for changes.',
    }),
    createdAt: z.date().meta({ description: 'When it happened. Of several times: the last.' }),
  }),
  computed: {},
  load: log.loadAuditEntries,
});

export const auditCapability: Capability = {
  feature: 'Account',
  what: 'Audit log',
  byHand: { rest: ['exportAuditLog'] },
  difference: 'The export as a file is REST only',
  tag: 'Audit',
  path: '/audit',
  restCase: 'snake',
  resource: auditResource,
  operations: [
    defineList({
      access: 'audit',
      operationId: 'listAuditEntries',
      field: 'auditEntries',
      summary: 'List audit entries',
      description: `Returns the audit log, newest first. The total counts up to ${log.MAX_COUNTED_ENTRIES.toLocaleString('en')}; pass \`until\` to see what is older.`,
      filter: auditFilter,
      isPagedByItem: false,
      page: log.pageAuditEntries,
      count: log.countAuditEntries,
      list: log.listAuditEntries,
    }),
    defineRead({
      access: 'audit',
      operationId: 'getAuditEntry',
      field: 'auditEntry',
      summary: 'Retrieve an audit entry',
      description: 'Returns an entry of the audit log.',
      target: { argument: 'id', argumentDescription: 'ID of the entry.' },
      read: log.readAuditEntry,
    }),
  ],
};
