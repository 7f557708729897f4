import { oneOf } from '../shared/vocabulary.ts';

/** The roles of members of a workspace. Each has all rights of those after it. */
export const ROLES = ['owner', 'admin', 'developer', 'agent', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that an invitation or a change of a member gives: a workspace has exactly one owner, who changes by a transfer. */
export const INVITED_ROLES = ['admin', 'developer', 'agent', 'viewer'] as const satisfies readonly Role[];
export type InvitedRole = (typeof INVITED_ROLES)[number];

/** The roles that can be limited to domains and addresses. */
export const LIMITABLE_ROLES: readonly Role[] = ['agent', 'viewer'];

export const role = oneOf(ROLES, {
  name: 'Role',
  description: 'What a member of a workspace may do. Each role has all rights of those after it.',
  values: {
    owner: 'Everything, including closing the workspace. A workspace has one owner.',
    admin: 'Members, domains, policies and retention.',
    developer: 'API keys, endpoints and logged requests.',
    agent: 'Reads, sends and organizes mail.',
    viewer: 'Reads mail.',
  },
});

/** Returns whether a role has all rights of another. */
export function isAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(least);
}
