import { useEffect, useEffectEvent, useLayoutEffect } from 'react';

/*
 * Decides where a key goes; nothing else in the dashboard listens to keys of the whole page. For each key, the first that applies:
 *
 * 1. held      something that was opened is still loading (FieldComing), or its field has not taken the focus for good: what is typed is kept
 * 2. overlay   a dialog, menu or popover is open: it has the key; text goes to its first field, if the user has not been there
 * 3. field     a field has the focus: it has the key
 * 4. shortcut  the action of useShortcuts
 *
 * A key pressed within a mail is one of the page: its frame runs no scripts, and joinFrame (focus.ts) listens to it.
 */

/** Selector of overlays that receive the keys while they are open. */
export const OVERLAYS = '[role=dialog], [role=menu], .mantine-Popover-dropdown';
const TEXT_FIELDS =
  'input:not([type=checkbox], [type=radio], [type=file], [type=button], [type=submit], [type=hidden]), textarea, [contenteditable=true]';
/** Selector of what the Tab key goes to. */
export const TAB_STOPS = `${TEXT_FIELDS}, select, button, a[href], [tabindex="0"]`;
/** Time within which the second key of a pair such as `g i` has to follow. Milliseconds. */
const PAIR_MS = 1_500;
/** What is typed is no longer held when nothing took the focus this long after it was loaded. Milliseconds. */
const GIVE_UP_MS = 3_000;

/** Actions by the name of their key, such as `e`, `g i` or `Mod+k`. */
type Actions = Record<string, () => void>;

/** Maps of actions on the page, each read when a key is pressed. */
const shortcuts = new Set<(name: string) => (() => void) | undefined>();
const prefixes = new Set<(key: string) => boolean>();
/** Fields that had the focus. Text does not pull the user back to them. */
const visited = new WeakSet<Element>();

/** What is being opened and will have a field; the last one was opened last. */
const coming: { cancel: (() => void) | null }[] = [];
/** What had the focus when it was opened. */
let origin: Element | null = null;
/** Text and keys for the field, in order. Null: nothing is awaited. */
let held: string[] | null = null;
let cancelHeld: (() => void) | null = null;
let isGiving = false;
let givingUp = 0;
/** The overlay that was open before the key was handled: the key may close it. */
let isAside = false;
let prefix: { key: string; at: number } | null = null;
/** A shortcut that was pressed before the page had its actions: it runs as soon as they are there. */
let early: string | null = null;

/**
 * Calls back for keys pressed without modifiers while no field, menu or dialog has the focus. A name such as `g i` is a pair: the second key
 * is not passed to other actions. `Mod+k` is Ctrl+K or ⌘K, and works in fields, too.
 */
export function useShortcuts(actions: Actions): void {
  const find = useEffectEvent((name: string) => actions[name]);
  const begins = useEffectEvent((key: string) => Object.keys(actions).some((name) => name.startsWith(`${key} `)));
  useEffect(() => {
    listen();
    const ownFind = (name: string) => find(name);
    const ownBegins = (key: string) => begins(key);
    shortcuts.add(ownFind);
    prefixes.add(ownBegins);
    runEarly();
    return () => {
      shortcuts.delete(ownFind);
      prefixes.delete(ownBegins);
    };
  }, []);
}

/** Does what the key does on this page; nothing if it does nothing. */
export function runShortcut(name: string): void {
  find(name)?.();
}

/** Name that no key has: an action while keys change what is selected, and not what is open. */
export const SELECTION = 'selection';

/** Returns whether the page has an action of this name. */
export function hasShortcut(name: string): boolean {
  return find(name) !== undefined;
}

/**
 * Takes the place of a field that is not there yet, as long as its code or data load: what is typed meanwhile goes to the field that takes the focus
 * afterwards. Esc calls `cancel`.
 */
export function FieldComing({ cancel }: { cancel: () => void }): null {
  const close = useEffectEvent(cancel);
  useLayoutEffect(() => {
    listen();
    const own = { cancel: () => close() };
    coming.push(own);
    window.clearTimeout(givingUp);
    if (held === null) origin = document.activeElement;
    held ??= [];
    cancelHeld = own.cancel;
    return () => {
      coming.splice(coming.indexOf(own), 1);
      if (coming.length > 0 || held === null) return;
      window.clearTimeout(givingUp);
      givingUp = window.setTimeout(giveUp, GIVE_UP_MS);
      requestAnimationFrame(goOn);
    };
  }, []);
  return null;
}

/** Returns whether what is typed is kept for a field that is coming. */
export function isHolding(): boolean {
  return held !== null;
}

/** Says that what was opened shows no field after all, such as an error. */
export function useNoField(): void {
  useLayoutEffect(() => {
    if (coming.length === 0) release();
  }, []);
}

/** Gives the focus to the first field of a form on the page as it appears. Its field has `data-autofocus`. */
export function useFirstField(): void {
  useEffect(() => {
    listen();
    // A person who types faster than the page renders was there before, and may have gone on.
    const field = firstField();
    if (field !== null && !visited.has(field)) focusFirstField();
  }, []);
}

