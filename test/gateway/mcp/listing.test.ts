import { Ajv, type AnySchemaObject } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tools } from '../../../gateway/mcp/tools.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';

/** Half of what the list took before its schemas were made for models. A new tool takes its bytes from the others. */
const MAX_BYTES = 34_300;
/** Clients cut longer instructions. */
const MAX_INSTRUCTIONS = 2_000;
const MAX_PATTERN_LENGTH = 40;

let gateway: TestGateway;
let instructions: string;
let listed: Awaited<ReturnType<Awaited<ReturnType<typeof connectInjected>>['listTools']>>['tools'];

beforeAll(async () => {
  gateway = await openTestGateway();
  const client = await connectInjected(gateway, (await gateway.mailbox()).apiKey);
  listed = (await client.listTools()).tools;
  instructions = client.getInstructions() ?? '';
  await client.close();
});
afterAll(() => gateway.close());

test('the list of all tools takes at most 34,300 bytes', () => {
  expect(listed).toHaveLength(tools.length);
  const bytes = Buffer.byteLength(JSON.stringify(listed));
  process.stdout.write(`the list of tools takes ${bytes} bytes\n`);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

test('the instructions take at most 2,000 characters, and say what several tools leave out', () => {
  expect(instructions.length).toBeLessThanOrEqual(MAX_INSTRUCTIONS);
  for (const fact of ['untrusted', 'awaiting_approval', 'idempotency_key', 'next_cursor', 'next_offset', 'limit'])
    expect(instructions).toContain(`\`${fact}\``);
});

test('tools that read list the shape of their result, and no others', () => {
  expect(listed.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name)).toEqual(
    listed.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name),
  );
});

test('every tool that is not read-only says whether it destroys something', () => {
  const silent = listed.filter(
    ({ annotations }) => annotations?.readOnlyHint !== true && annotations?.destructiveHint === undefined,
  );
  expect(silent).toEqual([]);
});

test('an argument that is required and can be null lists null', () => {
  const nullable = listed.flatMap(({ name, inputSchema: { properties = {} } }) =>
    Object.entries(properties)
      .filter(([, schema]) => JSON.stringify(schema).includes('{"type":"null"}'))
      .map(([argument]) => `${name}.${argument}`),
  );
  expect(nullable).toEqual(['assign_thread.assignee', 'snooze_thread.until', 'remind_of_thread.at']);
});

test('a strict validator compiles every schema of a tool without a warning', () => {
  const warnings: string[] = [];
  const note = (...said: unknown[]) => void warnings.push(said.join(' '));
  const ajv = new Ajv({ strict: true, strictTypes: 'log', logger: { log: note, warn: note, error: note } });
  for (const { name, inputSchema, outputSchema } of listed)
    for (const schema of [inputSchema, outputSchema ?? {}])
      try {
        ajv.compile(schema as AnySchemaObject);
      } catch (error) {
        warnings.push(`${name}: ${String(error)}`);
      }
  expect(warnings).toEqual([]);
});

test('every schema of a tool names at most one type and says what its value is', () => {
  const findings = listed.flatMap(({ name, inputSchema, outputSchema }) => [
    ...unportable(inputSchema, `${name}: arguments`),
    ...unportable(outputSchema, `${name}: result`),
  ]);
  expect(findings).toEqual([]);
  expect(unportable({ properties: { to: { type: ['string', 'null'] }, cc: {} } }, 'x')).toHaveLength(2);
});

test('no tool lists a long pattern, a field that is not supported, or a deprecated name', () => {
  const text = JSON.stringify(listed);
  const patterns = [...text.matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(([, pattern = '']) => pattern);
  expect(patterns.filter(({ length }) => length > MAX_PATTERN_LENGTH)).toEqual([]);
  expect(text).not.toMatch(/not supported|deprecated/i);
});

test('an email is `email_id`, a thread `thread_id` and a draft `draft_id` in the arguments of every tool', () => {
  const ids = listed.flatMap(({ name, inputSchema }) =>
    Object.keys(inputSchema.properties ?? {})
      .filter((argument) => /(?:^|_)ids?$/.test(argument))
      .map((argument) => [name, argument]),
  );
  const known = [
    'reply_address_id',
    'email_id',
    'thread_id',
    'thread_ids',
    'draft_id',
    'original_email_id',
    'except_email_ids',
  ];
  expect(ids.filter(([, argument = '']) => !known.includes(argument))).toEqual([]);
  expect(ids.length).toBeGreaterThan(20);
});

test('tools name the direction of an email as `received` or `sent` only', () => {
  expect(JSON.stringify(listed)).not.toMatch(/"(?:in|out)bound"/);
});

/** Returns the places of schemas that have a list of types, or no type, choice or enumeration; the newest MCP Inspector warns of both. */
function unportable(schema: unknown, place: string): string[] {
  const { type, anyOf, enum: values, properties, items } = (schema ?? {}) as Record<string, unknown>;
  const inner = [
    ...Object.entries((properties ?? {}) as Record<string, unknown>).map(([name, each]) => [`${place}.${name}`, each]),
    ...((anyOf ?? []) as unknown[]).map((each, at) => [`${place}[${at}]`, each]),
    ...(items === undefined ? [] : [[`${place}[]`, items]]),
  ] as [string, unknown][];
  const known = schema === undefined || [type, anyOf, values, properties].some((each) => each !== undefined);
  return [
    ...(Array.isArray(type) || !known ? [place] : []),
    ...inner.flatMap(([innerPlace, each]) => unportable(each, innerPlace)),
  ];
}
