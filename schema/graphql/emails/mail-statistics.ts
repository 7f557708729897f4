import type { RecentEmails } from '../../../db/queries/upkeep/recent-emails.ts';
import { builder } from '../builder.ts';

/** Counted by whole hours. */
export const MailStatistics = builder.objectRef<RecentEmails>('MailStatistics').implement({
  description: 'How much mail there was lately, received and sent, counted by whole hours.',
  isOfDomain: true,
  fields: (t) => ({
    last24Hours: t.exposeInt('lastDay', { description: 'Within 24 hours.' }),
    last7Days: t.exposeInt('lastWeek', { description: 'Within 7 days.' }),
    last30Days: t.exposeInt('lastMonth', { description: 'Within 30 days.' }),
  }),
});
