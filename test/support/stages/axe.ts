import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a page may take to settle. For hangs, not for slowness. */
const LIMIT_MS = 60_000;

/**
 * Returns what axe finds wrong with a page, no rule switched off: rule, and where, one line each. A live page may still be rendering (a dialog
 * gets its name after it is shown), so findings count when they stay. `selector`: the only part to look at; null: all of it.
 */
export async function findViolations(page: Page, selector: string | null = null): Promise<string[]> {
  return runAxe(page, {}, selector);
}

/** The same for the rules about color alone: what remains to check of a page that was checked in the other color scheme. */
export async function findColorViolations(page: Page): Promise<string[]> {
  return runAxe(page, COLOR_RULES);
}

/** The same for a document that does not change by itself, such as a mail, and that may have faults: they are not waited for to go. */
export async function findColorViolationsOfMail(page: Page): Promise<string[]> {
  return runAxeOnce(page, COLOR_RULES, null);
}

/** Returns what is pressed but less than 24 pixels high or wide, and not as far from all others (WCAG 2.5.8). axe looks for it only on request. */
export async function findSmallTargets(page: Page): Promise<string[]> {
  return runAxe(page, {
    runOnly: { type: 'rule', values: ['target-size'] },
    rules: { 'target-size': { enabled: true } },
  });
}

const COLOR_RULES: RunOptions = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

async function runAxe(page: Page, options: RunOptions, selector: string | null = null): Promise<string[]> {
  for (const deadline = Date.now() + LIMIT_MS; ; await sleep(100)) {
    const violations = await runAxeOnce(page, options, selector);
    if (violations.length === 0 || Date.now() > deadline) return violations;
  }
}

/** Returns what axe finds wrong with the mail in the frames of a page: what its sender did wrong, and what we do to it. */
export async function findViolationsInMail(page: Page): Promise<string[]> {
  const mails = page.frames().filter((frame) => MAIL_URL.test(frame.url()));
  return (await Promise.all(mails.map((frame) => runInMail(frame)))).flat();
}

const MAIL_URL = /\/emails\/[^/]+\/html\?/;

/** What concerns a whole page, of which a mail is a part. */
const PAGE_RULES = ['bypass', 'landmark-one-main', 'page-has-heading-one', 'region'];

/** Looks at a mail in a page of its own. In its frame, where no script runs, axe would wait for ever. */
async function runInMail(frame: Frame): Promise<string[]> {
  const element = await frame.frameElement();
  const box = await element.boundingBox();
  if (box === null) return [];
  const copy = await frame.page().context().newPage();
  try {
    await copy.setViewportSize({ width: Math.ceil(box.width), height: Math.ceil(box.height) });
    await copy.setContent(await frame.content());
    const rules = Object.fromEntries(PAGE_RULES.map((rule) => [rule, { enabled: false }]));
    return await runAxeOnce(copy, { rules }, null);
  } finally {
    await copy.close();
  }
}

async function runAxeOnce(page: Page, options: RunOptions, selector: string | null): Promise<string[]> {
  // From outside the page, whose policy would not let it in. A document keeps it.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  return page.evaluate(
    async ({ given, part }) => {
      // What fades in has other colors for a moment.
      await Promise.all(
        document
          .getAnimations()
          .filter((animation) => animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
          .map((animation) => animation.finished.catch(() => undefined)),
      );
      const { axe } = globalThis as unknown as {
        axe: { run(context: Document | string, options: RunOptions): Promise<AxeResults> };
      };
      // Of what is right, axe names one element a rule: naming all of them takes much of its time.
      const { violations } = await axe.run(part ?? document, { ...given, resultTypes: ['violations'] });
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(
          ({ target, failureSummary, html }) =>
            `${id}: ${target.join(' ')} ${html.slice(0, 160)} (${failureSummary?.split('\n').slice(1).join('; ').trim()})`,
        ),
      );
    },
    { given: options, part: selector },
  );
}
