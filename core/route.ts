/** The route of an own address or domain as it stands; endpoint ids of the same user. */
export interface RouteFacts {
  /** local-part of the own address, lower case, without plus-tag */
  localPart: string;
  /** null when the catch-all took the mail, or the address is gone since */
  address: { isActive: boolean; endpointId: string | null; webhookId: string | null } | null;
  /** null when the domain is gone since */
  domain: { catchAllEndpointId: string | null; isCatchAllEnabled: boolean; receivesDmarcEmails: boolean } | null;
}

/** Whether an endpoint of the user exists and takes mail. */
export interface RouteTarget {
  id: string;
  isActive: boolean;
}

/** Where received mail goes, and by which rule; a mail that goes nowhere is stored all the same. */
export type Route =
  | { kind: 'endpoint'; endpointId: string; by: 'address' | 'webhook' | 'catch-all' }
  /** the endpoint that it would go to is switched off */
  | { kind: 'inactive'; endpointId: string; by: 'address' | 'webhook' | 'catch-all' }
  | { kind: 'none' };

/** Reports of RFC 7489 §7.2 go to this local-part by convention; they are routed only where the domain asks for it. */
const DMARC_LOCAL_PART = 'dmarc';

/**
 * Chooses the endpoint of a received mail: that of the active address, else its legacy webhook, else the catch-all of the domain,
 * else none. An endpoint that does not exist any more is passed over; one that is switched off ends the search (the mail was meant
 * for it and can be delivered later). `find` knows the endpoints of the mail's user only.
 */
export function chooseRoute(facts: RouteFacts, find: (endpointId: string) => RouteTarget | undefined): Route {
  const { address, domain } = facts;
  if (facts.localPart === DMARC_LOCAL_PART && domain?.receivesDmarcEmails === false) return { kind: 'none' };
  const candidates: [string | null | undefined, 'address' | 'webhook' | 'catch-all'][] = [
    [address?.isActive === true ? address.endpointId : null, 'address'],
    [address?.isActive === true ? address.webhookId : null, 'webhook'],
    [domain?.isCatchAllEnabled === true ? domain.catchAllEndpointId : null, 'catch-all'],
  ];
  for (const [endpointId, by] of candidates) {
    const target = endpointId == null ? undefined : find(endpointId);
    if (target !== undefined) {
      return target.isActive
        ? { kind: 'endpoint', endpointId: target.id, by }
        : { kind: 'inactive', endpointId: target.id, by };
    }
  }
  return { kind: 'none' };
}
