import { UserError } from '../shared/errors.ts';
import { INSUFFICIENT_ROLE, type KeyRights, SCOPES_OF_LIMITED_KEYS, type Scope, scopeMissing } from './key-rights.ts';
import { isAtLeast, ROLES, type Role } from './roles.ts';

/** Who has a right. */
interface RightRule {
  /** the role with the fewest rights that has it */
  role: Role;
  /** the scope of API keys that contains it */
  scope: Scope;
  /** whether a member who is an approver has it in any role */
  isOfApprovers?: true;
  /** whether what it shows is not shown to those who only have `requests`, so that the log of requests keeps it from them */
  isConfidential?: true;
  /** whether browser tokens never have it, whatever their scopes */
  isOfPrograms?: true;
}

/**
 * The table of rights: which roles of members and which scope of API keys has each. Every route, field and tool declares the right that it
 * needs (ACCESS below). A key that a member created has no right that the member's role lacks.
 */
export const RIGHTS = {
  /** see mail, settings and everything else that has no right of its own */
  read: { role: 'viewer', scope: 'read' },
  /** send, reply, schedule, cancel and retry */
  send: { role: 'agent', scope: 'send' },
  /** assign, mark, label, archive and trash mail, and write notes */
  organize: { role: 'agent', scope: 'manage', isConfidential: true },
  /** see the notes in threads */
  notes: { role: 'viewer', scope: 'manage', isConfidential: true },
  /** decide about mail that waits for approval */
  approve: { role: 'admin', scope: 'approve', isOfApprovers: true },
  /** API keys */
  keys: { role: 'developer', scope: 'manage' },
  /** endpoints, their deliveries, and simulated mail */
  endpoints: { role: 'developer', scope: 'manage' },
  /** the log of API requests */
  requests: { role: 'developer', scope: 'read', isOfPrograms: true },
  /** domains, addresses and their routes */
  domains: { role: 'admin', scope: 'manage' },
  /** guard rules and suppressions */
  policies: { role: 'admin', scope: 'manage' },
  /** how long mail is kept */
  retention: { role: 'admin', scope: 'manage' },
  /** import mail, and parse stored mail again */
  imports: { role: 'admin', scope: 'manage' },
  /** delete mail forever */
  remove: { role: 'admin', scope: 'manage' },
  /** members, invitations and the name of the workspace */
  members: { role: 'admin', scope: 'manage', isConfidential: true },
  /** who changed what */
  audit: { role: 'admin', scope: 'manage', isConfidential: true },
  /** everything of the workspace as one file */
  export: { role: 'owner', scope: 'manage', isConfidential: true },
  /** transfer the workspace to another owner */
  ownership: { role: 'owner', scope: 'manage', isConfidential: true },
  /** workspaces for customers */
  workspaces: { role: 'owner', scope: 'workspaces', isConfidential: true },
  /** close the workspace */
  erasure: { role: 'owner', scope: 'manage' },
} as const satisfies Readonly<Record<string, RightRule>>;
export type Right = keyof typeof RIGHTS;

/** What an operation needs. */
export interface RightAccess {
  right: Right;
  /** what it needs beside that: `read` where the result shows a stored email, or takes it elsewhere */
  also?: Right;
  /** whether the operation can be limited to domains and addresses, so that limited keys and members may use it */
  isOfDomain: boolean;
}

const account = <Name extends Right>(right: Name) => ({ right, isOfDomain: false }) as const;

/**
 * What operations declare, by name. Keys of single domains or addresses read everything that belongs to these. Other changes are of what belongs to the
 * workspace as a whole, such as endpoints, which they may not make; `…Account` marks them where the right does not say it.
 */
export const ACCESS = {
  read: { right: 'read', isOfDomain: true },
  readAccount: account('read'),
  send: { right: 'send', isOfDomain: true },
  sendAndRead: { right: 'send', also: 'read', isOfDomain: true },
  sendAccount: account('send'),
  sendAndReadAccount: { right: 'send', also: 'read', isOfDomain: false },
  organize: { right: 'organize', isOfDomain: true },
  organizeAccount: account('organize'),
  notes: { right: 'notes', isOfDomain: true },
  approve: account('approve'),
  keys: account('keys'),
  endpoints: account('endpoints'),
  endpointsAndRead: { right: 'endpoints', also: 'read', isOfDomain: false },
  requests: { right: 'requests', isOfDomain: true },
  domains: account('domains'),
  policies: account('policies'),
  policiesAndRead: { right: 'policies', also: 'read', isOfDomain: false },
  retention: account('retention'),
  imports: account('imports'),
  importsAndRead: { right: 'imports', also: 'read', isOfDomain: false },
  remove: account('remove'),
  members: account('members'),
  audit: account('audit'),
  export: account('export'),
  ownership: account('ownership'),
  workspaces: account('workspaces'),
  erasure: account('erasure'),
} as const satisfies Readonly<Record<string, RightAccess>>;
export type AccessName = keyof typeof ACCESS;

