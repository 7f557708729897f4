import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { freePort } from '../../support/cluster/cluster.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { openOauthStage } from '../../support/stages/oauth-stage.ts';

const PASSWORD = 'correct horse battery';
const require = createRequire(import.meta.url);
const program = path.join(
  path.dirname(require.resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);
let gateway: TestGateway;
let issuer: string;
let browser: BrowserSession;
let workspaceId: string;

beforeAll(async () => {
  const port = await freePort();
  issuer = `http://localhost:${port}`;
  gateway = await openTestGateway({ config: { publicUrl: issuer } });
  await gateway.app.listen({ port, host: '127.0.0.1' });
  const email = 'person@conformance.test';
  const made = await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  workspaceId = 'workspaceId' in made ? made.workspaceId : '';
  browser = openBrowser(gateway.app, issuer);
  await browser.auth('POST', '/sign-in/email', { email, password: PASSWORD });
});
afterAll(() => gateway.close());

test('the conformance suite passes its scenarios for authorization servers: metadata and the code grant', async () => {
  const port = await freePort();
  const clientId = await openOauthStage(gateway).register({ redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const given = ['--url', issuer, '--client-id', clientId, '--resource', `${issuer}/mcp`, '--port', String(port)];
  const child = spawn(process.execPath, [program, 'authorization', ...given]);
  let output = '';
  let isAsked = false;
  child.stderr.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    const link = /^(http:\S+\/oauth\/authorize\?\S+)\n/m.exec(output)?.[1];
    // The suite may print the link before its server for the callback listens; it then waits without end.
    if (link === undefined || isAsked || !output.includes('Callback server started')) return;
    isAsked = true;
    void allow(new URL(link));
  });
  const code = await new Promise((resolve) => void child.once('close', resolve));
  expect(code, output).toBe(0);
  expect(output).toMatch(/authorization-server-metadata-endpoint/);
  expect(output).toMatch(/authorization-code-grant/);
  expect(output).not.toMatch(/FAILURE|SKIPPED/);
});

/** Does what a person does in the browser. */
async function allow(link: URL): Promise<void> {
  const asked = { parameters: Object.fromEntries(link.searchParams) };
  const decided = await browser.auth('POST', '/oauth/decision', {
    asked,
    workspaceId,
    level: 'read',
    addresses: null,
  });
  await fetch((decided.json() as { location: string }).location);
}
