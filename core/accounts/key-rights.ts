import { UserError } from '../shared/errors.ts';
import type { Role } from './roles.ts';

/** Scopes of API keys: to read; to send, and change mail that is not sent yet; to change everything else; to approve mail that others send. */
export const SCOPES = ['read', 'send', 'manage', 'approve'] as const;
export type Scope = (typeof SCOPES)[number];

/** The rights of a request. */
export interface KeyRights {
  /** null: authenticated without a key */
  keyId: string | null;
  /** the person whose session it is, or who created the key or the first key of its family; null: none */
  personId: string | null;
  /** of the person in the workspace now, see rights.ts; null: none, nothing is limited by a role */
  role: Role | null;
  /** whether the person approves mail in any role */
  isApprover: boolean;
  /** in the order of SCOPES, at least one; null: full rights, including scopes of later versions */
  scopes: readonly Scope[] | null;
  /** the only domain it may access; null: all */
  domain: { id: string; name: string } | null;
}

/** The rights of another key; see KeyRights. */
export interface RequestedRights {
  scopes: readonly Scope[] | null;
  domainId: string | null;
}

const NO_PERSON = { keyId: null, personId: null, role: null, isApprover: true } as const;

/** Rights of a signed link, and of the service itself. */
export const FULL_RIGHTS: KeyRights = { ...NO_PERSON, scopes: null, domain: null };
/** Rights of what is shown to an endpoint. */
export const READER_RIGHTS: KeyRights = { ...NO_PERSON, scopes: ['read'], domain: null };
/** Rights of a request without authentication. */
export const NO_RIGHTS: KeyRights = { ...NO_PERSON, scopes: [], domain: null };

/** The reasons (`code` on the wire) of the errors below; the first is from RFC 6750 §3.1. */
export const INSUFFICIENT_SCOPE = 'insufficient_scope';
export const INSUFFICIENT_ROLE = 'insufficient_role';
export const LIMITED_TO_DOMAIN = 'limited_to_domain';

/**
 * Scopes that a key for one domain, or with a send policy, may have: everything else affects more than a domain, or would let the key evade
 * its policy.
 */
export const SCOPES_OF_LIMITED_KEYS: readonly Scope[] = ['read', 'send'];

export function hasScope({ scopes }: Pick<KeyRights, 'scopes'>, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope);
}

/** Returns whether a key with these rights may grant the requested ones. A list of all scopes is less than full rights. */
export function isWithin({ scopes, domain }: KeyRights, requested: RequestedRights): boolean {
  if (domain !== null && requested.domainId !== domain.id) return false;
  if (scopes === null) return true;
  return requested.scopes?.every((scope) => scopes.includes(scope)) ?? false;
}

/** Returns the error for a missing scope. `what` is the subject of its sentence. */
export function scopeMissing(what: string, scope: Scope, { scopes }: KeyRights): UserError {
  const message = `${what} needs the scope ${scope}. This API key has ${scopesInWords(scopes)}.`;
  return new UserError('forbidden', message, {
    title: 'Forbidden',
    reason: INSUFFICIENT_SCOPE,
    members: { requiredScope: scope, scopes: scopes ?? SCOPES },
  });
}

/** Returns the error for an operation that affects more than the key's domain. `what` is the subject of its sentence. */
export function domainExceeded(
  what: string,
  { domain }: { domain: { name: string } | null },
  cause?: unknown,
): UserError {
  const message = `${what} cannot be limited to one domain, and this API key is limited to ${domain?.name ?? 'one'}.`;
  return new UserError('forbidden', message, {
    title: 'Forbidden',
    reason: LIMITED_TO_DOMAIN,
    members: { domain: domain?.name ?? null },
    cause,
  });
}

/** Returns for example `read and send only`. */
export function scopesInWords(scopes: readonly Scope[] | null): string {
  if (scopes === null) return 'full rights';
  const last = scopes.at(-1) ?? 'none';
  return scopes.length < 2 ? `${last} only` : `${scopes.slice(0, -1).join(', ')} and ${last} only`;
}
