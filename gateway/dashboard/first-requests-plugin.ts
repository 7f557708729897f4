import { formatDocument, type GraphQLRequest, stringifyVariables } from '@urql/core';
import { makeFetchBody } from '@urql/core/internal';
import type { Plugin } from 'vite';
import { THREADS_PAGE } from './pages/inbox/inbox-documents.ts';
import { INBOX, readWantedThreads } from './pages/inbox/inbox-view.ts';
import { PAGE_ROWS } from './pages/inbox/thread-pages.ts';
import { OPEN_PATHS, PLAIN_INBOX } from './shell/open-paths.ts';
import { VIEWER } from './shell/viewer.ts';

const FONT = 'public-sans-latin-wght-normal.woff2';

/**
 * Puts a small script into the page that sends what the page asks first, the session and then in the inbox the list, while the page's own script
 * is still on its way; and loads the font with the style, not after it. `sendQuery` in client.ts takes the responses. The policy of the page
 * allows the script by its hash (gateway/http/built-page.ts).
 */
export function firstRequests(): Plugin {
  return {
    name: 'postroom-first-requests',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { filename, bundle = {} }) {
        if (!filename.endsWith('/index.html')) return [];
        const find = (name: string) => {
          const asset = Object.values(bundle).find((file) => file.type === 'asset' && file.names.includes(name));
          if (asset === undefined) throw new Error(`${name} is not in the bundle`);
          return `/${asset.fileName}`;
        };
        const font = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: find(FONT) };
        return [
          // Before the style, for which a script that follows it would wait.
          { tag: 'script', children: writeScript(), injectTo: 'head-prepend' },
          { tag: 'link', attrs: font, injectTo: 'head' },
        ];
      },
    },
  };
}

/**
 * Returns the script. It sends the very bodies that the clients would, by which their responses are found. The list is read after the session,
 * whose cursor live events start at: between them no event is missed.
 */
function writeScript(): string {
  const viewer = writeBody(formatDocument(VIEWER), {});
  const threads = writeBody(THREADS_PAGE, { ...readWantedThreads(INBOX, false), first: PAGE_ROWS, after: null });
  return `(() => {
  const headers = { accept: 'application/graphql-response+json, application/json', 'content-type': 'application/json' };
  const send = (body) => fetch('/graphql', { method: 'POST', credentials: 'same-origin', headers, body });
  try {
    if (localStorage.getItem('postroom-signed-in') !== 'yes' || ${OPEN_PATHS}.test(location.pathname)) return;
    const [viewer, threads] = ${JSON.stringify([viewer, threads])};
    const session = send(viewer);
    const sent = (window.postroomFirstRequests = new Map([[viewer, session]]));
    if (${PLAIN_INBOX}.test(location.pathname + location.search))
      sent.set(threads, session.then((response) => (response.ok ? send(threads) : response)));
    for (const response of sent.values()) response.catch(() => undefined);
  } catch {
    // The page sends them itself.
  }
})();
`;
}

function writeBody(query: GraphQLRequest['query'], variables: object): string {
  return stringifyVariables(makeFetchBody({ query, variables }));
}
