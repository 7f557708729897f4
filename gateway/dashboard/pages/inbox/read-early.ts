import { useState } from 'react';
import type { Client } from 'urql';
import { MESSAGE_BODY, MESSAGES, THREAD } from './thread-documents.ts';

/** Threads and emails that were read before they are opened, until an event may have changed them. */
const readEarly = new Map<string, number>();
/** How long what was read early is shown without another request. Milliseconds. */
const EARLY_MS = 3_000;
/** Rows under a pointer that moves through the list. */
const MAX_EARLY = 50;

/** Reads a conversation before it is opened: the pane that shows it finds it in the cache. No text of mail, which counts as read in the audit log. */
export function readThreadEarly(client: Client, id: string): void {
  if (noteEarly(id)) void keep(id, client.query(THREAD, { id, last: MESSAGES }, AGAIN));
}

/** Reads the text of a message before it is shown. */
export function readBodyEarly(client: Client, id: string): void {
  if (noteEarly(id)) void keep(id, client.query(MESSAGE_BODY, { id }, AGAIN));
}

/** What the cache has of an earlier time may have changed. */
const AGAIN = { requestPolicy: 'network-only' } as const;

async function keep(id: string, query: { toPromise: () => Promise<{ error?: unknown }> }): Promise<void> {
  const { error } = await query.toPromise();
  if (error !== undefined) readEarly.delete(id);
}

/** Returns whether it was not read just now. */
function noteEarly(id: string): boolean {
  if (isEarly(id)) return false;
  if (readEarly.size >= MAX_EARLY) readEarly.clear();
  readEarly.set(id, performance.now());
  return true;
}

function isEarly(id: string): boolean {
  return performance.now() - (readEarly.get(id) ?? Number.NEGATIVE_INFINITY) < EARLY_MS;
}

/** What was read early is read again when it is opened, after an event. */
export function forgetEarly(): void {
  readEarly.clear();
}

/** Returns whether the thread or email was read just before the component that shows it was there. */
export function useReadEarly(id: string): boolean {
  return useState(() => isEarly(id))[0];
}
