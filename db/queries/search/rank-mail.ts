import { type RawBuilder, sql, type Transaction } from 'kysely';
import { compareRelevance, type RelevanceCursor } from '../../../core/search/relevance-cursor.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import {
  emailsByIndex,
  FIND_BOUNDS,
  type FoundThread,
  matchRange,
  NO_PAGE,
  pickEmails,
  pickThreads,
  type WordSearch,
  withMatches,
} from './find-mail.ts';
import { type FoundEmail, inOrder, type MailMatches } from './mail-matches.ts';

/*
 * Searches of emails and threads ordered by relevance (core/search/relevance.ts). The newest MAX_RANKED emails that match are ranked again
 * for each page.
 */

/** Emails that are ranked. 5,000 take about as long as any other search. */
const MAX_RANKED = 5_000;
/** Emails whose conditions are checked together. */
const CHECKED_AT_ONCE = 1_000;

/** Returns the found emails of the page, most relevant first; inverted: last. */
export function rankMatchingEmails(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage<RelevanceCursor>,
): Promise<RelevanceCursor[]> {
  return withMatches(transaction, search, async (matches) => {
    const emails: FoundEmail[] = [];
    for await (const some of matchingEmails(transaction, search, matches)) {
      emails.push(...some);
      if (emails.length >= MAX_RANKED) break;
    }
    return takePage(await rank(matches, emails.slice(0, MAX_RANKED)), page);
  });
}

/**
 * Returns the threads of which a message is found, that with the most relevant one first; inverted: last. `chosen`: a condition on threads t
 * besides those of the search.
 */
export function rankMatchingThreads(
  transaction: Transaction<Tables>,
  search: WordSearch,
  page: KeysetPage<RelevanceCursor>,
  { chosen }: { chosen: RawBuilder<unknown> | null } = { chosen: null },
): Promise<RelevanceCursor[]> {
  return withMatches(transaction, search, async (matches) => {
    const threads = new Map<string, { at: Date; emails: FoundEmail[] }>();
    let count = 0;
    for await (const emails of matchingEmails(transaction, search, matches)) {
      const found = await pickThreads(transaction, search, null, emails);
      const picked = chosen === null ? found : await chooseThreads(transaction, found, chosen);
      for (const { id, listedAt } of picked) if (!threads.has(id)) threads.set(id, { at: listedAt, emails: [] });
      const threadOf = await threadsOfEmails(transaction, search.workspaceId, emails);
      for (const email of emails) {
        const thread = threads.get(threadOf.get(email.id) ?? '');
        if (thread === undefined) continue;
        thread.emails.push(email);
        count++;
      }
      if (count >= MAX_RANKED) break;
    }
    const ranked = await rank(
      matches,
      [...threads.values()].flatMap(({ emails }) => emails),
    );
    const scores = new Map(ranked.map(({ id, score }) => [id, score]));
    const places = [...threads].map(([id, { at, emails }]) => ({
      id,
      at,
      score: Math.max(0, ...emails.map((email) => scores.get(email.id) ?? 0)),
    }));
    return takePage(places, page);
  });
}

/** Yields the emails that meet all conditions on emails, newest first. */
async function* matchingEmails(
  transaction: Transaction<Tables>,
  search: WordSearch,
  matches: MailMatches,
): AsyncGenerator<FoundEmail[]> {
  const range = matchRange(search, NO_PAGE);
  const indexed = await emailsByIndex(transaction, search, FIND_BOUNDS);
  if (indexed !== null) {
    yield inOrder(await matches.pick(await pickEmails(transaction, search, indexed)), range);
    return;
  }
  for await (const emails of matches.walk(range, CHECKED_AT_ONCE))
    yield inOrder(await pickEmails(transaction, search, emails), range);
}

async function rank(matches: MailMatches, emails: readonly FoundEmail[]): Promise<RelevanceCursor[]> {
  const scores = await matches.scores(emails);
  return emails.map(({ id, at }) => ({ id, at: new Date(at), score: scores.get(id) ?? 0 }));
}

function takePage(
  ranked: readonly RelevanceCursor[],
  { after, before, isInverted, limit }: KeysetPage<RelevanceCursor>,
): RelevanceCursor[] {
  const rows = ranked
    .toSorted(compareRelevance)
    .filter(
      (row) =>
        (after === null || compareRelevance(row, after) > 0) && (before === null || compareRelevance(row, before) < 0),
    );
  return (isInverted ? rows.toReversed() : rows).slice(0, limit);
}

async function chooseThreads(
  transaction: Transaction<Tables>,
  threads: readonly FoundThread[],
  chosen: RawBuilder<unknown>,
): Promise<FoundThread[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from unnest(${threads.map(({ id }) => id)}::text[]) t(id) where true ${chosen}`.execute(transaction);
  const ids = new Set(rows.map(({ id }) => id));
  return threads.filter(({ id }) => ids.has(id));
}

async function threadsOfEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emails: readonly FoundEmail[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; thread_id: string | null }>`
    select e.id, e.thread_id from unnest(${emails.map(({ id }) => id)}::text[]) i(id)
    cross join lateral (select * from email e where e.workspace_id = ${workspaceId} and e.id = i.id limit 1) e`.execute(
    transaction,
  );
  return new Map(rows.flatMap(({ id, thread_id }) => (thread_id === null ? [] : [[id, thread_id]])));
}
