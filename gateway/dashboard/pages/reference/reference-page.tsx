import { PageHeader } from '../../parts/page-header.tsx';

/** Explorer and reference. */
export function ReferencePage() {
  return <PageHeader title="Explorer and reference" />;
}
