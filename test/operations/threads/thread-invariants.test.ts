import { expect, test } from 'vitest';
import { mergeThreads, moveEmails, splitThread } from '../../../operations/threads/thread-moves.ts';
import { loadThreads } from '../../../operations/threads/threads.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { batches, randomMail, seededRandom } from '../../support/rows/thread-mail.ts';
import { newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';

const stage = openForFile(() => openThreadStage());

test.each([
  [1, 0],
  [2, 0.3],
  [3, 0.7],
])(
  'mail in batches, with subjects and links, joins no threads that are apart and leaves all numbers right (seed %i)',
  async (seed, referringShare) => {
    const random = seededRandom(100 + seed);
    const workspaceId = newWorkspace();
    const context = stage.makeContext(workspaceId);
    const mails = randomMail(random, { count: 120, referringShare, days: 90 });
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    let parted = 0;
    for (const batch of batches(mails, 9, random)) {
      const before = await pairsApart(workspaceId);
      await stage.arrive(workspaceId, batch);
      const living = await loadThreads(context, before.flat());
      for (let at = 0; at < living.length; at += 2) expect(living[at]?.id).not.toBe(living[at + 1]?.id);
      expect(await stage.findFaults(workspaceId)).toEqual([]);
      parted += before.length;

      const threads = await stage.listThreads(workspaceId);
      const large = threads.filter((thread) => thread.message_count > 1);
      const emails = await stage.listEmails(workspaceId);
      const what = random();
      if (what < 0.5 && large.length > 0) {
        const { id } = pick(large);
        const members = emails.filter((email) => email.thread_id === id).map((email) => email.id);
        await splitThread(context, id, members.filter((_, at) => at > 0 && random() < 0.5).concat(members.slice(-1)));
      } else if (what < 0.7) {
        await moveEmails(context, [pick(emails).id, pick(emails).id], pick(threads).id);
      } else if (threads.length > 2 && what < 0.8) {
        await mergeThreads(context, [pick(threads).id, ...threads.slice(0, 2).map(({ id }) => id)]);
      }
      expect(await stage.findFaults(workspaceId)).toEqual([]);
    }
    expect(parted).toBeGreaterThan(0);
  },
  120_000,
);

async function pairsApart(workspaceId: string): Promise<[string, string][]> {
  const { rows } = await stage.actor.pool.query<{ thread_id: string; other_id: string }>(
    'select thread_id, other_id from thread_apart where workspace_id = $1 and thread_id < other_id',
    [workspaceId],
  );
  return rows.map((row) => [row.thread_id, row.other_id]);
}
