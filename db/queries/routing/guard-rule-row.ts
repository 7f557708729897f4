import { checkGuardConfig } from '../../../core/routing/guard-config.ts';
import type { GuardRule } from '../../../core/routing/guard-rule.ts';
import type { Row } from '../../entities/tables.ts';

/** The columns of guard_rule that define a rule. */
export const GUARD_RULE_COLUMNS = [
  'id',
  'name',
  'type',
  'config',
  'action',
  'endpoint_id',
  'priority',
  'created_at',
] as const satisfies readonly (keyof Row<'guard_rule'>)[];

export type StoredGuardRule = Pick<
  Row<'guard_rule'>,
  Exclude<(typeof GUARD_RULE_COLUMNS)[number], 'priority' | 'created_at'>
> & {
  priority: number;
  created_at: Date;
};

/** Returns the rule of a row. Throws when its config is invalid. */
export function guardRuleOf(row: StoredGuardRule): GuardRule {
  const { config, error } = checkGuardConfig(row.type, row.config);
  if (config === undefined) throw new Error(`guard rule ${row.id} cannot be read: ${error}`);
  return {
    id: row.id,
    name: row.name,
    action: row.action,
    endpointId: row.endpoint_id,
    priority: row.priority,
    createdAt: row.created_at,
    ...config,
  };
}
