import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** One service of docker-compose.yml, as far as starting it takes; texts still bear their `${...}`. */
export interface ComposeService {
  name: string;
  image: string;
  command: string[];
  environment: Record<string, string>;
  /** the words of the health check; null when there is none */
  healthcheck: string[] | null;
  /** names of the services that have to be there first */
  after: string[];
  /** `source:target` or `source:target:ro` */
  volumes: string[];
  /** by network; null: whichever the engine gives */
  addresses: Record<string, string | null>;
  /** it starts only when one of these is asked for; empty: it starts with the others */
  profiles: string[];
  /** the file's own words on it */
  definition: Record<string, unknown>;
}

const root = path.resolve(import.meta.dirname, '../../..');

/** docker-compose.yml as YAML has it, merge keys and aliases resolved. */
export function readComposeDocument(): ComposeDocument {
  return composeDocument.parse(
    parse(readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'), { merge: true, maxAliasCount: -1 }),
  );
}

/** The services of docker-compose.yml. Throws when one of them uses a key that nobody here knows the meaning of. */
export function readComposeServices(): ComposeService[] {
  return Object.entries(readComposeDocument().services).map(([name, definition]) => {
    const known = composeService.parse(definition, { error: (issue) => `${name}: ${issue.message ?? issue.code}` });
    return {
      name,
      image: known.image,
      command: known.command,
      environment: known.environment,
      healthcheck: known.healthcheck !== undefined && 'test' in known.healthcheck ? known.healthcheck.test : null,
      after: Object.keys(known.depends_on),
      volumes: known.volumes,
      addresses: Array.isArray(known.networks)
        ? Object.fromEntries(known.networks.map((network) => [network, null]))
        : Object.fromEntries(Object.entries(known.networks).map(([network, at]) => [network, at.ipv4_address ?? null])),
      profiles: known.profiles,
      definition,
    };
  });
}

/** The variables of .env.example in their order. */
export function readEnvExample(): Record<string, string> {
  const lines = readFileSync(path.join(root, '.env.example'), 'utf8').split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [, name = '', value = ''] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
        if (name === '') throw new Error(`.env.example: ${line}`);
        return [name, value];
      }),
  );
}

/**
 * Puts variables into a text as Compose does: `${NAME}`, `${NAME:-default}`, `${NAME:+alternative}`, `${NAME:?message}`, one within
 * another, and `$$` for a dollar. Throws for a variable that has to have a value and has none, and for other forms.
 */
export function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  let result = '';
  for (let at = 0; at < text.length; ) {
    if (text[at] !== '$') result += text[at++];
    else if (text[at + 1] === '$') {
      result += '$';
      at += 2;
    } else {
      const end = closingBrace(text, at + 1);
      result += readValue(text.slice(at + 2, end), variables);
      at = end + 1;
    }
  }
  return result;
}

/** The names of all variables in a text, those within others, too. */
export function variablesIn(text: string): string[] {
  return [...text.replaceAll('$$', '').matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map((match) => match[1] ?? '');
}

export type ComposeDocument = z.infer<typeof composeDocument>;

const composeDocument = z.looseObject({
  services: z.record(z.string(), z.record(z.string(), z.unknown())),
  networks: z.record(z.string(), composeNetwork()),
  volumes: z.record(z.string(), z.unknown()),
});

function composeNetwork() {
  return z.strictObject({
    internal: z.boolean().default(false),
    driver_opts: z.record(z.string(), z.string()).default({}),
    ipam: z.strictObject({
      config: z.array(z.strictObject({ subnet: z.string(), ip_range: z.string().optional() })),
    }),
  });
}

const words = z.array(z.string());
const composeService = z.strictObject({
  image: z.string(),
  command: words,
  environment: z.record(z.string(), z.string()),
  healthcheck: z
    .union([
      z.strictObject({ disable: z.literal(true) }),
      z.strictObject({
        test: words,
        interval: z.string(),
        timeout: z.string(),
        retries: z.number(),
        start_period: z.string(),
      }),
    ])
    .optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
  volumes: words.default([]),
  networks: z.union([words, z.record(z.string(), z.strictObject({ ipv4_address: z.string().optional() }))]),
  build: z
    .strictObject({ context: z.literal('.'), target: z.string().optional(), args: z.record(z.string(), z.string()) })
    .optional(),
  profiles: words.default([]),
  entrypoint: words.optional(),
  // How a process is confined and ended, which no process here can be.
  user: z.string(),
  read_only: z.literal(true),
  cap_drop: words,
  security_opt: words,
  restart: z.string(),
  logging: z.unknown(),
  init: z.boolean().optional(),
  tmpfs: words.optional(),
  mem_limit: z.string(),
  pids_limit: z.number(),
  shm_size: z.string().optional(),
  ports: words.optional(),
  stop_grace_period: z.string(),
  stop_signal: z.string().optional(),
});

function closingBrace(text: string, from: number): number {
  if (text[from] !== '{') throw new Error(`a lone $ in ${text}`);
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return at;
  }
  throw new Error(`no closing brace in ${text}`);
}

function readValue(expression: string, variables: Readonly<Record<string, string>>): string {
  const [, name = '', operator = '', rest = ''] = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:[-+?])(.*))?$/s.exec(expression) ?? [];
  if (name === '') throw new Error(`not understood: \${${expression}}`);
  const value = variables[name] ?? '';
  switch (operator) {
    case ':-':
      return value === '' ? interpolate(rest, variables) : value;
    case ':+':
      return value === '' ? '' : interpolate(rest, variables);
    case ':?':
      if (value === '') throw new Error(`${name} ${rest}`);
      return value;
    default:
      return value;
  }
}