/** What was opened is there: it has taken the focus, or its first field gets it. */
function goOn(): void {
  if (coming.length > 0 || held === null) return;
  const active = document.activeElement;
  if (active !== null && active !== origin && isField(active)) void give(active);
  else focusFirstField();
}

/** On a busy machine, the time is over before the field could take the focus. */
function giveUp(): void {
  goOn();
  if (!isGiving && coming.length === 0) release();
}

function release(): void {
  window.clearTimeout(givingUp);
  held = null;
  cancelHeld = null;
}

let isListening = false;
/** Starts to listen, once for all pages; before the first one is shown, so that no key is lost. */
export function listen(): void {
  if (isListening) return;
  isListening = true;
  listenTo(window);
  window.addEventListener('focusin', ({ target }) => {
    if (!isElement(target)) return;
    visited.add(target);
    if (held !== null && coming.length === 0 && isField(target)) queueMicrotask(() => void give(target));
  });
  // The user goes to another field instead.
  window.addEventListener('pointerdown', ({ target }) => isElement(target) && isField(target) && release(), {
    capture: true,
  });
}

/** Takes the keys that are pressed in the page, or in a frame of it. */
export function listenTo(view: Window): void {
  view.addEventListener('keydown', capture, { capture: true });
  view.document.addEventListener('keydown', bubble);
}

/** Runs before any other handler of the key. */
function capture(event: KeyboardEvent): void {
  if (!event.isTrusted) return;
  const before = prefix !== null && event.timeStamp - prefix.at < PAIR_MS ? prefix.key : null;
  prefix = null;
  isAside = openOverlay() !== null;
  if (isComposing(event) || event.altKey) return;
  if (held !== null) return hold(event);
  if (event.ctrlKey || event.metaKey) return;
  if (isText(event.key) && event.key !== ' ' && goToFirstField(event)) return;
  if (before === null || isAside || isTaken(event)) return;
  // The second key of a pair has no other meaning.
  event.preventDefault();
  event.stopImmediatePropagation();
  find(`${before} ${event.key}`)?.();
}

/** Runs after the handlers of the page. */
function bubble(event: KeyboardEvent): void {
  if (!event.isTrusted || isAside || event.defaultPrevented || event.altKey || isComposing(event)) return;
  if (event.ctrlKey || event.metaKey) {
    const name = `Mod+${event.key.toLowerCase()}`;
    const action = find(name);
    if (action === undefined) return holdEarly(event, name);
    event.preventDefault();
    action();
    return;
  }
  if (isTaken(event)) return;
  if ([...prefixes].some((begins) => begins(event.key))) {
    prefix = { key: event.key, at: event.timeStamp };
    return;
  }
  const action = find(event.key);
  if (action === undefined) return;
  event.preventDefault();
  action();
}

/** Shortcuts that a page without actions and fields keeps for later, with what is typed behind them. */
const EARLY = new Set(['Mod+k']);

function holdEarly(event: KeyboardEvent, name: string): void {
  if (shortcuts.size > 0 || !EARLY.has(name) || document.querySelector(TEXT_FIELDS) !== null) return;
  event.preventDefault();
  early = name;
  held = [];
  cancelHeld = () => {
    early = null;
  };
}

function runEarly(): void {
  const action = early === null ? undefined : find(early);
  if (action === undefined) return;
  early = null;
  action();
}

function find(name: string): (() => void) | undefined {
  for (const own of shortcuts) {
    const action = own(name);
    if (action !== undefined) return action;
  }
  return undefined;
}

/** Keeps a key for the field that is coming. Others, such as Ctrl+R, stay with the browser. */
function hold(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey) return;
  const { key } = event;
  if (key === 'Escape') {
    const cancel = cancelHeld;
    release();
    // The overlay that is there closes itself.
    if (cancel === null) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    cancel();
    return;
  }
  if (!isText(key) && !['Enter', 'Tab', 'Backspace'].includes(key)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (key === 'Backspace' && isText(held?.at(-1) ?? '')) held?.pop();
  else held?.push(key === 'Tab' && event.shiftKey ? 'Shift+Tab' : key);
  if (!isGiving) goOn();
}

/** Gives the field what was held, and what is typed meanwhile, key by key. */
async function give(first: Element): Promise<void> {
  if (isGiving || held === null) return;
  isGiving = true;
  window.clearTimeout(givingUp);
  let field = first;
  for (let key = takeHeld(); key !== null; key = takeHeld()) {
    if (isText(key[0])) edit('insertText', key.join(''));
    else press(field, key[0]);
    // React renders what the key changed before the next one.
    await new Promise((resolve) => setTimeout(resolve));
    field = document.activeElement ?? field;
    // An Enter has opened what has a field of its own.
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- null after press() closed what was coming
    if (held?.length && coming.length === 0 && !isField(field)) holdUntilFocused();
    if (coming.length > 0) break;
  }
  isGiving = false;
  if (coming.length === 0) release();
}

