import { PageHeader } from '../../parts/page-header.tsx';

/** Domain. */
export function DomainPage() {
  return <PageHeader title="Domain" />;
}
