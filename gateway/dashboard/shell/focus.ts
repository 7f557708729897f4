import { isHolding, isReachable, listenTo, OVERLAYS, TAB_STOPS } from './keys.ts';

/*
 * The focus never falls to the body of the page, where a screen reader begins at the top again. What has it may be removed, hidden or disabled, often by what it did
 * itself. It then goes, whichever comes first:
 *
 * 1. back     a dialog or menu has closed: to what had it before. A button was busy: to the button, when it is done
 * 2. beside   a row has left its list: to the next one, or else the one before. Something took its place: to that
 * 3. heading  of the part of the page that it was in
 *
 * A page that is left by Back gives it to the link that led away. Code that knows a better place focuses it within the same frame. While it is
 * within a mail, the frame of that has it.
 */

/** Where an element was, when it was removed. */
interface Removal {
  parent: Node;
  before: Node | null;
  after: Node | null;
}

const ROWS = 'li, tr, [role=row], article';
const HEADINGS = 'h1, h2, h3';
/** Dialogs, menus and notices: what is done there goes on where the user was before. */
const ASIDE = `${OVERLAYS}, .mantine-Notifications-notification`;
/** A control that was disabled by what it did counts as lost after this time. Milliseconds. */
const PAUSE_MS = 1_000;

/** What had the focus last; null: the user left it for the page. */
let last: HTMLElement | null = null;
/** The path of the page when it got it. */
let path = '';
/** Whether it was taken from that, and not left by the user. */
let isOwed = false;
let isAsked = false;
let isByKey = false;
/** Timer for a control that is disabled; 0: none. */
let waiting = 0;
/** What had the focus before a dialog or menu, by that. */
const origins = new WeakMap<Element, HTMLElement>();
const removals = new WeakMap<Node, Removal>();

/** Starts to keep the focus, once for all pages. */
export function keepFocus(): void {
  window.addEventListener('focusin', ({ target }) => target instanceof HTMLElement && note(target));
  // The focus went into a frame, which no event of the page says.
  window.addEventListener('blur', () => {
    if (document.activeElement instanceof HTMLIFrameElement) note(document.activeElement);
  });
  window.addEventListener('focusout', ({ target }) => {
    window.setTimeout(() => {
      // The user pressed what takes no focus. Another window, which takes it as well, leaves the active element.
      if (last !== null && last === target && isLost() && !isOwed && isUsable(last)) last = null;
    });
  });
  watchHand(window);
  new MutationObserver((records) => {
    for (const { target, removedNodes, previousSibling, nextSibling } of records)
      for (const node of removedNodes) {
        removals.set(node, { parent: target, before: previousSibling, after: nextSibling });
        isOwed ||= node.contains(last);
      }
    if (last !== null && !isAsked) ask();
  }).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['disabled', 'data-loading', 'hidden', 'data-open'],
  });
}

/** Takes the loaded frame of a mail into the page: its keys are those of the page. Esc on a link in it leads to the message around it. */
export function joinFrame(frame: HTMLIFrameElement): void {
  const { contentWindow: view, contentDocument: inner } = frame;
  if (view === null || inner === null) return;
  const leave = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || inner.activeElement === inner.body || isHolding()) return;
    event.stopImmediatePropagation();
    give(climb(frame.parentElement));
  };
  view.addEventListener('keydown', leave, { capture: true });
  watchHand(view);
  listenTo(view);
}

function note(element: HTMLElement): void {
  const overlay = element.closest(ASIDE);
  if (overlay !== null && last !== null && !overlay.contains(last) && !origins.has(overlay)) origins.set(overlay, last);
  last = element;
  isOwed = false;
  path = window.location.pathname;
}

function watchHand(view: Window): void {
  for (const type of ['keydown', 'pointerdown'])
    view.addEventListener(type, () => void (isByKey = type === 'keydown'), { capture: true });
}

/** Looks once the browser has taken the focus from what cannot have it, and the code of the page has given it to something else. */
function ask(): void {
  isAsked = true;
  requestAnimationFrame(() => window.setTimeout(look));
}

function look(): void {
  isAsked = false;
  if (last === null || !isLost()) return;
  // What is loading will take it.
  if (isHolding()) {
    isAsked = true;
    window.setTimeout(look, PAUSE_MS);
    return;
  }
  if (isUsable(last)) return isOwed ? give(last) : undefined;
  isOwed = true;
  if (last.isConnected && last.matches(':disabled')) wait(last);
  else give(find(last));
}

