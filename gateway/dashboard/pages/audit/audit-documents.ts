import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts';

export const AUDIT_LOG = graphql(`
  query DashboardAuditLog($first: Int!, $after: String, $filter: AuditEntryFilter) {
    auditEntries(first: $first, after: $after, filter: $filter) {
      edges {
        node {
          id actorKind actorId actorName clientAddress userAgent requestId action objectKind objectId objectName before after
          isDenied reason times createdAt
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

export type AuditFilter = NonNullable<VariablesOf<typeof AUDIT_LOG>['filter']>;

/** An entry in the list. */
export type ShownEntry = ResultOf<typeof AUDIT_LOG>['auditEntries']['edges'][number]['node'];

export const ACTOR_KINDS = [
  { value: 'PERSON', label: 'People' },
  { value: 'KEY', label: 'API keys' },
  { value: 'SYSTEM', label: 'The service' },
] as const;

/** Kinds of objects, by their names in the log. */
export const OBJECT_KINDS = [
  { value: 'workspace', label: 'Workspace' },
  { value: 'account', label: 'Exports' },
  { value: 'member', label: 'Members' },
  { value: 'invitation', label: 'Invitations' },
  { value: 'person', label: 'People' },
  { value: 'session', label: 'Sign-ins' },
  { value: 'password', label: 'Passwords' },
  { value: 'passkey', label: 'Passkeys' },
  { value: 'api_key', label: 'API keys' },
  { value: 'domain', label: 'Domains' },
  { value: 'dkim_key', label: 'DKIM keys' },
  { value: 'email_address', label: 'Addresses' },
  { value: 'reply_address', label: 'Reply addresses' },
  { value: 'endpoint', label: 'Endpoints' },
  { value: 'guard_rule', label: 'Guard rules' },
  { value: 'suppression', label: 'Suppressions' },
  { value: 'image_sender', label: 'Image senders' },
  { value: 'approval', label: 'Approvals' },
  { value: 'retention', label: 'Retention' },
  { value: 'audit', label: 'Exports of the log' },
  { value: 'request', label: 'Refused requests' },
] as const;

/** Returns who made a change, for a person. */
export function nameActor({ actorKind, actorName }: Pick<ShownEntry, 'actorKind' | 'actorName'>): string {
  if (actorKind === 'SYSTEM') return 'The service';
  if (actorKind === 'LINK') return 'A signed link';
  return actorName ?? 'Unknown';
}
