/** Who makes a change, as the audit log has it: a person with a session, an API key, a signed link, or the service. */
export const AUDIT_ACTORS = ['person', 'key', 'link', 'system'] as const;
export type AuditActor = (typeof AUDIT_ACTORS)[number];

/** What the audit log records, by kind of object: its actions. Triggers write most of them (db/migrations/0001-initial/audit.sql). */
const AUDITED = {
  account: ['exported'],
  api_key: ['created', 'updated', 'revoked', 'deleted'],
  approval: ['updated', 'approved', 'rejected', 'cancelled', 'expired'],
  audit: ['exported'],
  customer_workspace: ['created', 'updated', 'suspended', 'resumed', 'erased', 'key_created'],
  dkim_key: ['created', 'updated', 'deleted'],
  domain: ['created', 'updated', 'deleted'],
  email: ['read'],
  email_address: ['created', 'updated', 'deleted'],
  endpoint: ['created', 'updated', 'deleted'],
  guard_rule: ['created', 'updated', 'deleted'],
  image_sender: ['created', 'updated', 'deleted'],
  invitation: ['created', 'updated', 'accepted', 'revoked', 'deleted'],
  member: ['created', 'updated', 'deleted'],
  passkey: ['created', 'updated', 'deleted'],
  password: ['created', 'updated', 'deleted', 'denied'],
  person: ['created', 'updated'],
  reply_address: ['created', 'updated', 'revoked'],
  request: ['denied'],
  retention: ['updated', 'deleted'],
  scim_token: ['created', 'updated', 'deleted'],
  second_factor: ['created', 'updated', 'deleted'],
  session: ['created', 'deleted', 'denied'],
  single_sign_on: ['created', 'updated', 'deleted'],
  suppression: ['created', 'updated', 'deleted'],
  workspace: ['created', 'updated', 'erased'],
} as const;

/** An action of the audit log, such as `member.deleted`. */
export type AuditAction = {
  [Kind in keyof typeof AUDITED]: `${Kind}.${(typeof AUDITED)[Kind][number]}`;
}[keyof typeof AUDITED];

/** Every action of the audit log. */
export const AUDIT_ACTIONS = Object.entries(AUDITED).flatMap(([kind, actions]) =>
  actions.map((action) => `${kind}.${action}`),
) as AuditAction[];

/** Who makes a request, and from where. */
export interface Origin {
  kind: AuditActor;
  /** of the person or the key */
  id: string | null;
  /** IP address of the client */
  address: string | null;
  /** the User-Agent header, at most {@link MAX_AGENT_LENGTH} characters */
  agent: string | null;
  /** as in the header X-Request-Id */
  request: string | null;
}

/** Characters. */
const MAX_AGENT_LENGTH = 300;

/** How long entries are kept, unless AUDIT_DAYS says otherwise. */
export const DEFAULT_AUDIT_DAYS = 400;
export const MAX_AUDIT_DAYS = 36_500;

/** Returns the text as JSON of PostgreSQL can have it: without NUL and halves of surrogates, and not longer than an agent. */
export function auditText(text: string): string {
  return text.slice(0, MAX_AGENT_LENGTH).replaceAll('\0', '').toWellFormed();
}
