/** Who makes a change, as the audit log has it: a person with a session, an API key, a signed link, or the service. */
export const AUDIT_ACTORS = ['person', 'key', 'link', 'system'] as const;
export type AuditActor = (typeof AUDIT_ACTORS)[number];

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
