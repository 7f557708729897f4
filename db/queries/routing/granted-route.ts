/**
 * The endpoints that an address `a` and a domain `d` route to, as columns of the names that they have: none while the API key that set the
 * route may not read (docs/decisions/0095).
 */
export const GRANTED_ENDPOINTS_OF_ADDRESS = `
  case when a.route_granted_scopes is null or 'read' = any (a.route_granted_scopes) then a.endpoint_id end as endpoint_id,
  case when a.route_granted_scopes is null or 'read' = any (a.route_granted_scopes) then a.webhook_id end as webhook_id`;
export const GRANTED_CATCH_ALL = `
  case when d.route_granted_scopes is null or 'read' = any (d.route_granted_scopes) then d.catch_all_endpoint_id end as catch_all_endpoint_id`;
