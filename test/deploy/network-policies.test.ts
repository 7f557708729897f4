import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import {
  isAllowed,
  listPolicies,
  type NetworkPolicy,
  type Place,
  POLICY_NAMESPACE,
} from '../support/network-policies.ts';
import { readComposeServices } from '../support/stages/compose-file.ts';

const base = path.resolve(import.meta.dirname, '../../docs/deploy/kubernetes/base');

// oxlint-disable-next-line typescript/no-explicit-any -- the shapes of Kubernetes, which the tests read into
type Manifest = Record<string, any>;

const manifests = readdirSync(base)
  .filter((file) => file !== 'kustomization.yaml')
  .flatMap((file) => parseAllDocuments(readFileSync(path.join(base, file), 'utf8')))
  .map((document) => document.toJS() as Manifest);
const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as NetworkPolicy[];

const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
const roles = workloads.map(({ metadata }) => metadata.name as string);

function makePod(role: string): Place & { labels: Record<string, string> } {
  const { template } = workloads.find(({ metadata }) => metadata.name === role)?.['spec'] ?? {};
  const ports = (template.spec.containers[0].ports ?? []) as { name: string; containerPort: number }[];
  return {
    namespace: POLICY_NAMESPACE,
    labels: template.metadata.labels,
    ports: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
  };
}

