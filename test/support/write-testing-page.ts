import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { longFiles } from './long-files.ts';
import { testingPage } from './testing-page.ts';

/** `npm run testing-page`: writes docs/testing.md. */
const root = path.resolve(import.meta.dirname, '../..');
await writeFile(path.join(root, 'docs/testing.md'), testingPage(longFiles(root)));
