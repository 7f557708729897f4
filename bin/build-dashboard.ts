import path from 'node:path';
import { build } from 'vite';
import { readArguments } from './runner/command-line.ts';

readArguments({
  usage: `Usage: npm run build

Builds the dashboard into gateway/dashboard/dist, from where the gateway serves it at /. npm ci does this
automatically. Run it again after a change in gateway/dashboard.`,
});

await build({
  configFile: path.resolve(import.meta.dirname, '../gateway/dashboard/vite.config.ts'),
  logLevel: 'warn',
});
