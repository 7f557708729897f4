import { PageHeader } from '../../parts/page-header.tsx';

/** Email. */
export function EmailPage() {
  return <PageHeader title="Email" />;
}
