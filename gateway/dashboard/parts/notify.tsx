import { Group } from '@mantine/core';
import type { NotificationData } from '@mantine/notifications';
import { QuietButton } from './controls.tsx';
import type { hideNotification, showNotification } from './notices.tsx';
import { Small, SmallLink } from './text.tsx';

type Shower = { showNotification: typeof showNotification; hideNotification: typeof hideNotification };

let shower: Promise<Shower> | null = null;
const listeners = new Set<() => void>();
let isAsked = false;

/** Shows a notice. The code that renders notices loads with the first one. */
export function notify(notice: NotificationData): void {
  void load().then(({ showNotification }) => showNotification(notice));
}

/** Hides a notice by its id. */
function hideNotice(id: string): void {
  void load().then(({ hideNotification }) => hideNotification(id));
}

/** Calls the listener when the first notice is shown. */
export const noticesAsked = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  read: (): boolean => isAsked,
};

function load(): Promise<Shower> {
  if (shower === null) {
    shower = import('./notices.tsx');
    isAsked = true;
    for (const listener of listeners) listener();
  }
  return shower;
}

/** Time that a notice with an action stays. Milliseconds. */
const STAYS_MS = 10_000;

/** Actions of a notice. */
interface NoticeOffer {
  /** a link: its text and path */
  link?: { label: string; path: string } | undefined;
  /** undoes the action */
  undo?: (() => void) | undefined;
  /** time that the notice stays, 10 s by default; milliseconds */
  staysMs?: number | undefined;
}

/** Shows what was done, with an optional link and undo button. Returns a function that hides it. */
export function showNotice(text: string, { link, undo, staysMs = STAYS_MS }: NoticeOffer = {}): () => void {
  const id = randomId();
  const hide = () => hideNotice(id);
  notify({
    id,
    autoClose: staysMs,
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Close notice' },
    message: (
      <Group justify="space-between" gap="xs">
        <Small flex="1 1 8rem" style={{ overflowWrap: 'break-word', minWidth: 0 }}>
          {text}
        </Small>
        <Group gap="sm">
          {link !== undefined && (
            <SmallLink href={link.path} onClick={hide}>
              {link.label}
            </SmallLink>
          )}
          {undo !== undefined && (
            <QuietButton
              label="Undo"
              size="compact-sm"
              onClick={() => {
                hide();
                undo();
              }}
            />
          )}
        </Group>
      </Group>
    ),
  });
  return hide;
}

const ID_BYTES = 16;

/** Returns 128 random bits in hex. crypto.randomUUID exists only on https and localhost. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
