import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the methods that routes declare for a path, sorted; empty for a path that no route serves. `path` has no query. */
    declaredMethods: (path: string) => string[];
    /** Returns whether the router matched a path of its own, such as `/emails/batch`, with the id of another, `/emails/:id`. */
    isTakenForId: (path: string, matched: string | undefined) => boolean;
  }
}

/** Collects the routes that are added from here on, so that a request by another method is answered 405 (RFC 9110 §15.5.6). */
export function collectDeclaredMethods(app: FastifyInstance): void {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    // A route for everything below a path declares none of the paths.
    if (url.includes('*')) return;
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const name of [method].flat()) route.methods.add(name);
    routes.set(url, route);
  });
  app.decorate('declaredMethods', (path: string) => {
    const own = routes.get(path);
    const fitting = own !== undefined ? [own] : [...routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(fitting.flatMap(({ methods }) => [...methods]))].sort();
  });
  app.decorate(
    'isTakenForId',
    (path: string, matched: string | undefined) => matched?.includes(':') === true && routes.has(path),
  );
}

/** The paths of a route such as `/emails/:id`. */
function patternOf(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}
