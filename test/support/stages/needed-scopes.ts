import { SCOPES_OF_LIMITED_KEYS, type Scope } from '../../../core/accounts/key-rights.ts';
import { RIGHTS } from '../../../core/accounts/rights.ts';
import type { RouteAccess } from '../../../gateway/admission/access.ts';

/** Returns the scopes that a key needs for an access: all of them, or where the request decides, one. */
export function neededScopes(access: Pick<RouteAccess, 'rights'> | null): readonly Scope[] {
  const rights = access?.rights ?? [];
  return ('oneOf' in rights ? rights.oneOf : rights).map((right): Scope => RIGHTS[right].scope);
}

/** Returns whether keys of single domains or addresses can use what has this access. */
export function isOfLimitedKeys(access: RouteAccess | null | undefined): boolean {
  return access?.isOfDomain === true && neededScopes(access).some((scope) => SCOPES_OF_LIMITED_KEYS.includes(scope));
}
