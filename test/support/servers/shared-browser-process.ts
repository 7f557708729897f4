import path from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumPath, PUBLIC_NAME } from './chromium.ts';
import { writeWholeFile } from './whole-file.ts';

/** The Chromium of a run, `node shared-browser-process.ts FOLDER`: each test file connects to it with its own contexts, see shared-browser.ts. */
const [folder = ''] = process.argv.slice(2);
const server = await chromium.launchServer({
  executablePath: chromiumPath ?? '',
  host: '127.0.0.1',
  // Each page lives for seconds: what an optimizing compiler gains there is less than it costs.
  args: ['--no-sandbox', '--js-flags=--no-turbofan', `--host-resolver-rules=MAP ${PUBLIC_NAME} 127.0.0.1`],
});
writeWholeFile(path.join(folder, 'endpoint'), server.wsEndpoint());
