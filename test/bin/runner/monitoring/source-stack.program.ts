import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSourceStack } from '../../../../bin/runner/monitoring/source-stack.ts';
import { repository } from '../../../support/runner.ts';

const execute = promisify(execFile);
/** No build has it as its name: it is the hash of nothing. */
const folder = path.join(repository, 'dist/000000000000');
const built = `file://${folder}/chunks/made-Ab_1-x.js`;

beforeAll(() => {
  mkdirSync(path.join(folder, 'chunks'), { recursive: true });
  // Its second line is the fourth of the source.
  const map = { version: 3, sources: ['../../../core/made.ts'], names: [], mappings: ';AAGA' };
  writeFileSync(path.join(folder, 'chunks/made-Ab_1-x.js.map'), JSON.stringify(map));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a frame of a built file becomes the frame of its source', () => {
  const stack = `Error: no\n    at made (${built}:2:1)\n    at async ${built}:2:1\n    at node:internal/x:1:2`;
  const source = `file://${repository}/core/made.ts:4:1`;
  expect(readSourceStack(stack)).toBe(
    `Error: no\n    at made (${source})\n    at async ${source}\n    at node:internal/x:1:2`,
  );
});

test.each([
  ['a built file whose map is gone', `file://${folder}/chunks/gone.js:2:1`],
  ['a file above the build', `file://${folder}/chunks/../../../core/made.js:2:1`],
  ['a file of another folder', 'file:///tmp/dist/000000000000/chunks/made-Ab_1-x.js:2:1'],
  ['a line that the map does not have', `${built}:1:1`],
])('a frame of %s stays as it is', (_, frame) => {
  expect(readSourceStack(`Error: no\n    at ${frame}`)).toBe(`Error: no\n    at ${frame}`);
});

test('a message of a megabyte that looks like frames stays as it is', () => {
  for (const part of ['file://', `file://${folder}/`, `file://${folder}/a.js`]) {
    const message = part.repeat(Math.ceil(1_000_000 / part.length));
    expect(readSourceStack(message)).toBe(message);
  }
});

test('an error that ends the process is printed with its source', async () => {
  const program = `
    import { traceSources } from ${JSON.stringify(path.join(repository, 'bin/runner/monitoring/source-stack.ts'))};
    traceSources();
    const error = new Error('no');
    error.stack = 'Error: no\\n    at made (${built}:2:1)';
    throw error;`;
  const failed = execute(process.execPath, ['--input-type=module', '--eval', program]);
  await expect(failed).rejects.toMatchObject({ stderr: expect.stringContaining(`core/made.ts:4:1`) });
});
