import { type RouteDecision, type RouteVia, sentences } from './decide-route.ts';

/** Names for what a decision refers to, where they still exist. */
export interface RouteNames {
  /** the own address that accepted the message */
  ownAddress: string;
  rule: string | null;
  endpoint: string | null;
  /** whether a user has released the message */
  isReleased: boolean;
}

/** Explains a route in full sentences for users. */
export function explainRoute(decision: RouteDecision, names: RouteNames): string {
  const rule = `guard rule ${named(names.rule, decision.ruleId)}`;
  const endpoint = `endpoint ${named(names.endpoint, decision.endpointId)}`;
  const allowed = decision.ruleId === null || decision.via === 'guard-rule' ? null : `It matched the ${rule}.`;
  const release = names.isReleased ? 'It has been released since.' : 'It can be released.';
  switch (decision.outcome) {
    case 'blocked':
      return `The ${rule} blocked this mail. ${sentences(decision.reason, release)}`;
    case 'review':
      return decision.ruleId === null
        ? `This mail is held for review: ${decision.reason ?? ''}. ${release}`
        : `This mail is held for review, because the model of the ${rule} did not respond: ${decision.reason ?? ''}. ${release}`;
    case 'asking':
      return `The model of the ${rule} has not decided yet whether this mail matches.`;
    case 'stored':
      return sentences(allowed, decision.reason, 'It is stored and not delivered.') ?? '';
    case 'inactive':
    case 'endpoint': {
      const way = `${describeWay(decision.via, rule, names.ownAddress)} routes to the ${endpoint}`;
      const end = decision.outcome === 'inactive' ? `${way}, which is disabled: the mail is only stored.` : `${way}.`;
      return sentences(allowed, decision.reason, end) ?? '';
    }
  }
}

function describeWay(via: RouteVia | null, rule: string, ownAddress: string): string {
  const domain = ownAddress.slice(ownAddress.lastIndexOf('@') + 1);
  switch (via) {
    case 'guard-rule':
      return `The ${rule}`;
    case 'webhook':
      return `The webhook of the address ${ownAddress}`;
    case 'catch-all':
      return `The catch-all of ${domain}`;
    case 'address':
    case null:
      return `The address ${ownAddress}`;
  }
}

function named(name: string | null, id: string | null): string {
  return name === null ? `${id ?? ''} (deleted)` : `“${name}”`;
}
