import type { Right } from '../../../core/accounts/rights.ts';

/** What a control can need: a right, or `everything` where members who are limited to domains or addresses may not use it. */
type Needed = Right | 'everything';

/** The rights that controls need. page.css has a rule for each. */
export const NEEDED = [
  'send',
  'organize',
  'notes',
  'approve',
  'keys',
  'endpoints',
  'domains',
  'policies',
  'retention',
  'imports',
  'remove',
  'members',
  'export',
  'workspaces',
  'everything',
] as const satisfies readonly Needed[];

/** One of them. */
export type NeededRight = (typeof NEEDED)[number];

/** Returns the attribute of a control that only members with all of these rights see. It is hidden from others, for the keyboard and screen readers, too. */
export function needs(...rights: readonly NeededRight[]): { 'data-needs': string } {
  return { 'data-needs': rights.join(' ') };
}
