import DataLoader from 'dataloader';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { OperationContext } from '../../../operations/context.ts';
import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { pageThreadEmails } from '../../../operations/threads/threads.ts';

/** Pages of the messages of threads: those asked for with one page's bounds come from the database in one statement. */
export interface ThreadPages {
  load(threadId: string, page: KeysetPage): Promise<EmailSummary[]>;
}

export function createThreadPages(context: OperationContext): ThreadPages {
  const loaders = new Map<string, DataLoader<string, EmailSummary[]>>();
  return {
    load(threadId, page) {
      const key = JSON.stringify(page);
      const loader =
        loaders.get(key) ??
        new DataLoader<string, EmailSummary[]>((threadIds) => pageThreadEmails(context, threadIds, page));
      loaders.set(key, loader);
      return loader.load(threadId);
    },
  };
}
