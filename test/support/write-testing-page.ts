import path from 'node:path';
import { writeTestingPage } from './last-results.ts';

/** `npm run testing-page`: writes docs/testing.md. */
writeTestingPage(path.resolve(import.meta.dirname, '../..'));
