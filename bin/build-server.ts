import { buildServer } from './runner/build-server.ts';
import { readArguments } from './runner/command-line.ts';

readArguments({
  usage: `Usage: npm run build-server

Bundles the programs of the service into JavaScript in dist. npm start and bin/run.js run it as long as it matches
the sources, which saves memory and time at the start. npm ci builds it automatically.`,
});

const { folder, bytes } = await buildServer();
process.stdout.write(`${folder}: ${(bytes / 1e6).toFixed(1)} MB\n`);
