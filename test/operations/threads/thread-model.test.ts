import { expect, test } from 'vitest';
import { updateThreads } from '../../../operations/threads/thread-changes.ts';
import { mergeThreads, moveEmails, splitThread } from '../../../operations/threads/thread-moves.ts';
import { loadThreads } from '../../../operations/threads/threads.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { openForFile } from '../../support/open-for-file.ts';
import type { StoredMail } from '../../support/rows/email-rows.ts';
import { randomMail, seededRandom } from '../../support/rows/thread-mail.ts';
import { ThreadModel } from '../../support/stages/thread-model.ts';
import { newWorkspace, openThreadStage, type ThreadStage } from '../../support/stages/thread-stage.ts';

const STEPS = 120;
const LABELS = ['work', 'tax', 'home', 'later'];

const stage = openForFile(() => openThreadStage());

test.each(isQuick ? [1] : [1, 2, 3])(
  'threads equal those of a naive model after random arrivals, merges, splits, moves, flags and labels (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const some = <T>(items: readonly T[], most: number): T[] => [
      ...new Set(Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(items))),
    ];
    const workspaceId = newWorkspace();
    const context = stage.makeContext(workspaceId);
    const model = new ThreadModel();
    const arriving = mails(random);

    const anyThread = () => pick([...model.threadIds(), ...model.aliases.keys()]);
    const anyEmails = (most: number) => some([...model.emails.keys()], most);
    const steps: Record<string, () => Promise<void>> = {
      async arrive() {
        const mail = replying(
          arriving.pop() as StoredMail,
          [...model.emails.values()].map((email) => email.mail),
          random,
        );
        await stage.arrive(workspaceId, [mail]);
        const parted = [...model.apart];
        const threadId = await stage.findThread(workspaceId, mail.emailId);
        const parents = [...model.emails].filter(([, email]) => email.mail.messageId === mail.inReplyTo[0]);
        model.arrive(mail, threadId);
        // A reply is where the one message is that it replies to.
        const [parent] = parents.map(([id]) => model.emails.get(id)?.thread);
        if (parents.length === 1) expect(parent).toBe(threadId);
        // No mail joins what is apart.
        for (const pair of parted) {
          const [one = '', other = ''] = pair.split(' ').map((id) => model.living(id));
          expect(one).not.toBe(other);
        }
      },
      async merge() {
        const threads = some([...model.threadIds(), ...model.aliases.keys()], 4);
        if (threads.length > 1) expect(await mergeThreads(context, threads)).toBe(model.merge(threads));
      },
      async split() {
        const threadId = anyThread();
        const members = model.listEmails(model.living(threadId));
        const leaving = some(members, 3);
        if (leaving.length === members.length) return;
        const { newThreadId } = await splitThread(context, threadId, leaving);
        model.split(threadId, leaving, newThreadId);
      },
      async move() {
        const [emailIds, threadId] = [anyEmails(4), anyThread()];
        expect(await moveEmails(context, emailIds, threadId)).toBe(model.living(threadId));
        model.move(emailIds, threadId);
      },
      async flag() {
        const threads = some([...model.threadIds(), ...model.aliases.keys()], 5);
        const [isRead, isArchived] = pick<(boolean | undefined)[]>([
          [true],
          [false],
          [undefined, true],
          [true, false],
          [false, true],
        ]);
        await updateThreads(context, threads, { isRead, isArchived });
        const living = threads.map((thread) => model.living(thread));
        for (const email of model.emails.values()) {
          if (!living.includes(email.thread) || email.mail.type === 'sent') continue;
          email.isRead = isRead ?? email.isRead;
          email.isArchived = isArchived ?? email.isArchived;
        }
      },
      async label() {
        const threads = some(model.threadIds(), 5);
        const [added, removed] = [some(LABELS, 2), some(LABELS, 2)];
        const removeLabels = removed.filter((label) => !added.includes(label)).map((label) => label.toUpperCase());
        await updateThreads(context, threads, { addLabels: added, removeLabels });
        for (const thread of threads) {
          const labels = model.labels.get(thread) ?? new Set();
          for (const label of added) labels.add(label);
          for (const label of removeLabels) labels.delete(label.toLowerCase());
        }
      },
    };

    for (let step = 0; step < 12; step++) await steps['arrive']?.();
    for (let step = 0; step < STEPS; step++) {
      const name = pick(['arrive', 'arrive', 'arrive', 'merge', 'split', 'split', 'move', 'flag', 'label']);
      await steps[name]?.();
      const at = `step ${step}, ${name}`;
      const emails = await stage.listEmails(workspaceId);
      expect(shownEmails(emails), at).toEqual(
        Object.fromEntries(
          [...model.emails].map(([id, email]) => [id, [email.thread, email.isMoved, email.isRead, email.isArchived]]),
        ),
      );
      expect(await stage.findFaults(workspaceId), at).toEqual([]);
    }

    const threads = await stage.listThreads(workspaceId);
    expect(Object.fromEntries(threads.map((thread) => [thread.id, thread.labels.toSorted()]))).toEqual(
      Object.fromEntries([...model.labels].map(([id, labels]) => [id, [...labels].toSorted()])),
    );
    const { rows: apart } = await stage.actor.pool.query<{ pair: string }>(
      `select thread_id || ' ' || other_id as pair from thread_apart where workspace_id = $1`,
      [workspaceId],
    );
    expect(new Set(apart.map(({ pair }) => pair))).toEqual(model.apart);
    const former = [...model.aliases.keys()];
    expect((await loadThreads(context, former)).map((thread) => thread?.id)).toEqual([...model.aliases.values()]);
    expect(model.apart.size).toBeGreaterThan(0);
    expect(former.length).toBeGreaterThan(0);
  },
  120_000,
);

type Emails = Awaited<ReturnType<ThreadStage['listEmails']>>;

function shownEmails(emails: Emails) {
  return Object.fromEntries(
    emails.map((email) => [
      email.id,
      [email.thread_id, email.thread_reason === 'manual', email.is_read, email.is_archived],
    ]),
  );
}

/** Mail without subject edges, some of it with one Message-ID. */
function mails(random: () => number): StoredMail[] {
  return randomMail(random, { count: STEPS + 12, referringShare: 0.5 }).map((mail) => ({
    ...mail,
    subject: '',
    baseSubject: '',
    type: random() < 0.2 ? 'sent' : 'received',
    isRead: random() < 0.3,
    isArchived: random() < 0.3,
  }));
}

/** Half of the mails answer one that is there, as mailers do: with its references and its id. */
function replying(mail: StoredMail, present: readonly StoredMail[], random: () => number): StoredMail {
  const parent = present[Math.floor(random() * present.length * 2)];
  if (parent === undefined) return mail;
  return { ...mail, inReplyTo: [parent.messageId], references: [...parent.references.slice(-8), parent.messageId] };
}
