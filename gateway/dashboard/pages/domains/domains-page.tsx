import { PageHeader } from '../../parts/page-header.tsx';

/** Domains. */
export function DomainsPage() {
  return <PageHeader title="Domains" />;
}
