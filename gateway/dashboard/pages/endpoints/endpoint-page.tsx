import { PageHeader } from '../../parts/page-header.tsx';

/** Endpoint. */
export function EndpointPage() {
  return <PageHeader title="Endpoint" />;
}
