import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe finds wrong with a page as it is now, no rule switched off: rule, and where, one line each. Its program is put in from outside
 * the page, whose policy would not let it in.
 */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(source);
  return page.evaluate(async () => {
    // What fades in has other colours for a moment.
    await Promise.all(
      document
        .getAnimations()
        .filter((animation) => animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
        .map((animation) => animation.finished.catch(() => undefined)),
    );
    const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } };
    // Of what is right, axe names one element a rule: naming all of them takes much of its time.
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, failureSummary, html }) =>
          `${id}: ${target.join(' ')} ${html.slice(0, 160)} (${failureSummary?.split('\n').slice(1).join('; ').trim()})`,
      ),
    );
  });
}
