import type { SendPolicy } from '../sending/send-policy.ts';
import type { KeyRights, Reach, Scope } from './key-rights.ts';
import { hasRight, type Right } from './rights.ts';

/** What a person can allow a client, from the least to the most. The scopes of OAuth have the same names. */
export const GRANT_LEVELS = ['read', 'send', 'everything'] as const;
export type GrantLevel = (typeof GRANT_LEVELS)[number];

interface LevelRule {
  /** of the API key that the grant is */
  scopes: readonly Scope[] | null;
  policy: SendPolicy | null;
  /** what a person needs to allow it */
  right: Right;
}

const LEVELS: Readonly<Record<GrantLevel, LevelRule>> = {
  read: { scopes: ['read'], policy: null, right: 'read' },
  send: { scopes: ['read', 'send'], policy: { approval: 'always' }, right: 'send' },
  everything: { scopes: null, policy: null, right: 'organize' },
};

/**
 * Returns the levels that a person can allow. Those who are limited to domains or addresses cannot allow `everything`, because that affects the
 * whole workspace.
 */
export function allowedLevels(rights: KeyRights): GrantLevel[] {
  return GRANT_LEVELS.filter(
    (level) => hasRight(rights, LEVELS[level].right) && (level !== 'everything' || rights.reach === null),
  );
}

/** Returns the highest level that a scope parameter (RFC 6749 §3.3) names; null when it names none. */
export function requestedLevel(scope: string | null): GrantLevel | null {
  const named = new Set(scope?.split(' '));
  return GRANT_LEVELS.findLast((level) => named.has(level)) ?? null;
}

/** What a person decided about a code: the rights of the key that it becomes. */
export interface CodeTerms {
  level: GrantLevel;
  scopes: readonly Scope[] | null;
  policy: SendPolicy | null;
  reach: Reach | null;
  /** what the person could do in the workspace; the code is void when it changes */
  role: string;
  domain_ids: readonly string[] | null;
  addresses: readonly string[] | null;
}

/** Returns the terms of a level for a person with these rights, for the mail of `reach`. */
export function makeTerms(level: GrantLevel, reach: Reach | null, { role, reach: own }: KeyRights): CodeTerms {
  const { scopes, policy } = LEVELS[level];
  return {
    level,
    scopes,
    policy,
    reach,
    role: role ?? '',
    domain_ids: own === null ? null : own.domains.map(({ id }) => id),
    addresses: own === null ? null : own.addresses,
  };
}
