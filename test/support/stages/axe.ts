import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunOptions } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a page may take to settle. For hangs, not for slowness. */
const LIMIT_MS = 60_000;

/**
 * Returns what axe finds wrong with a page, no rule switched off: rule, and where, one line each. A live page may still be rendering (a dialog
 * gets its name after it is shown), so findings count when they stay. What its frames show is a part of it. `selector`: the only part to look at;
 * null: all of it.
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

const COLOR_RULES: RunOptions = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

async function runAxe(page: Page, options: RunOptions, selector: string | null = null): Promise<string[]> {
  for (const deadline = Date.now() + LIMIT_MS; ; await sleep(100)) {
    const violations = await runAxeOnce(page, options, selector);
    if (violations.length === 0 || Date.now() > deadline) return violations;
  }
}

async function runAxeOnce(page: Page, options: RunOptions, selector: string | null): Promise<string[]> {
  await addAxe(page.mainFrame());
  // What fades in has other colors for a moment.
  await page.evaluate(async () => {
    await Promise.all(
      document
        .getAnimations()
        .filter((animation) => animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
        .map((animation) => animation.finished.catch(() => undefined)),
    );
  });
  // Of what is right, axe names one element a rule: naming all of them takes much of its time.
  const given: RunOptions = { ...options, resultTypes: ['violations'] };
  const contexts = await page.evaluate(
    ({ run, part }) => globalThis.axe.utils.getFrameContexts(part ?? document, run),
    { run: given, part: selector },
  );
  const partials = [
    await page.evaluate(({ run, part }) => globalThis.axe.runPartial(part ?? document, run), {
      run: given,
      part: selector,
    }),
  ];
  // The page's own axe cannot enter the frames of mail, which run no scripts.
  for (const { frameSelector, frameContext } of contexts) {
    const element = await page.evaluateHandle((path) => globalThis.axe.utils.shadowSelect(path), frameSelector);
    const frame = await element.asElement()?.contentFrame();
    if (frame == null) throw new Error(`no frame at ${JSON.stringify(frameSelector)}`);
    await addAxe(frame);
    partials.push(
      await frame.evaluate(({ run, part }) => globalThis.axe.runPartial(part, run), { run: given, part: frameContext }),
    );
  }
  const { violations } = await page.evaluate(({ run, all }) => globalThis.axe.finishRun(all, run), {
    run: given,
    all: partials,
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary, html }) =>
        `${id}: ${target.join(' ')} ${html.slice(0, 160)} (${failureSummary?.split('\n').slice(1).join('; ').trim()})`,
    ),
  );
}

declare global {
  // oxlint-disable-next-line no-var -- the global of a page
  var axe: typeof import('axe-core');
}

/** Puts axe into a document from outside, whose policy would not let it in. The document keeps it. */
async function addAxe(frame: Frame): Promise<void> {
  if (!(await frame.evaluate(() => 'axe' in globalThis))) await frame.evaluate(source);
}
