import { PageHeader } from '../../parts/page-header.tsx';

/** Settings. */
export function SettingsPage() {
  return <PageHeader title="Settings" />;
}
