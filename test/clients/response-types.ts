import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');

/** A JSON value that the service answered, with the TypeScript type that a published client has for it. */
export interface TypedResponse {
  /** of the method, for messages */
  name: string;
  /** a type expression over the imports of IMPORTS */
  type: string;
  value: unknown;
}

/** What the generated file can name. */
const IMPORTS = `import type { Inbound as Sdk, InboundWebhookPayload as SdkWebhookPayload } from '@inboundemail/sdk';
import type Inboundemail from 'inboundemail';
import type { InboundWebhookPayload } from 'inboundemail';
import type { Resend } from 'resend';
`;

/**
 * How a type of a client looks as JSON: dates are strings, and a property that may be undefined may only be left out. Nothing else is
 * softened: what is required has to be there, and null has to be allowed.
 */
const WIRE = `type MayBeAbsent<T, K extends keyof T> =
  {} extends Pick<T, K> ? true : unknown extends T[K] ? false : undefined extends T[K] ? true : false;
type Wire<T> = 0 extends 1 & T ? any
  : T extends Date ? string
  : T extends readonly (infer Each)[] ? Wire<Each>[]
  : T extends object
    ? { [K in keyof T as MayBeAbsent<T, K> extends true ? never : K]: Wire<T[K]> }
      & { [K in keyof T as MayBeAbsent<T, K> extends true ? K : never]?: Wire<Exclude<T[K], undefined>> }
    : T;
`;

const CONFIGURATION = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    noErrorTruncation: true,
  },
  files: ['responses.ts'],
};

/** Texts of the compiler on responses that are not of their types; empty when all are. Runs the compiler on a generated file. */
export async function findTypeDifferences(responses: readonly TypedResponse[]): Promise<string[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'response-types-'));
  try {
    await symlink(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
    await writeFile(path.join(directory, 'package.json'), '{"type":"module"}');
    await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify(CONFIGURATION));
    const head = `${IMPORTS}${WIRE}`;
    const lines = responses.map(
      ({ type, value }, at) => `export const response${at}: Wire<${type}> = null as unknown as ${readType(value)};`,
    );
    await writeFile(path.join(directory, 'responses.ts'), `${head}${lines.join('\n')}\n`);
    const compiler = path.join(root, 'node_modules/.bin/tsc');
    const printed = await promisify(execFile)(compiler, ['-p', directory, '--pretty', 'false'], {
      cwd: directory,
      maxBuffer: 100_000_000,
    }).then(
      () => '',
      (error: { stdout?: string; message: string }) => error.stdout ?? error.message,
    );
    if (printed === '') return [];
    const firstLine = head.split('\n').length;
    return printed.split(/\n(?=\S)/).map((text) => {
      const line = Number(/^responses\.ts\((\d+),/.exec(text)?.[1] ?? 0);
      const name = responses[line - firstLine]?.name ?? 'the generated file';
      return `${name}: ${withoutTypes(text)}`;
    });
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The compiler's explanation without the lines that only repeat whole types, which take pages. */
function withoutTypes(text: string): string {
  const lines = text.trimEnd().split('\n');
  return lines
    .filter((line, at) => at === lines.length - 1 || !/^(?:responses\.ts\S+ error \S+ |\s*)Type '[({]/.test(line))
    .map((line) => (line.length > MAX_LINE_LENGTH ? `${line.trim().slice(0, 100)} … ${line.slice(-150)}` : line.trim()))
    .join(' > ');
}

const MAX_LINE_LENGTH = 260;
/** Longer strings are of no enumeration. */
const MAX_LITERAL_LENGTH = 60;

/** The exact type of a JSON value: strings and numbers as literals, so that enumerations are compared. */
function readType(value: unknown): string {
  if (Array.isArray(value)) {
    const types = [...new Set(value.map(readType))];
    return `(${types.length === 0 ? 'never' : types.join(' | ')})[]`;
  }
  if (isResource(value)) {
    const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${readType(each)}`);
    return `{ ${members.join('; ')} }`;
  }
  return typeof value === 'string' && value.length > MAX_LITERAL_LENGTH
    ? 'string'
    : (JSON.stringify(value) ?? 'undefined');
}

/** What a method of a client resolved with, or rejected with. */
export interface Outcome {
  method: string;
  value: unknown;
}

/** The client, with every call of its methods noted, those of its resources included: `emails.attachments.list`. */
export function recordCalls<Client extends object>(client: Client, outcomes: Outcome[], place = ''): Client {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof name === 'symbol') return value;
      const method = place === '' ? name : `${place}.${name}`;
      if (typeof value === 'function')
        return async (...input: unknown[]) => {
          const result: unknown = await Reflect.apply(value, target, input);
          outcomes.push({ method, value: result });
          return result;
        };
      return isResource(value) ? recordCalls(value, outcomes, method) : value;
    },
  });
}

function isResource(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
