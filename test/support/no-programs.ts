import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/**
 * vitest setupFiles of `npm test`: refuses to start Node as a process. A test that does, whether for the service, one of its programs, an
 * actor that is killed, the command line or a client, is `*.program.ts`, and `npm run test:program` runs it: such a process takes a core
 * for seconds, and with these tests `npm test` would take twice as long. PostgreSQL, nats-server and tools of the system may be started.
 */
const STARTS_NODE = /(?:^|[\s/])(?:node|npm|npx)(?:\s|$)/;
const isBegun = Symbol.for('postroom.no-programs');

// Files that share a process run this again.
if (!Object.hasOwn(globalThis, isBegun)) {
  Object.assign(globalThis, { [isBegun]: true });
  refusePrograms();
}

function refusePrograms(): void {
  // All that does not block passes through here.
  const prototype = ChildProcess.prototype as unknown as {
    spawn: (this: ChildProcess, start: { file: string; args?: string[] }) => number;
  };
  const { spawn } = prototype;
  prototype.spawn = function spawnUnlessNode(start) {
    refuseNode([start.file, ...(start.args ?? [])]);
    return spawn.call(this, start);
  };
  const { spawnSync, execFileSync, execSync } = childProcess;
  Object.assign(childProcess, {
    spawnSync: refusingNode(spawnSync),
    execFileSync: refusingNode(execFileSync),
    execSync: refusingNode(execSync),
  });
  syncBuiltinESMExports();
}

function refusingNode<Result>(start: (...given: never[]) => Result): (...given: unknown[]) => Result {
  return (...given) => {
    refuseNode(given.flat().filter((word) => typeof word === 'string'));
    return start(...(given as never[]));
  };
}

function refuseNode(words: readonly string[]): void {
  if (words.some((word) => STARTS_NODE.test(word)))
    throw new Error(`A test that starts Node (${words.join(' ')}) is *.program.ts, which npm run test:program runs.`);
}
