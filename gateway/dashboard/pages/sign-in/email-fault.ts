/** Why a text cannot be an email address; null: it may be one. The service looks more closely. */
export function emailFault(text: string): string | null {
  if (text.trim() === '') return 'Enter your email address.';
  return /^[^\s@]+@[^\s@]+$/.test(text.trim()) ? null : 'Enter an address such as you@example.com.';
}
