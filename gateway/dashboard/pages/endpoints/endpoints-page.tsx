import { PageHeader } from '../../parts/page-header.tsx';

/** Endpoints. */
export function EndpointsPage() {
  return <PageHeader title="Endpoints" />;
}