/** Returns all rights that an operation needs, the particular one first. */
export function listNeeded({ right, also }: RightAccess): readonly Right[] {
  return also === undefined ? [right] : [right, also];
}

/** Returns the scopes that a key needs for all of these rights, once each. */
export function listScopes(rights: readonly Right[]): Scope[] {
  return [...new Set(rights.map((right): Scope => RIGHTS[right].scope))];
}

/**
 * Returns the sentences, after a space, that say what an operation needs; empty if it needs nothing. `cases` has the rights of each thing that
 * it does, by words that name the thing; the words of the only thing are empty.
 */
export function describeNeeded(cases: Readonly<Record<string, readonly Right[]>>, isOfDomain: boolean): string {
  const needed = Object.entries(cases).filter(([, rights]) => rights.length > 0);
  if (needed.length === 0) return '';
  const words = needed.map(([when, rights]) => `${describeRights(rights)}${when === '' ? '' : ` ${when}`}`);
  const isOfLimitedScopes = needed.every(([, rights]) =>
    listScopes(rights).every((scope) => SCOPES_OF_LIMITED_KEYS.includes(scope)),
  );
  const unlimited = isOfDomain || !isOfLimitedScopes ? '' : ' A key of single domains or addresses cannot use it.';
  return ` Needs ${words.join('; ')}.${unlimited}`;
}

function describeRights(rights: readonly Right[]): string {
  const scopes = listScopes(rights).map((scope) => `\`${scope}\``);
  const role = ROLES.find((each) => rights.some((right) => RIGHTS[right].role === each)) ?? 'viewer';
  const rules: readonly RightRule[] = rights.map((right) => RIGHTS[right]);
  const above = role === 'owner' ? '' : ' or above';
  const beside = rules.every(({ isOfApprovers }) => isOfApprovers === true) ? ' (or an approver)' : '';
  const roles = role === 'viewer' ? '' : ` and the role \`${role}\`${above}${beside}`;
  return `the ${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(' and ')}${roles}`;
}

/** Returns whether a member who is limited to domains or addresses can use a right at all. */
export function isLimitableRight(right: Right): boolean {
  return Object.values(ACCESS).some((access) => access.right === right && access.isOfDomain);
}

/** Returns whether a role, without being an approver, has a right. */
export function hasRoleRight(role: Role, right: Right): boolean {
  return isAtLeast(role, RIGHTS[right].role);
}

/** Returns whether a request has a right: its key by the scopes, its member, or the member who created its key, by the role. */
export function hasRight({ scopes, role, isApprover, isOfPage }: KeyRights, right: Right): boolean {
  const rule: RightRule = RIGHTS[right];
  if (isOfPage === true && rule.isOfPrograms === true) return false;
  if (scopes !== null && !scopes.includes(rule.scope)) return false;
  return role === null || isAtLeast(role, rule.role) || (rule.isOfApprovers === true && isApprover);
}

/** Returns those of the rights whose requests are shown in the log only to those who have them, in order and once each. */
export function listConfidential(rights: readonly Right[]): Right[] {
  return (Object.keys(RIGHTS) as Right[]).filter((right) => {
    const rule: RightRule = RIGHTS[right];
    return rule.isConfidential === true && rights.includes(right);
  });
}

/** Returns whether nothing is forbidden with these rights. */
export function isUnrestricted({ scopes, role, reach }: KeyRights): boolean {
  return scopes === null && reach === null && (role === null || role === 'owner');
}

/** Throws forbidden for the first right that is missing. `what` is the subject of its sentence. */
export function requireRights(rights: KeyRights, what: string, needed: readonly Right[]): void {
  for (const right of needed) if (!hasRight(rights, right)) throw rightMissing(what, right, rights);
}

/** Returns the error for a missing right. `what` is the subject of its sentence. */
export function rightMissing(what: string, right: Right, rights: KeyRights): UserError {
  const { scopes, role, keyId, isOfPage } = rights;
  const rule: RightRule = RIGHTS[right];
  if (isOfPage === true && rule.isOfPrograms === true)
    return new UserError('forbidden', `${what} needs an API key. A browser token reads and sends mail only.`, {
      title: 'Forbidden',
      reason: 'API_KEY_REQUIRED',
      members: { requiredRight: right },
    });
  if (role === null || (scopes !== null && !scopes.includes(rule.scope))) return scopeMissing(what, rule.scope, rights);
  const having = ROLES.filter((each) => isAtLeast(each, rule.role));
  const who = `${having.length === 1 ? 'the role' : 'one of the roles'} ${having.join(', ')}`;
  const beside = rule.isOfApprovers === true ? ', or an approver' : '';
  const subject = keyId === null ? 'Your role' : 'The role of the member who created this API key';
  return new UserError('forbidden', `${what} needs ${who}${beside}. ${subject} is ${role}.`, {
    title: 'Forbidden',
    reason: INSUFFICIENT_ROLE,
    members: { requiredRight: right, role },
  });
}
