import type { Locator, Page } from 'playwright-core';
import type { SampleAccount } from '../rows/sample-account.ts';

/** The paths of all pages that need a session; with null those that look different in an empty account. */
export function dashboardPaths(sample: SampleAccount | null): string[] {
  const lists = [
    '/',
    '/inbox',
    '/activity',
    '/drafts',
    '/approvals',
    '/scheduled',
    '/held',
    '/domains',
    '/addresses',
    '/endpoints',
    '/rules',
    '/suppressions',
    '/members',
    '/keys',
    '/requests',
    '/audit',
    '/refused',
  ];
  if (sample === null) return lists;
  return [
    ...lists,
    '/?period=quarter',
    '/welcome',
    '/endpoints?new=webhook',
    '/rules/new',
    '/reference',
    '/settings',
    '/no-such-page',
    `/inbox/${sample.threadId}`,
    `/emails/${sample.emailId}`,
    `/emails/${sample.emailId}?tab=deliveries`,
    `/emails/${sample.emailId}?tab=authentication`,
    `/emails/${sample.emailId}?tab=html`,
    `/emails/${sample.sentEmailId}`,
    `/domains/${sample.domainId}`,
    `/endpoints/${sample.endpointId}`,
    ...['test', 'replay', 'signing', 'settings'].map((tab) => `/endpoints/${sample.endpointId}?tab=${tab}`),
    `/rules/${sample.ruleId}`,
  ];
}

/** Waits until a page shows what it asked for: its heading is there, and nothing waits. */
export async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(
    () =>
      document.querySelector(
        '.mantine-Skeleton-root, [aria-busy="true"], main .mantine-Loader-root:not([aria-hidden])',
      ) === null,
  );
}

/** Returns whether a click in the middle of the element reaches it where the page is scrolled to. */
export function isOnTop(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  });
}
