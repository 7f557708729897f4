import type { ClientBase, Pool } from 'pg';
import type { GuardRule } from '../../core/routing/guard-rule.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import { readGuardRule, readRulesSql, type StoredGuardRule } from '../../db/queries/routing/guard-rules.ts';
import type { Bus } from '../../schema/messages.ts';

/** The active guard rules of users, cached for a second. */
export interface GuardLookup {
  /**
   * Returns a function that gives the rules of these users; empty when a user has none. It throws for a user with an invalid rule, and for
   * a user that was not requested.
   */
  read(
    client: ClientBase | Pool,
    workspaceIds: readonly string[],
  ): Promise<(workspaceId: string) => readonly GuardRule[]>;
  /** Remembers for `asideMs` that a user's rules are slow, so that mail of others is routed first. */
  setAside(workspaceId: string): void;
  /** Those of the users that are set aside. */
  workspacesAside(): string[];
  stop(): Promise<void>;
}

/** How long cached rules may be used if the notification of a change was lost; milliseconds. */
const MAX_AGE_MS = 1_000;
/** Size of all cached rules, as they are stored. Bytes, about. @limit */
export const MAX_GUARD_RULES = 20_000_000;

interface Remembered {
  /** parsed when they are first used */
  rules: () => readonly GuardRule[];
  readAt: number;
  size: number;
}

export function createGuardLookup({ bus, asideMs }: { bus: Bus; asideMs: number }): GuardLookup {
  const remembered = createSizedCache<Remembered>({ maxSize: MAX_GUARD_RULES, size: ({ size }) => size });
  /** until when, on performance.now() */
  const aside = new Map<string, number>();
  // Rules that were being read when a change was announced may be outdated: they are used once and not cached.
  let changes = 0;
  const subscription = bus.subscribe('guard.changed', ({ workspaceId }) => {
    changes++;
    remembered.delete(workspaceId);
  });

  return {
    async read(client, workspaceIds) {
      const oldest = performance.now() - MAX_AGE_MS;
      const found = new Map<string, Remembered>();
      const unknown: string[] = [];
      for (const workspaceId of new Set(workspaceIds)) {
        const known = remembered.get(workspaceId);
        if (known !== undefined && known.readAt >= oldest) found.set(workspaceId, known);
        else unknown.push(workspaceId);
      }
      if (unknown.length > 0) {
        const changesBefore = changes;
        // Taken before the query: the result is at least this old.
        const readAt = performance.now();
        const { rows } = await client.query<StoredGuardRule & { workspace_id: string }>({
          name: 'delivery-read-guard-rules',
          text: readRulesSql,
          values: [unknown],
        });
        const byWorkspace = Map.groupBy(rows, (row) => row.workspace_id);
        for (const workspaceId of unknown) {
          const stored = byWorkspace.get(workspaceId) ?? [];
          const entry = {
            rules: listRules(stored),
            readAt,
            size: stored.length === 0 ? 0 : JSON.stringify(stored).length,
          };
          found.set(workspaceId, entry);
          if (changes === changesBefore) remembered.set(workspaceId, entry);
        }
      }
      return (workspaceId) => {
        const entry = found.get(workspaceId);
        if (entry === undefined) throw new Error('guard rules of a user who was not asked for');
        return entry.rules();
      };
    },
    setAside: (workspaceId) => void aside.set(workspaceId, performance.now() + asideMs),
    workspacesAside() {
      if (aside.size === 0) return [];
      const now = performance.now();
      for (const [workspaceId, until] of aside) if (until <= now) aside.delete(workspaceId);
      return [...aside.keys()];
    },
    stop: () => subscription.stop(),
  };
}

function listRules(rows: readonly StoredGuardRule[]): () => readonly GuardRule[] {
  let rules: readonly GuardRule[] | undefined;
  return () => (rules ??= rows.map(readGuardRule));
}