/** Takes the text at the front of what is held, or the key there. Null: there is nothing more. */
function takeHeld(): [string, ...string[]] | null {
  const first = held?.shift();
  if (held === null || first === undefined) return null;
  const end = held.findIndex((key) => !isText(key));
  return [first, ...(isText(first) ? held.splice(0, end === -1 ? held.length : end) : [])];
}

/** Does what a key that is not text does in a field. */
function press(field: Element, key: string): void {
  if (key === 'Backspace') return edit('delete');
  const name = key === 'Shift+Tab' ? 'Tab' : key;
  const isUntouched = field.dispatchEvent(
    new KeyboardEvent('keydown', { key: name, code: name, shiftKey: key !== name, bubbles: true, cancelable: true }),
  );
  if (!isUntouched) return;
  if (name === 'Tab') {
    const within = field.closest(OVERLAYS) ?? field.closest('form') ?? document;
    const stops = [...within.querySelectorAll<HTMLElement>(TAB_STOPS)].filter(isReachable);
    stops[stops.findIndex((stop) => stop === field) + (key === name ? 1 : -1)]?.focus();
  } else if (field.matches('textarea')) edit('insertText', '\n');
  else if (field.matches('[contenteditable]')) edit('insertParagraph');
  else field.closest('form')?.requestSubmit();
}

/** Edits the focused field as the user would: its listeners and its undo stack hear of it. */
function edit(command: 'insertText' | 'insertParagraph' | 'delete', text?: string): void {
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else edits fields and editors alike, and every browser has it
  document.execCommand(command, false, text);
}

/** Text typed outside of fields goes to the first field of what was opened last, if the user has not been there. Returns whether the key is held for it. */
function goToFirstField(event: KeyboardEvent): boolean {
  const { target } = event;
  if (isElement(target) && isField(target)) return false;
  const field = firstField();
  if (field === null || !isField(field) || visited.has(field)) return false;
  if (field.closest(OVERLAYS) === null && event.view === window) {
    // The browser enters the key into what has the focus when its handlers have run.
    field.focus();
    return false;
  }
  holdUntilFocused();
  hold(event);
  return true;
}

/** Holds keys while an overlay takes the focus: it does so in timers of its own, which would take it back from the second field to the first. */
function holdUntilFocused(): void {
  const own = { cancel: null };
  coming.push(own);
  origin = document.activeElement;
  held ??= [];
  cancelHeld = null;
  window.setTimeout(() =>
    window.setTimeout(() => {
      coming.splice(coming.indexOf(own), 1);
      if (coming.length === 0) giveUp();
    }),
  );
}

function focusFirstField(): void {
  const field = firstField();
  if (field === null) return;
  field.focus({ preventScroll: field.closest(OVERLAYS) !== null });
  if (held !== null && document.activeElement === field && isField(field)) void give(field);
}

/** Returns the field that the overlay on top, or else the page, begins with: of several on a page, that of what was opened last. */
function firstField(): HTMLElement | null {
  const overlay = openOverlay();
  const marked = [...(overlay ?? document).querySelectorAll<HTMLElement>('[data-autofocus]')].filter(isReachable);
  if (overlay === null) return marked.at(-1) ?? null;
  return (
    marked[0] ?? [...overlay.querySelectorAll<HTMLElement>('form')].flatMap((form) => fieldsIn(form)).at(0) ?? null
  );
}

function fieldsIn(within: Element): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>(TEXT_FIELDS)].filter(isReachable);
}

/** Returns the open overlay that was opened last. */
function openOverlay(): Element | null {
  return [...document.querySelectorAll(OVERLAYS)].findLast((overlay) => overlay.checkVisibility()) ?? null;
}

/** Returns whether the Tab key can get to an element. */
export function isReachable(element: HTMLElement): boolean {
  return element.checkVisibility() && !element.matches(':disabled, [tabindex="-1"]');
}

/** Returns whether it is an element, also of the document of a frame, which has classes of its own. */
function isElement(target: EventTarget | null): target is Element {
  return target !== null && 'closest' in target;
}

function isField(element: Element): boolean {
  return element.matches(TEXT_FIELDS);
}

/** Returns whether the key belongs to an input method. Safari ends the composition before the key that ends it. */
// oxlint-disable-next-line typescript/no-deprecated -- nothing else says it
function isComposing({ isComposing: isWithin, keyCode }: KeyboardEvent): boolean {
  return isWithin || keyCode === 229;
}

function isText(key: string): boolean {
  return /^.$/u.test(key);
}

/** Returns whether the focused element uses the key. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!isElement(target)) return false;
  if (target.closest(`${TEXT_FIELDS}, select, [role=dialog], [role=menu], [role=listbox]`) !== null) return true;
  return (key === 'Enter' || key === ' ') && target.closest('a, button, summary, [role=button], input') !== null;
}
