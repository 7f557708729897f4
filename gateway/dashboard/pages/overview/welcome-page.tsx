import { PageHeader } from '../../parts/page-header.tsx';

/** The first mail. */
export function WelcomePage() {
  return <PageHeader title="The first mail" />;
}
