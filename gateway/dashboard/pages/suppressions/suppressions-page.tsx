import { PageHeader } from '../../parts/page-header.tsx';

/** Suppressions. */
export function SuppressionsPage() {
  return <PageHeader title="Suppressions" />;
}
