import { isConnectionLost } from '../../db/connection/database.ts';
import type { ParsedReception } from './store-parsed.ts';

export interface StoreQueueOptions {
  /** Stores parsed receptions in one transaction. */
  store: (parsed: ParsedReception[]) => Promise<void>;
}

/** Puts what several chunks were parsed to into one transaction. */
export interface StoreQueue {
  /** Resolves when these are stored; rejects when they could not be. */
  store(parsed: ParsedReception[]): Promise<void>;
}

/** Emails written together at most. */
const GROUP_EMAILS = 50;

interface Waiting {
  parsed: ParsedReception[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Stores one group at a time; what is parsed meanwhile forms the next. A group that fails for a reason that may lie in one of its
 * parts is stored part by part.
 */
export function createStoreQueue(options: StoreQueueOptions): StoreQueue {
  const waiting: Waiting[] = [];
  let isStoring = false;

  async function storeAll(): Promise<void> {
    if (isStoring) return;
    isStoring = true;
    while (waiting.length > 0) await storeGroup(takeGroup(waiting));
    isStoring = false;
  }

  async function storeGroup(group: Waiting[]): Promise<void> {
    try {
      await options.store(group.flatMap((part) => part.parsed));
      for (const part of group) part.resolve();
    } catch (error) {
      const isShared = isConnectionLost(error) || group.length === 1;
      if (isShared) for (const part of group) part.reject(error);
      else for (const part of group) await options.store(part.parsed).then(part.resolve, part.reject);
    }
  }

  return {
    store(parsed) {
      return new Promise((resolve, reject) => {
        waiting.push({ parsed, resolve, reject });
        void storeAll();
      });
    },
  };
}

function takeGroup(waiting: Waiting[]): Waiting[] {
  let emails = 0;
  let parts = 0;
  for (const { parsed } of waiting) {
    if (parts > 0 && emails + parsed.length > GROUP_EMAILS) break;
    emails += parsed.length;
    parts++;
  }
  return waiting.splice(0, parts);
}
