import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readComposeServices } from '../support/stages/compose-file.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'docs/deploy/kubernetes');

// oxlint-disable-next-line typescript/no-explicit-any -- the shapes of Kubernetes, which the tests read into
type Manifest = Record<string, any>;

const base = listManifests('base');
const scaling = listManifests('autoscaling');
const ours = readComposeServices().filter(
  ({ image, profiles }) => image.startsWith('postroom:') && profiles.length === 0,
);
const deployments = base.filter(({ kind }) => kind === 'Deployment');
const container = (manifest: Manifest): Manifest => manifest['spec'].template.spec.containers[0];

describe('The manifests of Kubernetes', () => {
  test('are the only files in their folders and name no namespace', () => {
    for (const name of ['base', 'autoscaling']) {
      const files = readdirSync(path.join(folder, name)).filter((file) => file !== 'kustomization.yaml');
      const kustomization = parse(readFileSync(path.join(folder, name, 'kustomization.yaml'), 'utf8')) as Manifest;
      expect(kustomization['resources'].filter((file: string) => !file.startsWith('..')).toSorted()).toEqual(
        files.toSorted(),
      );
      expect(kustomization['namespace']).toBeUndefined();
    }
    for (const manifest of [...base, ...scaling]) {
      expect(manifest['apiVersion'], manifest['kind']).toEqual(expect.any(String));
      expect(manifest['metadata'].namespace).toBeUndefined();
    }
  });

  test('start the same commands as docker-compose.yml', () => {
    const inCompose = new Map(ours.map(({ name, command }) => [name.replace(/-\d$/, ''), command]));
    const here = new Map(
      [...deployments, ...base.filter(({ kind }) => kind === 'Job')].map((each) => [
        each['metadata'].name as string,
        container(each)['command'] as string[],
      ]),
    );
    expect(Object.fromEntries(here)).toEqual(Object.fromEntries(inCompose));
  });

  test('use the image of the current version', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
    const kustomization = parse(readFileSync(path.join(folder, 'base/kustomization.yaml'), 'utf8')) as Manifest;
    expect(kustomization['images']).toEqual([{ name: 'postroom', newName: 'postroom', newTag: version }]);
    for (const each of deployments) expect(container(each)['image']).toBe('postroom');
  });

  test('set only known variables, and the ports of docker-compose.yml', () => {
    const settings = readFileSync(path.join(root, 'docs/settings.md'), 'utf8');
    const config = base.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Record<string, string>;
    const inCompose = ours.find(({ name }) => name === 'gateway-1')?.environment ?? {};
    for (const name of ['HOST', 'HTTP_PORT', 'SMTP_PORT', 'METRICS_HOST', 'METRICS_PORT'])
      expect(config[name], name).toBe(inCompose[name]);
    const single = deployments.flatMap((each) => container(each)['env'].map(({ name }: Manifest) => name as string));
    for (const name of [...Object.keys(config), ...single]) expect(settings).toContain(`\`${name}\``);
    for (const each of deployments) {
      const ports = Object.fromEntries(
        container(each)['ports'].map((port: Manifest) => [port['name'], port['containerPort']]),
      );
      expect(ports['monitoring']).toBe(Number(config['METRICS_PORT']));
      if (each['metadata'].name === 'gateway') expect(ports['http']).toBe(Number(config['HTTP_PORT']));
      if (each['metadata'].name === 'smtp') expect(ports['smtp']).toBe(Number(config['SMTP_PORT']));
    }
  });

  test("give only the migration the owner's login", () => {
    const ownerUrl = { name: 'postroom-owner', key: 'url' };
    for (const each of deployments) {
      expect(JSON.stringify(each)).not.toMatch(/postroom-owner/);
      const url = container(each)['env'].find(({ name }: Manifest) => name === 'DATABASE_URL');
      if (each['metadata'].name !== 'smtp') expect(url.valueFrom.secretKeyRef).not.toEqual(ownerUrl);
    }
    const job = base.find(({ kind }) => kind === 'Job') ?? {};
    const url = container(job)['env'].find(({ name }: Manifest) => name === 'DATABASE_URL');
    expect(url.valueFrom.secretKeyRef).toEqual(ownerUrl);
  });

  test('give SMTP servers neither the key nor the database address', () => {
    const smtp = deployments.find(({ metadata }) => metadata.name === 'smtp') ?? {};
    expect(JSON.stringify(smtp)).not.toMatch(/postroom-database|SECRET_KEY/);
    for (const each of deployments) {
      const url = container(each)['env'].find(({ name }: Manifest) => name === 'NATS_URL');
      expect(url.valueFrom.secretKeyRef).toEqual({ name: 'postroom-nats', key: each['metadata'].name });
    }
  });

  test.each(deployments.map((each) => [each['metadata'].name as string, each]))(
    'confine, probe and stop %s correctly',
    (name, each) => {
      const pod = each['spec'].template.spec;
      const labels = { 'app.kubernetes.io/name': 'postroom', 'app.kubernetes.io/component': name };
      expect(each['spec'].replicas).toBe(2);
      expect(each['spec'].selector.matchLabels).toEqual(labels);
      expect(each['spec'].template.metadata.labels).toEqual(labels);
      expect(pod.topologySpreadConstraints[0].labelSelector.matchLabels).toEqual(labels);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
      expect(container(each)['securityContext']).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container(each)).toMatchObject({
        startupProbe: { httpGet: { path: '/health', port: 'monitoring' } },
        livenessProbe: { httpGet: { path: '/health', port: 'monitoring' } },
        readinessProbe: { httpGet: { path: '/ready', port: 'monitoring' } },
        resources: {
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        },
      });
      const config = base.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Record<string, string>;
      const { periodSeconds, failureThreshold } = container(each)['readinessProbe'];
      const delaySeconds = Number(config['DRAIN_DELAY_SECONDS']);
      // Nobody sends work any more when no more is taken, and there is time for what is in hand.
      expect(delaySeconds).toBeGreaterThan(periodSeconds * failureThreshold);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(delaySeconds + 10);
      const budget = base.find(({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === name);
      expect(budget?.['spec']).toEqual({ maxUnavailable: 1, selector: { matchLabels: labels } });
    },
  );

  test('point services to existing ports', () => {
    const services = base.filter(({ kind }) => kind === 'Service');
    expect(services.map(({ metadata }) => metadata.name as string).toSorted()).toEqual([
      'gateway',
      'smtp',
      'smtp-inside',
    ]);
    for (const { spec } of services) {
      const target = deployments.find((each) => {
        const { labels } = each['spec'].template.metadata;
        return Object.entries(spec.selector).every(([name, value]) => labels[name] === value);
      });
      const ports = container(target ?? {})['ports'].map((port: Manifest) => port['name'] as string);
      for (const port of spec.ports) expect(ports).toContain(port.targetPort);
    }
  });

  test('scale existing deployments by existing metrics', () => {
    const metrics = readFileSync(path.join(root, 'schema/metrics.ts'), 'utf8');
    const names = deployments.map(({ metadata }) => metadata.name as string);
    for (const { spec } of scaling) expect(names).toContain(spec.scaleTargetRef.name);
    const queries = scaling.flatMap(({ spec }) =>
      (spec.triggers ?? []).map((trigger: Manifest) => trigger['metadata'].query as string),
    );
    expect(queries.length).toBe(8);
    for (const query of queries)
      for (const [name] of query.matchAll(/postroom_\w+/g)) expect(metrics).toContain(`'${name}'`);
    for (const { kind, spec } of scaling)
      expect(kind === 'ScaledObject' ? spec.minReplicaCount : spec.minReplicas).toBe(2);
  });
});

