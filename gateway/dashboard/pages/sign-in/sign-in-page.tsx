import { PageHeader } from '../../parts/page-header.tsx';

/** Sign in. */
export function SignInPage() {
  return <PageHeader title="Sign in" />;
}
