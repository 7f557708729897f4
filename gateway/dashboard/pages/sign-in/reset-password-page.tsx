import { PageHeader } from '../../parts/page-header.tsx';

/** A new password. */
export function ResetPasswordPage() {
  return <PageHeader title="A new password" />;
}