describe('The values of the NATS chart', () => {
  const conf = readFileSync(path.join(root, 'docs/deploy/nats/nats.conf'), 'utf8');
  let values: Manifest;
  beforeAll(() => {
    values = parse(readFileSync(path.join(folder, 'nats-values.yaml'), 'utf8')) as Manifest;
  });

  test('give each role what nats.conf gives it', () => {
    const inConf = [...conf.matchAll(/user: (\w+), password: \$(\w+)\n\s+permissions \{(.*?)\n {8}\}/gs)].map(
      ([, user = '', password = '', body = '']) => ({
        user,
        password: `<< $${password} >>`,
        publish: listIn(body, 'publish'),
        subscribe: listIn(body, 'subscribe'),
        answers: body.includes('allow_responses'),
      }),
    );
    expect(inConf).toHaveLength(7);
    const here = values['config'].merge.accounts.POSTROOM.users.map(({ user, password, permissions }: Manifest) => ({
      user,
      password,
      publish: permissions.publish,
      subscribe: permissions.subscribe,
      answers: permissions.allow_responses !== undefined,
    }));
    expect(here).toEqual(inConf);
    for (const { password } of inConf) expect(values['container'].env).toHaveProperty(password.slice(4, -3));
  });

  function listIn(body: string, name: string): string[] {
    const list = new RegExp(`${name}: \\[(.*?)\\]`, 's').exec(body)?.[1] ?? '';
    return [...list.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? '');
  }
});

function listManifests(name: string): Manifest[] {
  return readdirSync(path.join(folder, name))
    .filter((file) => file !== 'kustomization.yaml')
    .flatMap((file) => parseAllDocuments(readFileSync(path.join(folder, name, file), 'utf8')))
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as Manifest;
    });
}
