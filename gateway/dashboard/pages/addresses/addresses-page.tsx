import { PageHeader } from '../../parts/page-header.tsx';

/** Addresses. */
export function AddressesPage() {
  return <PageHeader title="Addresses" />;
}
