import { execFile, spawnSync } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openScimStage } from '../../support/stages/scim-stage.ts';

/** A Python with scim2-tester, such as that of a virtual environment. */
const python = process.env['SCIM_PYTHON'] ?? 'python3';
const hasTester = spawnSync(python, ['-c', 'import scim2_tester, httpx2']).status === 0;
const script = path.resolve(import.meta.dirname, '../../support/clients/check-scim.py');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway();
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => gateway.close());

test.skipIf(!hasTester)('scim2-tester finds no error in the service', async () => {
  const { workspaceId } = await gateway.mailbox();
  const { token } = await openScimStage(gateway, workspaceId);
  const { port } = gateway.app.server.address() as AddressInfo;
  const { stdout } = await promisify(execFile)(python, [script, `http://127.0.0.1:${port}/scim/v2`], {
    env: { ...process.env, SCIM_TOKEN: token },
    maxBuffer: 16_777_216,
  });
  const checks = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { status: string; title: string; resource: string | null; reason: string });
  expect(checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'SKIPPED')).toEqual([]);
  expect(checks.filter(({ status }) => status === 'SKIPPED').map(({ title }) => title)).toEqual([
    'search_with_attributes',
    'search_with_attributes',
  ]);
  expect(checks.length).toBeGreaterThan(100);
});
