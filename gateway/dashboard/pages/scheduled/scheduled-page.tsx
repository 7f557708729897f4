import { PageHeader } from '../../parts/page-header.tsx';

/** Scheduled. */
export function ScheduledPage() {
  return <PageHeader title="Scheduled" />;
}
