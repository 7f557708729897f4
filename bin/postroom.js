#!/usr/bin/env node
// Starts bin/postroom.ts. `npx postroom` outside the repository finds the Node of the system, which may be too old to run TypeScript;
// then the Node that npm installed with Postroom runs it. Plain JavaScript for Node 20 and later.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

if (process.features.typescript) {
  // Starts in half the time when it has run before.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)));
  await import('./postroom.ts');
} else {
  const program = fileURLToPath(new URL('postroom.ts', import.meta.url));
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both; this process ends when the program has.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  child.on('error', (error) => {
    process.stderr.write(`${node} does not run: ${error.message}. Run npm ci in the folder of Postroom.\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
    } else {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
  });
}
