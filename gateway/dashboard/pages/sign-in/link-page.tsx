import { PageHeader } from '../../parts/page-header.tsx';

/** Signing in. */
export function LinkPage() {
  return <PageHeader title="Signing in" />;
}