const PROMETHEUS: Place = { namespace: 'monitoring', labels: { 'app.kubernetes.io/name': 'prometheus' } };
const INGRESS: Place = { namespace: 'ingress-nginx', labels: { 'app.kubernetes.io/name': 'ingress-nginx' } };
const DNS: Place = { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
const POSTGRESQL: Place = { namespace: 'databases', labels: { 'cnpg.io/cluster': 'postroom' } };
const MANAGED_POSTGRESQL: Place = { address: '10.20.0.5' };
const NATS: Place = { namespace: POLICY_NAMESPACE, labels: { 'app.kubernetes.io/name': 'nats' } };
const WORLD: Place = { address: '93.184.215.14' };
const WORLD_SIX: Place = { address: '2606:2800:21f:cb07::1' };
/** Metadata of the cloud provider, which gives out credentials. */
const METADATA: Place = { address: '169.254.169.254' };
const NEIGHBOR: Place = { namespace: POLICY_NAMESPACE, labels: { app: 'wiki' } };
const STRANGER: Place = { namespace: 'default', labels: { app: 'shell' } };

const METRICS_PORT = 9464;
const HTTP_PORT = 3000;
const SMTP_PORT = 2525;

/** The roles that the connection is allowed from. */
const from = (to: Place, port: number, protocol: 'TCP' | 'UDP' = 'TCP') =>
  roles.filter((role) => isAllowed(policies, { from: makePod(role), to, port, protocol })).toSorted();

describe('The network policies of Kubernetes', () => {
  test('deny both directions for every pod of Postroom unless another policy allows it', () => {
    const deny = policies.find(({ metadata }) => metadata.name === 'postroom-default-deny');
    expect(deny?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect([deny?.spec.ingress, deny?.spec.egress]).toEqual([undefined, undefined]);
    expect(roles).toHaveLength(8);
    for (const role of roles)
      for (const type of ['Ingress', 'Egress'] as const)
        expect(listPolicies(policies, makePod(role), type)).toContain(deny);
    // What else runs in the namespace, such as NATS, is not ours to confine.
    for (const type of ['Ingress', 'Egress'] as const) {
      expect(listPolicies(policies, NATS, type)).toEqual([]);
      expect(listPolicies(policies, NEIGHBOR, type)).toEqual([]);
    }
  });

  test('each select a workload that exists', () => {
    expect(policies.length).toBeGreaterThan(1);
    for (const policy of policies) {
      const selected = roles.filter((role) =>
        policy.spec.policyTypes.some((type) => listPolicies(policies, makePod(role), type).includes(policy)),
      );
      expect(selected, policy.metadata.name).not.toEqual([]);
    }
  });

  test('allow only Prometheus in the namespace monitoring to read /metrics', () => {
    const others = [
      ...roles.map(makePod),
      INGRESS,
      NATS,
      NEIGHBOR,
      STRANGER,
      WORLD,
      WORLD_SIX,
      { namespace: 'monitoring', labels: { app: 'shell' } },
      { namespace: 'default', labels: { 'app.kubernetes.io/name': 'prometheus' } },
    ];
    for (const role of roles.filter((each) => each !== 'migrate')) {
      const to = makePod(role);
      expect(isAllowed(policies, { from: PROMETHEUS, to, port: METRICS_PORT }), role).toBe(true);
      for (const other of others)
        expect(isAllowed(policies, { from: other, to, port: METRICS_PORT }), `${role} ${JSON.stringify(other)}`).toBe(
          false,
        );
    }
    expect(isAllowed(policies, { from: PROMETHEUS, to: makePod('gateway'), port: HTTP_PORT })).toBe(false);
  });

  test("allow probes from the pod's node at the port of the policy for Prometheus", () => {
    // Kubernetes never holds back the node of a pod, so a probe needs no rule: it must only not come from elsewhere.
    for (const workload of workloads.filter(({ kind }) => kind === 'Deployment')) {
      const [{ startupProbe, livenessProbe, readinessProbe }] = workload['spec'].template.spec.containers;
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
        expect(probe.httpGet.port).toBe('monitoring');
        expect(probe.httpGet.host).toBeUndefined();
      }
    }
  });

  test('let only the ingress controller reach the gateway, and everyone reach SMTP', () => {
    const reached = (place: Place, port: number) =>
      roles.filter((role) => isAllowed(policies, { from: place, to: makePod(role), port }));
    expect(reached(INGRESS, HTTP_PORT)).toEqual(['gateway']);
    for (const place of [WORLD, WORLD_SIX]) expect(reached(place, SMTP_PORT)).toEqual(['smtp']);
    for (const place of [STRANGER, NEIGHBOR, NATS, WORLD, ...roles.map(makePod)])
      expect(reached(place, HTTP_PORT), JSON.stringify(place)).toEqual([]);
  });

  test('let each role reach what it needs, and nothing else', () => {
    const actors = ['delivery', 'receiving', 'scheduling', 'sending', 'threading'];
    const all = [...actors, 'gateway', 'migrate', 'smtp'].toSorted();
    expect(from(DNS, 53, 'UDP')).toEqual(all);
    expect(from(DNS, 53)).toEqual(all);
    for (const database of [POSTGRESQL, MANAGED_POSTGRESQL])
      expect(from(database, 5432)).toEqual([...actors, 'gateway', 'migrate'].toSorted());
    expect(from(NATS, 4222)).toEqual([...actors, 'gateway', 'smtp'].toSorted());
    expect(from(makePod('smtp'), SMTP_PORT)).toEqual(['sending']);
    for (const world of [WORLD, WORLD_SIX]) {
      expect(from(world, 25)).toEqual(['sending']);
      // Webhooks; sign-in providers, policies of MTA-STS, receivers of TLS reports
      expect(from(world, 443)).toEqual(['delivery', 'gateway', 'scheduling', 'sending']);
      for (const port of [5432, 4222]) expect(from(world, port)).toEqual(['delivery']);
    }
    for (const port of [80, 25, 443]) {
      expect(from(METADATA, port)).toEqual([]);
      for (const inside of [MANAGED_POSTGRESQL, NATS, NEIGHBOR, STRANGER]) expect(from(inside, port)).toEqual([]);
    }
  });

  test('allow the outside world only to roles that docker-compose.yml puts in a network with a way out', () => {
    const outside = readComposeServices()
      .filter(({ addresses }) => 'outside' in addresses || 'sign-in' in addresses)
      .map(({ name }) => name.replace(/-\d$/, ''));
    for (const port of [25, 443]) for (const role of from(WORLD, port)) expect(outside).toContain(role);
  });

  test('name ports of docs/deploy/kubernetes/base/config.yaml', () => {
    const config = parse(readFileSync(path.join(base, 'config.yaml'), 'utf8')) as Manifest;
    const { HTTP_PORT: http, SMTP_PORT: smtp, METRICS_PORT: metrics, INBOUND_SMTP: inbound } = config['data'];
    expect([http, smtp, metrics].map(Number)).toEqual([HTTP_PORT, SMTP_PORT, METRICS_PORT]);
    expect(inbound).toBe(`smtp-inside:${SMTP_PORT}`);
  });
});
