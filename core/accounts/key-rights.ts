import { UserError } from '../shared/errors.ts';
import type { Role } from './roles.ts';

/**
 * Scopes of API keys: to read; to send, and change mail that is not sent yet; to change everything else; to approve mail that others send; to
 * keep workspaces for customers.
 */
export const SCOPES = ['read', 'send', 'manage', 'approve', 'workspaces'] as const;
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
  /** the only mail it may access; null: that of the whole account */
  reach: Reach | null;
  /** whether the workspace may have quotas; false: it has none */
  mayHaveQuotas: boolean;
  /** whether it is for a page that shows mail: its reader must not learn about the workspace's programs */
  isOfPage?: true;
}

/** The mail of all addresses of some domains, and that of single addresses: at least one of them. */
export interface Reach {
  domains: readonly ReachedDomain[];
  /** in lower case, without plus-tag */
  addresses: readonly string[];
}

export interface ReachedDomain {
  id: string;
  /** canonical */
  name: string;
}

const NO_PERSON = { keyId: null, personId: null, role: null, isApprover: true, mayHaveQuotas: false } as const;

/** Rights of a signed link, and of the service itself. */
export const FULL_RIGHTS: KeyRights = { ...NO_PERSON, scopes: null, reach: null };
/** Rights of what is shown to an endpoint. */
export const READER_RIGHTS: KeyRights = { ...NO_PERSON, scopes: ['read'], reach: null };
/** Rights of a request without authentication. */
export const NO_RIGHTS: KeyRights = { ...NO_PERSON, scopes: [], reach: null };

/** The reasons (`code` on the wire) of the errors below; the first is from RFC 6750 §3.1. */
export const INSUFFICIENT_SCOPE = 'insufficient_scope';
export const INSUFFICIENT_ROLE = 'insufficient_role';
const LIMITED_TO_DOMAIN = 'limited_to_domain';
const LIMITED_TO_ADDRESS = 'limited_to_address';

/**
 * Scopes that a key of single domains or addresses, or with a send policy, may have: everything else affects more than these, or would let
 * the key evade its policy.
 */
export const SCOPES_OF_LIMITED_KEYS: readonly Scope[] = ['read', 'send'];

export function hasScope({ scopes }: Pick<KeyRights, 'scopes'>, scope: Scope): boolean {
  return scopes === null || scopes.includes(scope);
}

/** Returns whether a key with these rights may grant the requested ones. A list of all scopes is less than full rights. */
export function isWithin({ scopes, reach }: Rights, requested: Rights): boolean {
  if (!isReachWithin(requested.reach, reach)) return false;
  if (scopes === null) return true;
  return requested.scopes?.every((scope) => scopes.includes(scope)) ?? false;
}

/** Rights of whatever key. */
type Rights = Pick<KeyRights, 'scopes' | 'reach'>;

/** Returns whether all mail that `inner` covers is covered by `outer`; null covers all. */
export function isReachWithin(inner: Reach | null, outer: Reach | null): boolean {
  if (outer === null) return true;
  if (inner === null) return false;
  const ids = new Set(outer.domains.map(({ id }) => id));
  return inner.domains.every(({ id }) => ids.has(id)) && inner.addresses.every((address) => isReached(outer, address));
}

/** Returns whether a reach covers the mail of an address. */
export function isReached({ domains, addresses }: Reach, address: string): boolean {
  const own = address.toLowerCase();
  return addresses.includes(own) || domains.some(({ name }) => name === domainPart(own));
}

/** Returns the reach without the addresses that its domains cover. */
export function withoutCovered({ domains, addresses }: Reach): Reach {
  const names = new Set(domains.map(({ name }) => name));
  return { domains, addresses: addresses.filter((address) => !names.has(domainPart(address))) };
}

const domainPart = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/** Returns for example `a.example and help@b.example`. Shows at most five names. */
export function reachInWords({ domains, addresses }: Reach): string {
  const names = [...domains.map(({ name }) => name), ...addresses];
  const more = names.length - MAX_NAMES;
  const shown = more > 1 ? [...names.slice(0, MAX_NAMES), `${more} more`] : names;
  const last = shown.at(-1) ?? 'nothing';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
}

/** Names in the text of an error. */
const MAX_NAMES = 5;

/** Returns the error for a missing scope. `what` is the subject of its sentence. */
export function scopeMissing(what: string, scope: Scope, { scopes }: KeyRights): UserError {
  const message = `${what} needs the scope ${scope}. This API key has ${scopesInWords(scopes)}.`;
  return new UserError('forbidden', message, {
    title: 'Forbidden',
    reason: INSUFFICIENT_SCOPE,
    members: { requiredScope: scope, scopes: scopes ?? SCOPES },
  });
}

/**
 * Returns the error for an operation that affects more than the key's domains and addresses. `what` is the subject of its sentence. Without a
 * reach, the error does not name it.
 */
export function reachExceeded(what: string, { reach }: Pick<KeyRights, 'reach'>, cause?: unknown): UserError {
  const isOfDomain = reach === null || (reach.addresses.length === 0 && reach.domains.length < 2);
  const extent = isOfDomain ? 'one domain' : 'domains or addresses';
  const limit = reach === null ? 'one' : reachInWords(reach);
  const message = `${what} cannot be limited to ${extent}, and this API key is limited to ${limit}.`;
  return new UserError('forbidden', message, { title: 'Forbidden', ...limitDetails(reach), cause });
}

/** Returns the reason and members of an error of a key that has this reach. */
export function limitDetails(reach: Reach | null) {
  const names = reach?.domains.map(({ name }) => name) ?? [];
  const addresses = reach?.addresses ?? [];
  return {
    reason: addresses.length === 0 ? LIMITED_TO_DOMAIN : LIMITED_TO_ADDRESS,
    members: { domain: names.length === 1 && addresses.length === 0 ? names[0] : null, domains: names, addresses },
  };
}

/** Returns for example `read and send only`. */
export function scopesInWords(scopes: readonly Scope[] | null): string {
  if (scopes === null) return 'full rights';
  const last = scopes.at(-1) ?? 'none';
  return scopes.length < 2 ? `${last} only` : `${scopes.slice(0, -1).join(', ')} and ${last} only`;
}
