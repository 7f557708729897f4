import { PageHeader } from '../../parts/page-header.tsx';

/** Activity. */
export function ActivityPage() {
  return <PageHeader title="Activity" />;
}
