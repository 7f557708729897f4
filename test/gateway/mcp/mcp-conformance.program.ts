import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openKeyedProxy } from '../../support/servers/keyed-proxy.ts';
import { ERAS } from '../../support/servers/mcp-client.ts';

/** The checks of @modelcontextprotocol/conformance that do not apply, by reason. */
const NOT_APPLICABLE: Record<string, RegExp> = {
  'needs a tool of the reference server, such as test_simple_text':
    /^(?:tools-call-(?!sampling|elicitation|with-logging).*|json-schema-2020-12-tool-found|sep-2575-(?:missing-capability-http-400|server-rejects-undeclared-capability|http-server-no-independent-requests-on-stream))$/,
  'needs a resource of the reference server, such as test://static-text':
    /^resources-(?:read-text|read-binary|templates-read)$/,
  'the server has no prompts and no completion':
    /^(?:prompts-.*|completion-complete|sep-2549-prompts-list-caching-hints)$/,
  'the server sends no log messages, which 2026-07-28 deprecates':
    /^(?:logging-set-level|tools-call-with-logging|sep-2575-server-no-log-without-loglevel)$/,
  'the server never asks the client: no sampling, elicitation or roots':
    /^(?:tools-call-(?:sampling|elicitation)|elicitation-.*|sep-2322-.*)$/,
  'tools and resources do not change while a client is connected, so there are no subscriptions':
    /^(?:resources-(?:subscribe|unsubscribe)|sep-2575-server-(?:sends-subscription-ack|tags-subscription-id))$/,
  'no argument is passed in a header of its own':
    /^sep-2243-server-(?:no-xmcp-tool|decode-base64|validate-param-match|reject-invalid-param-chars|reject-param-mismatch)$/,
};

/** Scenarios that pass as a whole. */
const PASSING = {
  '2025-11-25': ['dns-rebinding-protection', 'ping', 'resources-list', 'server-initialize', 'tools-list'],
  '2026-07-28': [
    'dns-rebinding-protection',
    'http-header-validation',
    'resources-list',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'tools-list',
  ],
} as const;

const require = createRequire(import.meta.url);
const program = path.join(
  path.dirname(require.resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);

interface Check {
  id: string;
  status: string;
}

let gateway: TestGateway;
let proxy: Awaited<ReturnType<typeof openKeyedProxy>>;
let folder: string;

beforeAll(async () => {
  gateway = await openTestGateway();
  const { apiKey } = await gateway.mailbox();
  proxy = await openKeyedProxy(await gateway.app.listen({ port: 0, host: '127.0.0.1' }), apiKey);
  folder = mkdtempSync(path.join(tmpdir(), 'mcp-conformance-'));
});
afterAll(async () => {
  proxy.close();
  rmSync(folder, { recursive: true });
  await gateway.close();
});

test.each(ERAS)(
  'the server passes every scenario of the conformance suite for %s that applies to it',
  async (version) => {
    const results = await runScenarios(version);
    const failed = [...results.values()].flat().filter(({ status }) => status === 'FAILURE');
    const reasons = Object.values(NOT_APPLICABLE);
    expect(failed.filter(({ id }) => !reasons.some((reason) => reason.test(id)))).toEqual([]);
    expect(reasons.filter((reason) => !failed.some(({ id }) => reason.test(id))).length).toBe(
      version === '2025-11-25' ? 1 : 0,
    );
    for (const name of PASSING[version]) {
      const statuses = results.get(name)?.map(({ status }) => status) ?? [];
      expect(statuses, name).toContain('SUCCESS');
      expect(statuses, name).not.toContain('FAILURE');
    }
  },
);

/** Runs all scenarios of a version and returns the checks of each. */
async function runScenarios(version: string): Promise<Map<string, Check[]>> {
  const output = path.join(folder, version);
  const given = ['--url', `${proxy.url}/mcp`, '--suite', 'all', '--spec-version', version, '--output-dir', output];
  // Exits with 1, because of the scenarios that do not apply.
  await new Promise((resolve) => execFile(process.execPath, [program, 'server', ...given], resolve));
  return new Map(
    readdirSync(output).map((name) => [
      name.replace(/^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/, '$1'),
      JSON.parse(readFileSync(path.join(output, name, 'checks.json'), 'utf8')) as Check[],
    ]),
  );
}
