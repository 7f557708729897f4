import { defineConfig } from 'vitest/config';
import { isEveryPageOpened } from './test/support/browser-length.ts';
import { base, resolve } from './test/support/vitest-base.ts';

/**
 * `npm run test:browser`: what people do in the dashboard, and hostile mail, in a browser (`*.browser.ts`). With BROWSER_LENGTH=full,
 * each document and page is opened by itself.
 */
export default defineConfig({
  resolve,
  test: {
    ...base,
    include: ['test/**/*.browser.ts', ...(isEveryPageOpened ? ['test/dashboard/pages.test.ts'] : [])],
    isolate: false,
    maxWorkers: 3,
  },
});
