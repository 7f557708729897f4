/** Paths that the service serves besides the pages. They are no destination after sign-in. */
const OTHERS = /^\/(?:api|graphql|health|ready|assets|sign-in|sign-up|forgot-password|reset-password)(?:\/|$)/;

/** Returns the path after sign-in: the page in `?next=`, if it is one of ours. */
export function nextPath(search: string, origin: string): string {
  const next = new URLSearchParams(search).get('next');
  const url = next === null ? null : URL.parse(next, origin);
  // A path with two slashes names another host.
  const isOurs = url !== null && url.origin === origin && !url.pathname.startsWith('//');
  if (!isOurs || OTHERS.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}

/** Returns the path of a page before sign-in that passes `next` on. */
export function withNext(path: string, next: string): string {
  return next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`;
}
