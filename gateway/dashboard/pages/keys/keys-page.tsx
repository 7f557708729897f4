import { PageHeader } from '../../parts/page-header.tsx';

/** API keys. */
export function KeysPage() {
  return <PageHeader title="API keys" />;
}
