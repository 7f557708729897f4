import { PageHeader } from '../../parts/page-header.tsx';

/** Guard rules. */
export function RulesPage() {
  return <PageHeader title="Guard rules" />;
}
