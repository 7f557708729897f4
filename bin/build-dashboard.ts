import path from 'node:path';
import { build } from 'vite';
import { readArguments } from './runner/command-line.ts';

readArguments({
  usage: `Usage: npm run build

Builds the dashboard, which the gateway serves at /, into gateway/dashboard/dist. npm ci does it by itself;
it is needed again after a change below gateway/dashboard.`,
});

await build({
  configFile: path.resolve(import.meta.dirname, '../gateway/dashboard/vite.config.ts'),
  logLevel: 'warn',
});
