import { PageHeader } from '../../parts/page-header.tsx';

/** Forgot your password?. */
export function ForgotPasswordPage() {
  return <PageHeader title="Forgot your password?" />;
}
