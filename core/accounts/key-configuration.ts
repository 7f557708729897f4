/**
 * What an API key sets up that acts later, and that stops when the key is revoked, unless it is kept (docs/decisions/0095): endpoints, routes of
 * addresses and catch-alls to endpoints, guard rules, scheduled emails, and other keys.
 */
export const CONFIGURATION_KINDS = [
  'endpoint',
  'address_route',
  'catch_all',
  'guard_rule',
  'scheduled_email',
  'api_key',
] as const;
export type ConfigurationKind = (typeof CONFIGURATION_KINDS)[number];