/** Waits for a busy control. One that stays disabled, such as Save after saving, gives the focus to the field before it. */
function wait(control: HTMLElement): void {
  waiting ||= window.setTimeout(() => {
    waiting = 0;
    if (control !== last || !isLost() || !control.matches(':disabled')) return;
    if (control.matches('[data-loading], [aria-busy=true]')) wait(control);
    else if (isByKey)
      give(
        findAllReachable(control.closest('form'), TAB_STOPS).findLast(isBefore(control)) ??
          climb(control.parentElement),
      );
  }, PAUSE_MS);
}

function isLost(): boolean {
  return document.activeElement === document.body;
}

/** Focuses an element, for the time being also one that has no focus of its own, such as a heading. The page scrolls for users of the keyboard only. */
function give(element: HTMLElement): void {
  if (element.tabIndex < 0 && !element.hasAttribute('tabindex')) {
    element.tabIndex = -1;
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  }
  element.focus({ preventScroll: !isByKey });
}

/** Returns what gets the focus instead of an element that lost it. */
function find(lost: Element): HTMLElement {
  const overlay = lost.closest(ASIDE);
  const isClosed = overlay !== null && !overlay.checkVisibility();
  const origin = overlay === null ? undefined : origins.get(overlay);
  // Once: two menus that were opened from each other would lead to each other for ever.
  if (overlay !== null) origins.delete(overlay);
  if (isClosed && origin !== undefined) return isUsable(origin) ? origin : find(origin);
  if (isClosed) return climb(null);
  if (overlay === null && window.location.pathname !== path) return findLinkTo(path) ?? climb(null);
  return lost.isConnected ? climb(lost.parentElement) : findBeside(lost.getRootNode());
}

function findLinkTo(page: string): HTMLElement | null {
  const name = CSS.escape(page);
  return findReachable(document.querySelector('main'), `a[href="${name}"], a[href^="${name}?"]`);
}

/** Returns what is now where something was removed. */
function findBeside(gone: Node): HTMLElement {
  const removal = removals.get(gone);
  if (removal === undefined) return climb(null);
  const { parent, after } = removal;
  if (!(parent instanceof Element) || !parent.isConnected)
    return parent instanceof Element ? find(parent) : climb(null);
  let { before } = removal;
  while (before !== null && before.parentNode !== parent) before = removals.get(before)?.before ?? null;
  const next = before === null ? parent.firstElementChild : nextElement(before);
  const isRow = gone instanceof Element && gone.matches(ROWS);
  if (next !== null && (next !== after || isRow)) {
    if (next.querySelector('h1') !== null) return climb(null);
    const found = (next.matches(ROWS) ? null : findReachable(next, HEADINGS)) ?? findStop(next);
    if (found !== null) return found;
  }
  const row = [next, before].find((each): each is HTMLElement => each instanceof HTMLElement && each.matches(ROWS));
  return isRow && row !== undefined ? (findStop(row) ?? row) : climb(parent);
}

function nextElement(node: Node): Element | null {
  let next = node.nextSibling;
  while (next !== null && !(next instanceof Element)) next = next.nextSibling;
  return next;
}

/** Returns the first control of the row around a place, or else the nearest heading above it: of its part, its dialog, its page. */
function climb(from: Element | null): HTMLElement {
  for (let part = from; part !== null && !part.matches('main, body'); part = part.parentElement) {
    const found = (part.matches(ROWS) ? findStop(part) : null) ?? findReachable(part, HEADINGS);
    if (found !== null) return found;
    if (part.matches(OVERLAYS)) break;
  }
  return document.querySelector<HTMLElement>('main') ?? document.body;
}

function findStop(within: Element): HTMLElement | null {
  return within.matches(TAB_STOPS) && within instanceof HTMLElement ? within : findReachable(within, TAB_STOPS);
}

function findReachable(within: Element | null, selector: string): HTMLElement | null {
  return findAllReachable(within, selector)[0] ?? null;
}

function findAllReachable(within: Element | null, selector: string): HTMLElement[] {
  return [...(within?.querySelectorAll<HTMLElement>(selector) ?? [])].filter(isReachable);
}

function isBefore(end: Element): (element: Element) => boolean {
  return (element) => (element.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

/** Returns whether an element that had the focus can have it. */
function isUsable(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(':disabled') && element.checkVisibility({ visibilityProperty: true });
}
