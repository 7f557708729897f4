import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('a command that a page copies', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test.each([
    ['/scheduled', 1, null],
    ['/activity', 2, null],
    ['/inbox', 2, null],
    ['/reference', 3, null],
    ['/welcome', 1, 'curl'],
    ['/welcome', 1, 'swaks'],
  ])('on %s works: %i commands, tab %s', async (path, count, tab) => {
    const account = await stage.account();
    const { page, close } = await stage.open(account);
    await page.goto(stage.url + path);
    if (tab !== null) await page.getByRole('tab', { name: tab, exact: true }).click();
    const commands = await listCommands(page, count);
    for (const command of commands) {
      const { code, output } = await run(command, account.apiKey);
      expect([command, code], output).toEqual([command, 0]);
      expect(output, command).not.toMatch(/"error"|"errors"|<html|^5\d\d /im);
      expect(command).not.toMatch(/[^:]\/\/api/);
    }
    if (path === '/scheduled')
      await page.getByRole('link', { name: 'Later' }).or(page.getByText('Later')).first().waitFor();
    await close();
  });
});

/** Returns the commands of the page, when all of them are there. */
async function listCommands(page: Page, count: number): Promise<string[]> {
  const shown = page.locator('.postroom-command [role=region]');
  await expect.poll(() => shown.count()).toBe(count);
  return shown.allTextContents();
}

/** Runs a command as a user does, with a key. A stream ends after what it says first. */
async function run(command: string, key: string): Promise<{ code: unknown; output: string }> {
  const child = spawn('sh', ['-c', `exec ${command.includes('|') ? `sh -c "$COMMAND"` : command}`], {
    env: { ...process.env, KEY: key, COMMAND: command },
  });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
  if (command.includes('event-stream')) {
    await once(child.stdout, 'data');
    child.kill();
    await once(child, 'close');
    return { code: 0, output: '' };
  }
  const [code] = await once(child, 'close');
  return { code, output };
}
