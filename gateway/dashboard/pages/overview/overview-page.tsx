import { PageHeader } from '../../parts/page-header.tsx';

/** What goes on, at a glance. */
export function OverviewPage() {
  return <PageHeader title="Overview" />;
}
