import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { sharedFolder } from '../shared-folder.ts';
import { makeServiceDirectory } from './orphans.ts';
import { awaitFile, noteSharedServer, startSharedProgram } from './shared-server.ts';

const ENDPOINT = 'endpoint';

/**
 * Connects to the one Chromium of this run. The first file that needs it starts it; it ends after the last file of the run. Contexts belong
 * to the connection, and `close` closes them and leaves Chromium running.
 */
export async function connectBrowser(): Promise<Browser> {
  const folder = await sharedFolder('browser', async (draft) => {
    const directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-browser-');
    const child = startSharedProgram(directory, 'browser', 'shared-browser-process.ts', [directory]);
    await writeFile(path.join(draft, ENDPOINT), await awaitFile(path.join(directory, ENDPOINT), child, directory));
    await noteSharedServer(draft, {
      directory,
      processes: [[{ name: 'browser', pid: child.pid ?? 0, program: null }]],
    });
  });
  return chromium.connect(await readFile(path.join(folder, ENDPOINT), 'utf8'));
}
