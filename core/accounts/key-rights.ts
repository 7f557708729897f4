import { UserError } from '../shared/errors.ts';

/** What a key may be good for: to read; to send, and to change what is about to be sent; to change everything else. */
export const SCOPES = ['read', 'send', 'manage'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a request may do by what it was let in with. */
export interface KeyRights {
  /** null: it was let in by something else than a key */
  keyId: string | null;
  /** in the order of SCOPES, at least one; null: full rights, whatever scopes there will be */
  scopes: readonly Scope[] | null;
  /** the one domain of the user that it reaches; null: all */
  domain: { id: string; name: string } | null;
}

/** What a new key is to be good for; as KeyRights. */
export interface RequestedRights {
  scopes: readonly Scope[] | null;
  domainId: string | null;
}

/** Of a session, and of a signed link. */
export const FULL_RIGHTS: KeyRights = { keyId: null, scopes: null, domain: null };
/** Of what was let in by nothing. */
export const NO_RIGHTS: KeyRights = { keyId: null, scopes: [], domain: null };

/** The reasons (`code` of the wire) of the errors below; the first is RFC 6750 §3.1. */
export const INSUFFICIENT_SCOPE = 'insufficient_scope';
export const LIMITED_TO_DOMAIN = 'limited_to_domain';

/** What keys of one domain can be good for: everything else reaches beyond a domain. */
export const SCOPES_OF_DOMAIN_KEYS: readonly Scope[] = ['read', 'send'];

export function hasScope({ scopes }: Pick<KeyRights, 'scopes'>, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope);
}

/** Whether whoever has the rights may hand out the wished ones. All scopes by name are less than full rights. */
export function isWithin({ scopes, domain }: KeyRights, wished: RequestedRights): boolean {
  if (domain !== null && wished.domainId !== domain.id) return false;
  if (scopes === null) return true;
  return wished.scopes?.every((scope) => scopes.includes(scope)) ?? false;
}

/** `what` is what was asked for, as the subject of a sentence. */
export function scopeMissing(what: string, scope: Scope, { scopes }: KeyRights): UserError {
  const message = `${what} needs the scope ${scope}. This API key has ${scopesInWords(scopes)}.`;
  return new UserError('forbidden', message, {
    title: 'Forbidden',
    reason: INSUFFICIENT_SCOPE,
    members: { requiredScope: scope, scopes: scopes ?? SCOPES },
  });
}

/** Of what cannot be limited to one domain. `what` is what was asked for, as the subject of a sentence. */
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

/** As `read and send`. */
export function scopesInWords(scopes: readonly Scope[] | null): string {
  if (scopes === null) return 'full rights';
  const last = scopes.at(-1) ?? 'none';
  return scopes.length < 2 ? `${last} only` : `${scopes.slice(0, -1).join(', ')} and ${last} only`;
}
