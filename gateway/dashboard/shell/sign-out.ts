/** Ends the session and shows the sign-in page. What was read goes with the page. */
export async function signOut(): Promise<void> {
  await fetch('/api/auth/sign-out', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  }).catch(() => undefined);
  window.location.assign('/sign-in');
}
