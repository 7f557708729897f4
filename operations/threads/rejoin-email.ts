import type pg from 'pg';
import {
  chooseSurvivor,
  findLinks,
  findSubjectAnchor,
  type Joinable,
  joinBatch,
  linkKeys,
  type ThreadReason,
} from '../../core/threads/threading.ts';
import {
  readThreads,
  type StoredThread,
  threadsOfKeys,
  threadsOfSubjects,
} from '../../db/queries/threads/thread-lookup.ts';
import { readThreadsApart } from '../../db/queries/threads/thread-merge.ts';
import { type MovedEmail, readMoved } from '../../db/queries/threads/thread-move.ts';
import { removeAnchors, setThreadReason } from '../../db/queries/threads/thread-rejoin.ts';
import { storeThreads } from '../../db/queries/threads/thread-write.ts';
import { keysOfItsOwn, regroup } from './regroup-messages.ts';
import { unite } from './thread-moves.ts';
import type { Changed } from './thread-transaction.ts';

/** The thread of an email after it was threaded again. */
export interface Rejoined {
  threadId: string;
  /** whether the thread was created for it */
  isNew: boolean;
  /** null: it stayed in its thread, for the earlier reason */
  reason: ThreadReason | null;
  /** threads merged into it */
  endedIds: string[];
}

/**
 * Takes a locked email out of its thread and threads it again by its current links and subject. Threads that the user split stay apart. A
 * thread that it leaves empty is merged into its new thread; if it is the only message, its thread stays.
 */
export async function rejoin(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
  makeThreadId: () => string,
): Promise<Changed<Rejoined>> {
  const [email] = await readMoved(client, workspaceId, [emailId]);
  if (email === undefined) throw new Error('an email to be threaded again no longer exists');
  const [home] = await readThreads(client, workspaceId, [email.threadId]);
  if (home === undefined) throw new Error('the thread of an email no longer exists');
  const isAlone = home.messageCount === 1;
  await removeAnchors(client, workspaceId, email);
  const { threadIds, keys, reason, item } = await findThreads(client, workspaceId, email);
  const moved = await place(client, workspaceId, { email, home, isAlone, threadIds, reason }, makeThreadId);
  const { threadId } = moved.result;
  await storeThreads(client, workspaceId, {
    threadOfKey: new Map(keys.map((key) => [key, threadId])),
    anchors: item.anchor === null ? [] : [{ emailId, threadId, anchor: item.anchor }],
  });
  return moved;
}

interface Found {
  item: Joinable<MovedEmail>;
  /** the threads that it belongs to */
  threadIds: string[];
  /** msg-ids that lead to its thread from now on, unless they already lead to one */
  keys: string[];
  reason: ThreadReason;
}

/** Returns the threads that it would join if it arrived now: its own if other messages there link to it. */
async function findThreads(client: pg.ClientBase, workspaceId: string, email: MovedEmail): Promise<Found> {
  const links = findLinks(email);
  const item = { message: email, links, anchor: findSubjectAnchor(email, links) };
  const known = await threadsOfKeys(client, workspaceId, linkKeys(links));
  const goingWith = new Set(await keysOfItsOwn(client, workspaceId, email));
  const threadOfKey = new Map([...known].filter(([key]) => !goingWith.has(key)));
  const anchors = new Map(item.anchor === null ? [] : [[email.emailId, item.anchor] as const]);
  const neighbours = { threadOfKey, threadsBySubject: await threadsOfSubjects(client, workspaceId, anchors) };
  let [group] = joinBatch([item], neighbours);
  if ((group?.threadIds.length ?? 0) > 1) {
    const apart = await readThreadsApart(client, workspaceId, group?.threadIds ?? []);
    [group] = joinBatch([item], { ...neighbours, apart });
  }
  const { threadIds = [], keys = [], messages = [] } = group ?? {};
  return { item, threadIds, keys, reason: messages[0]?.reason ?? 'new' };
}

interface Placing {
  email: MovedEmail;
  home: StoredThread;
  isAlone: boolean;
  threadIds: readonly string[];
  reason: ThreadReason;
}

async function place(
  client: pg.ClientBase,
  workspaceId: string,
  { email, home, isAlone, threadIds, reason }: Placing,
  makeThreadId: () => string,
): Promise<Changed<Rejoined>> {
  const others = threadIds.filter((id) => id !== home.id);
  const isHome = isAlone || threadIds.includes(home.id);
  if (others.length === 0 && isHome) return { result: stayed(home.id, []), events: [] };
  const { emailId } = email;
  if (others.length === 0) {
    const targetId = makeThreadId();
    const events = await regroup(client, workspaceId, { emailIds: [emailId], targetId, target: 'made', reason });
    return { result: { threadId: targetId, isNew: true, reason, endedIds: [] }, events };
  }
  const threads = await readThreads(client, workspaceId, isHome ? [home.id, ...others] : others);
  const survivor = chooseSurvivor(threads);
  const endedIds = threads.filter((thread) => thread !== survivor).map(({ id }) => id);
  const united = await unite(client, workspaceId, threads);
  if (isHome && survivor.id === home.id) return { result: stayed(home.id, endedIds), events: united.events };
  const outcome = { threadId: survivor.id, isNew: false, reason, endedIds };
  if (isHome) {
    await setThreadReason(client, workspaceId, emailId, reason);
    return { result: outcome, events: united.events };
  }
  const move = { emailIds: [emailId], targetId: survivor.id, target: 'stored', reason } as const;
  const events = [...united.events, ...(await regroup(client, workspaceId, move))];
  return { result: outcome, events };
}

function stayed(threadId: string, endedIds: string[]): Rejoined {
  return { threadId, isNew: false, reason: null, endedIds };
}
