/** What is served beside the pages; nobody signs in to go there. */
const OTHERS = /^\/(?:api|graphql|health|ready|assets|sign-in|sign-up|forgot-password|reset-password)(?:\/|$)/;

/** Where to go after signing in: the page that `?next=` names, when it is one of ours. */
export function nextPath(search: string, origin: string): string {
  const next = new URLSearchParams(search).get('next');
  const url = next === null ? null : URL.parse(next, origin);
  // A path of two slashes names another host.
  const isOurs = url !== null && url.origin === origin && !url.pathname.startsWith('//');
  if (!isOurs || OTHERS.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}

/** The path of a page before signing in that hands `next` on. */
export function withNext(path: string, next: string): string {
  return next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`;
}
