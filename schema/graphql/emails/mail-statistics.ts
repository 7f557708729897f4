import type { RecentEmails } from '../../../db/queries/upkeep/recent-emails.ts';
import { builder } from '../builder.ts';

/** Counted by whole hours. */
export const MailStatistics = builder.objectRef<RecentEmails>('MailStatistics').implement({
  description: 'Number of emails received and sent recently, counted by full hours.',
  isOfDomain: true,
  fields: (t) => ({
    last24Hours: t.exposeInt('lastDay', { description: 'Last 24 hours.' }),
    last7Days: t.exposeInt('lastWeek', { description: 'Last 7 days.' }),
    last30Days: t.exposeInt('lastMonth', { description: 'Last 30 days.' }),
  }),
});
