import { PageHeader } from '../../parts/page-header.tsx';

/** Sign up. */
export function SignUpPage() {
  return <PageHeader title="Sign up" />;
}
