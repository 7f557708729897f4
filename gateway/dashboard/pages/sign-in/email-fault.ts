/** Returns why a text is not an email address; null if it may be one. The service validates it. */
export function emailFault(text: string): string | null {
  if (text.trim() === '') return 'Enter your email address.';
  return /^[^\s@]+@[^\s@]+$/.test(text.trim()) ? null : 'Enter an address such as you@example.com.';
}
