import { defineConfig } from 'vitest/config';
import { base, resolve } from './test/support/vitest-base.ts';

/**
 * `npm run test:browser`: every page of the dashboard, what people do there, and hostile mail, in a browser (`*.browser.ts`). With BROWSER_LENGTH=full,
 * each document and page is opened by itself.
 */
export default defineConfig({
  resolve,
  test: {
    ...base,
    include: ['test/**/*.browser.ts'],
    isolate: false,
    maxWorkers: 3,
  },
});
