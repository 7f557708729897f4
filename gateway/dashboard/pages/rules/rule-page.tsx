import { PageHeader } from '../../parts/page-header.tsx';

/** Guard rule. */
export function RulePage() {
  return <PageHeader title="Guard rule" />;
}
