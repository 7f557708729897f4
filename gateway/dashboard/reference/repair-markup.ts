/**
 * Completes the roles and names of Scalar's request dialog as they appear, so that a screen reader can use it: Scalar 1.76 leaves them out.
 * Also takes the page behind the dialog out of reach.
 */
export function repairMarkup(): void {
  const observer = new MutationObserver(repair);
  observer.observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['role', 'aria-controls', 'aria-expanded', 'contenteditable'],
  });
}

const DIALOG = '[role="dialog"]';
/** What is behind a dialog: the reference itself, and the place of its notices. */
const BEHIND = '.references-rendered, section[aria-label^="Notifications"]';

function repair(): void {
  const dialog = [...document.querySelectorAll<HTMLElement>(DIALOG)].find((each) => each.checkVisibility());
  for (const element of document.querySelectorAll<HTMLElement>(BEHIND))
    element.inert = dialog !== undefined && !dialog.contains(element);
  if (dialog === undefined) return;
  for (const button of dialog.querySelectorAll('button[role="none"]')) button.removeAttribute('role');
  for (const box of dialog.querySelectorAll('[role="combobox"]:not([aria-expanded])'))
    box.setAttribute('aria-expanded', 'false');
  for (const text of dialog.querySelectorAll('.cm-content:not([aria-label])'))
    text.setAttribute('aria-label', text.getAttribute('contenteditable') === 'true' ? 'Request body' : 'Response body');
  for (const scroller of dialog.querySelectorAll<HTMLElement>('.cm-scroller[tabindex="-1"]')) scroller.tabIndex = 0;
  for (const element of dialog.querySelectorAll('[aria-controls]'))
    if (document.getElementById(element.getAttribute('aria-controls') ?? '') === null)
      element.removeAttribute('aria-controls');
}
