import { BlockList, isIPv6 } from 'node:net';

type Labels = Record<string, string>;

/** A label selector of Kubernetes; an empty one selects everything. */
interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn'; values: string[] }[];
}

interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { protocol: 'TCP' | 'UDP'; port: number | string; endPort?: number }[];
}

/** A NetworkPolicy of networking.k8s.io/v1. */
export interface NetworkPolicy {
  metadata: { name: string };
  spec: { podSelector: Selector; policyTypes: ('Ingress' | 'Egress')[]; ingress?: Rule[]; egress?: Rule[] };
}

/** Where a connection begins or ends: a pod, or an address outside the cluster. */
export type Place = { namespace: string; labels: Labels; ports?: Record<string, number> } | { address: string };

export interface Connection {
  from: Place;
  to: Place;
  port: number;
  protocol?: 'TCP' | 'UDP';
}

/** The namespace that the policies are applied in. */
export const POLICY_NAMESPACE = 'postroom';

/** Returns whether the policies let the connection through on both sides, by the rules of Kubernetes: what no policy selects is open. */
export function isAllowed(policies: readonly NetworkPolicy[], connection: Connection): boolean {
  return mayPass(policies, connection, 'Egress') && mayPass(policies, connection, 'Ingress');
}

/** Returns the policies that select the pod for that direction. */
export function listPolicies(
  policies: readonly NetworkPolicy[],
  place: Place,
  type: 'Ingress' | 'Egress',
): NetworkPolicy[] {
  if ('address' in place || place.namespace !== POLICY_NAMESPACE) return [];
  return policies.filter(({ spec }) => spec.policyTypes.includes(type) && isSelected(spec.podSelector, place.labels));
}

function mayPass(policies: readonly NetworkPolicy[], connection: Connection, type: 'Ingress' | 'Egress'): boolean {
  const [own, other] = type === 'Egress' ? [connection.from, connection.to] : [connection.to, connection.from];
  const selecting = listPolicies(policies, own, type);
  if (selecting.length === 0) return true;
  const rules = selecting.flatMap(({ spec }) => (type === 'Egress' ? spec.egress : spec.ingress) ?? []);
  return rules.some((rule) => {
    const peers = type === 'Egress' ? rule.to : rule.from;
    return (peers === undefined || peers.some((peer) => isPeer(peer, other))) && hasPort(rule, connection);
  });
}

function isPeer({ podSelector, namespaceSelector, ipBlock }: Peer, place: Place): boolean {
  if ('address' in place) return ipBlock !== undefined && isWithinBlock(ipBlock, place.address);
  if (ipBlock !== undefined) return false;
  const isNamespace =
    namespaceSelector === undefined
      ? place.namespace === POLICY_NAMESPACE
      : isSelected(namespaceSelector, { 'kubernetes.io/metadata.name': place.namespace });
  return isNamespace && (podSelector === undefined || isSelected(podSelector, place.labels));
}

function hasPort({ ports }: Rule, { to, port, protocol = 'TCP' }: Connection): boolean {
  if (ports === undefined) return true;
  return ports.some((each) => {
    const first = typeof each.port === 'number' ? each.port : 'ports' in to ? to.ports?.[each.port] : undefined;
    return each.protocol === protocol && first !== undefined && port >= first && port <= (each.endPort ?? first);
  });
}

function isSelected({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      const isIn = labels[key] !== undefined && values.includes(labels[key]);
      return operator === 'In' ? isIn : !isIn;
    })
  );
}

function isWithinBlock({ cidr, except = [] }: { cidr: string; except?: string[] }, address: string): boolean {
  return isWithin(cidr, address) && !except.some((each) => isWithin(each, address));
}

function isWithin(cidr: string, address: string): boolean {
  const [network = '', length] = cidr.split('/');
  if (isIPv6(network) !== isIPv6(address)) return false;
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  const block = new BlockList();
  block.addSubnet(network, Number(length), family);
  return block.check(address, family);
}
