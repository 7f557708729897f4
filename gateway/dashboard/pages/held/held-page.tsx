import { PageHeader } from '../../parts/page-header.tsx';

/** Held and blocked. */
export function HeldPage() {
  return <PageHeader title="Held and blocked" />;
}
