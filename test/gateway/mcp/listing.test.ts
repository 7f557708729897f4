import { Ajv, type AnySchemaObject } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tools } from '../../../gateway/mcp/tools.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';

/** Half of what the list of 28 tools took before its schemas were made for models, by tool; bytes. */
const MAX_BYTES_PER_TOOL = 1_225;
const MAX_PATTERN_LENGTH = 40;

let gateway: TestGateway;
let listed: Awaited<ReturnType<Awaited<ReturnType<typeof connectInjected>>['listTools']>>['tools'];

beforeAll(async () => {
  gateway = await openTestGateway();
  const client = await connectInjected(gateway, (await gateway.mailbox()).apiKey);
  listed = (await client.listTools()).tools;
  await client.close();
});
afterAll(() => gateway.close());

test('the list of all tools takes at most 1,225 bytes per tool', () => {
  expect(listed).toHaveLength(tools.length);
  const bytes = Buffer.byteLength(JSON.stringify(listed));
  process.stdout.write(`the list of tools takes ${bytes} bytes\n`);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES_PER_TOOL * tools.length);
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

test('every schema of a tool names at most one type and says what its value is, so clients with one type per value read it', () => {
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
  const known = ['reply_address_id', 'email_id', 'thread_id', 'thread_ids', 'draft_id', 'original_email_id'];
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
