import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FULL_RIGHTS, type KeyRights, SCOPES } from '../../../core/accounts/key-rights.ts';
import { ACCESS, hasRight, hasRoleRight, isUnrestricted, RIGHTS, type Right } from '../../../core/accounts/rights.ts';
import { ROLES } from '../../../core/accounts/roles.ts';
import { repository } from '../../support/runner.ts';

const rights = Object.keys(RIGHTS) as Right[];
const member = (given: Partial<KeyRights>): KeyRights => ({
  ...FULL_RIGHTS,
  personId: 'usr',
  isApprover: false,
  ...given,
});

test('docs/teams.md lists each right with the roles and the scope that have it', () => {
  const page = readFileSync(path.join(repository, 'docs/teams.md'), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => /^\| `\w+` \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const documented = rows.map(([, right, , ...cells]) => [
    right,
    cells.slice(0, ROLES.length).map(Boolean),
    cells[ROLES.length],
  ]);
  expect(documented).toEqual(
    rights.map((right) => [right, ROLES.map((role) => hasRoleRight(role, right)), RIGHTS[right].scope]),
  );
});

test('every right can be declared by an operation', () => {
  expect(new Set(Object.values(ACCESS).map(({ right }) => right))).toEqual(new Set(rights));
});

describe('a key that a member created', () => {
  test.each(ROLES)('has with the role %s only what both the role and its scopes have', (role) => {
    for (const right of rights)
      for (const scope of SCOPES) {
        const isExpected = RIGHTS[right].scope === scope && hasRoleRight(role, right);
        expect(hasRight(member({ keyId: 'key', role, scopes: [scope] }), right), `${right} ${scope}`).toBe(isExpected);
      }
  });
});

test('an approver of any role has the right to approve, and a key of an approver needs the scope', () => {
  for (const role of ROLES) {
    expect(hasRight(member({ role, isApprover: true }), 'approve')).toBe(true);
    expect(hasRight(member({ role, isApprover: true, keyId: 'key', scopes: ['read'] }), 'approve')).toBe(false);
  }
});

test('only an owner, and a key or a link without a member, are unrestricted', () => {
  expect(ROLES.filter((role) => isUnrestricted(member({ role })))).toEqual(['owner']);
  expect(isUnrestricted(FULL_RIGHTS)).toBe(true);
  expect(isUnrestricted({ ...FULL_RIGHTS, scopes: ['read'] })).toBe(false);
});
