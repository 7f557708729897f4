import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import type { Database } from '../../../db/connection/database.ts';
import { testActorContext } from '../stages/actor-context.ts';
import { type SearchedMail, someMail, storeMail } from './searched-mail.ts';
import { seededRandom } from './thread-mail.ts';

/** The emails of storeRankedMail that a search for `numbat` finds, most relevant first; by time they are in the opposite order. */
export const RANKED_MAIL = ['em_subject', 'em_often', 'em_once'];

/** Stores four received emails, each in a thread of its own. */
export async function storeRankedMail(actor: Database, workspaceId: string): Promise<void> {
  const [plain] = someMail(seededRandom(1), 1);
  const mail = (id: string, day: number, subject: string, text: string): SearchedMail => ({
    ...(plain as SearchedMail),
    id,
    type: 'received',
    createdAt: new Date(Date.UTC(2026, 1, day)),
    subject,
    text,
    html: null,
    visible: text,
    isArchived: false,
    inReplyTo: [],
  });
  const mails = [
    mail('em_subject', 1, 'Numbat', 'about an animal'),
    mail('em_often', 2, 'Notes', 'numbat numbat numbat'),
    mail('em_once', 3, 'Letters', 'a numbat among very many other words that have nothing to do with it at all'),
    mail('em_other', 4, 'Lists', 'a wombat'),
  ];
  await storeMail(actor, workspaceId, mails);
  await assignThreads(
    testActorContext(actor),
    workspaceId,
    mails.map(({ id }) => id),
  );
}
