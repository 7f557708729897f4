import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IntrospectionQuery } from 'graphql';
import { loadOnce } from '../../core/shared/load-once.ts';
import { isTagKnown } from '../http/entity-tag.ts';
import type { SampleOperation } from './sample-operations.ts';

/** Base path of the files that the page loads. */
const ASSETS = '/graphql/explorer';
/** The URLs of the files contain hashes of their bytes, so that browsers can cache them forever. */
const FOR_GOOD = 'public, max-age=31536000, immutable';

/** Returns whether a browser requests the page; API clients request JSON. */
export function isExplorerPage(request: FastifyRequest): boolean {
  const { headers, method, query } = request;
  const wantsPage = headers.accept?.includes('text/html') ?? false;
  return method === 'GET' && wantsPage && !Object.hasOwn(query as object, 'query');
}

/**
 * Serves the files of the explorer: GraphiQL with the published operations as tabs, and a field for the API key. Loading it needs no key and
 * no other server. `sendExplorer` sends the page itself.
 */
export function explorerRoutes(app: FastifyInstance, samples: readonly SampleOperation[]): void {
  const parts = loadOnce(() => loadParts(samples));
  app.get(`${ASSETS}/payload`, { schema: { hide: true } }, (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({ 'content-security-policy': policyWithin("'self'") })
      .send(PAYLOAD_PAGE),
  );
  app.get<{ Params: { part: string } }>(`${ASSETS}/:part`, { schema: { hide: true } }, async (request, reply) => {
    const part = (await parts()).get(request.params.part);
    if (part === undefined) return reply.callNotFound();
    const acceptsGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    reply.type(part.type).headers({ etag: part.tag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    if (isTagKnown(request.headers['if-none-match'], part.tag)) return reply.code(304).send();
    if (request.query !== null && Object.hasOwn(request.query as object, 'v')) reply.header('cache-control', FOR_GOOD);
    return acceptsGzip ? reply.header('content-encoding', 'gzip').send(part.gzipped) : reply.send(part.bytes);
  });
}

export function sendExplorer(reply: FastifyReply): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .headers({ 'content-security-policy': policyWithin("'none'") })
    .send(PAGE);
}

interface Part {
  type: string;
  bytes: Buffer;
  gzipped: Buffer;
  tag: string;
}

/** Several megabytes, read on the first request. */
async function loadParts(samples: readonly SampleOperation[]): Promise<Map<string, Part>> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const { payloadIntrospection } = await import('./payload-query.ts');
  const script = 'text/javascript; charset=utf-8';
  const sources: [name: string, type: string, text: string][] = [
    ['graphiql.js', script, graphiql.js],
    ['graphiql.css', 'text/css; charset=utf-8', graphiql.css],
    ['editor-worker.js', script, graphiql.editorWorkerService],
    ['json-worker.js', script, graphiql.jsonWorker],
    ['graphql-worker.js', script, graphiql.graphqlWorker],
    ['start.js', script, startScript(samples)],
    ['page.css', 'text/css; charset=utf-8', PAGE_STYLE],
    ['payload.js', script, payloadScript(payloadIntrospection())],
    ['payload.css', 'text/css; charset=utf-8', PAYLOAD_STYLE],
  ];
  const compress = promisify(gzip);
  const parts = sources.map(async ([name, type, text]): Promise<[string, Part]> => {
    const bytes = Buffer.from(text);
    const tag = `"${hash('sha256', bytes, 'base64url')}"`;
    return [name, { type, bytes, gzipped: await compress(bytes), tag }];
  });
  return new Map(await Promise.all(parts));
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Postroom GraphQL explorer</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${ASSETS}/graphiql.css">
    <link rel="stylesheet" href="${ASSETS}/page.css">
  </head>
  <body>
    <header>
    <form id="key-form">
      <h1>Postroom explorer</h1>
      <label for="key">API key</label>
      <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="paste your key">
      <button type="submit">Use key</button>
      <output id="key-state" role="status"></output>
      <a href="/api/e2/docs">REST reference</a>
    </form>
    </header>
    <main id="explorer">
      <section id="welcome">
        <h2>Explore the GraphQL API</h2>
        <p>Paste an API key above. Postroom printed the first one at its first start;
          <code>npx node bin/account.ts create you@example.org</code> creates an account with a new one.</p>
        <p>The tabs then contain sample operations: inbox, thread, search, sending and live events. The book icon on the left opens the schema.</p>
        <noscript>The explorer needs JavaScript.</noscript>
      </section>
    </main>
    <script src="${ASSETS}/start.js"></script>
  </body>
</html>
`;

/** Paper, ink and the accent of the dashboard, as hue, saturation and lightness. */
const LIGHT =
  '--color-base: 48, 60%, 99%; --color-neutral: 40, 14%, 11%; --color-primary: 44, 100%, 21%; --color-info: 208, 100%, 34%; --color-warning: 36, 100%, 24%;';
const DARK = '--color-base: 40, 12%, 9%; --color-neutral: 42, 25%, 90%; --color-primary: 46, 90%, 57%;';

const PAGE_STYLE = `
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; font: 14px/1.4 system-ui, sans-serif; }
#key-form { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: center; padding: 0.5rem 0.8rem; background: #1f1d19; color: #f4f1ea; }
#key-form label { margin-left: auto; }
#key-form input { width: min(26rem, 40vw); padding: 0.3rem 0.5rem; border: 1px solid #6f685a; border-radius: 4px; background: #fffefb; color: #1f1d19; }
#key-form button { padding: 0.3rem 0.8rem; border: 0; border-radius: 4px; background: #f4c430; color: #1f1d19; cursor: pointer; }
#key-form a { color: #f7d158; }
#explorer { flex: 1; min-height: 0; }
#explorer > .graphiql-container { height: 100%; }
#welcome { max-width: 40rem; margin: 15vh auto; padding: 0 1rem; color: #1f1d19; font-size: 1rem; }
#welcome h2 { font-size: 1.4rem; }
#key-form h1 { margin: 0; font-size: 14px; }
@media (prefers-color-scheme: dark) {
  body { background: #1a1814; }
  #welcome { color: #ece8df; }
}
/* GraphiQL's greys and accents, and Monaco's line numbers and numbers, have less contrast than WCAG AA asks for. */
body .graphiql-container, body .graphiql-dialog { --alpha-secondary: 0.9; --alpha-tertiary: 0.9; }
.graphiql-container .graphiql-doc-explorer-type-name, .graphiql-container .graphiql-doc-explorer-section a { text-decoration: underline; }
.monaco-editor.vs .line-numbers { color: #4b6a75 !important; }
.monaco-editor.vs-dark .line-numbers { color: #9fb4bd !important; }
.monaco-editor.vs .mtk8 { color: #066644 !important; }
.monaco-editor.vs-dark .mtk8 { color: #8fbf7a !important; }
body.graphiql-light .graphiql-container { ${LIGHT} }
body.graphiql-dark .graphiql-container { ${DARK} }
@media (prefers-color-scheme: light) {
  body:not(.graphiql-dark) .graphiql-container { ${LIGHT} }
}
@media (prefers-color-scheme: dark) {
  body:not(.graphiql-light) .graphiql-container { ${DARK} }
}
`;

/** The editor of payload queries, which the dashboard shows in a frame. */
const PAYLOAD_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Payload query</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${ASSETS}/graphiql.css">
    <link rel="stylesheet" href="${ASSETS}/payload.css">
  </head>
  <body>
    <div id="editor"></div>
    <script src="${ASSETS}/payload.js"></script>
    <script src="${ASSETS}/graphiql.js"></script>
  </body>
</html>
`;

/** Leaves the query, its buttons and the result: there are no tabs, variables and headers. */
const PAYLOAD_STYLE = `
html, body, #editor, #editor > .graphiql-container { height: 100%; margin: 0; }
.graphiql-container .graphiql-sidebar, .graphiql-container .graphiql-session-header,
.graphiql-container .graphiql-editor-tools, .graphiql-container .graphiql-editor-tool,
.graphiql-container .graphiql-query-editor + .graphiql-horizontal-drag-bar { display: none !important; }
.graphiql-container .graphiql-main, .graphiql-container .graphiql-sessions { margin: 0; border-radius: 0; }
`;

/** Monaco adds inline styles and starts its workers from our files; everything else is blocked. */
const policyWithin = (ancestors: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');

/** Starts Monaco's workers from our files; `monaco` is a global if its text is read. */
const workers = (isGlobal: boolean): string => `self.MonacoEnvironment = {
    globalAPI: ${isGlobal},
    getWorkerUrl: (_module, label) =>
      '${ASSETS}/' + ({ json: 'json-worker.js', graphql: 'graphql-worker.js' }[label] ?? 'editor-worker.js'),
  };`;

/**
 * Runs in a frame of the dashboard, which sends the query to begin with and previews queries for it. The root of its schema is Event, so that
 * the editor completes and checks as the server does.
 */
function payloadScript(introspection: IntrospectionQuery): string {
  return `'use strict';
(() => {
  ${workers(true)}
  const introspection = ${JSON.stringify(introspection)};
  const waiting = new Map();
  const tell = (message) => parent.postMessage(message, location.origin);
  const memory = new Map();
  const storage = {
    get length() { return memory.size; },
    getItem: (key) => memory.get(key) ?? null,
    setItem: (key, value) => void memory.set(key, String(value)),
    removeItem: (key) => void memory.delete(key),
    clear: () => memory.clear(),
  };
  const fetcher = ({ query, operationName }) => {
    if (operationName === 'IntrospectionQuery') return Promise.resolve({ data: introspection });
    const id = String(Math.random());
    tell({ postroom: 'preview', id, query });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent) return;
    if (data.postroom === 'result') {
      waiting.get(data.id)?.(data.result);
      waiting.delete(data.id);
    }
    // Not from GraphiQL, which reports edits with a delay.
    if (data.postroom === 'read') {
      const model = monaco.editor.getModels().find(({ uri }) => uri.path.endsWith('operation.graphql'));
      tell({ postroom: 'query', query: model.getValue() });
    }
    if (data.postroom !== 'open') return;
    YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#editor'), {
      title: '',
      fetcher,
      storage,
      query: data.query,
      forcedTheme: data.theme,
      isHeadersEditorEnabled: false,
      defaultEditorToolsVisibility: false,
      showPersistHeadersSettings: false,
      onEditQuery: () => undefined,
    });
  });
  addEventListener('load', () => tell({ postroom: 'ready' }));
})();
`;
}

/** Runs in the browser. The key is kept in the tab's session storage, until the tab is closed. */
function startScript(samples: readonly SampleOperation[]): string {
  const tabs = samples.map(({ text, variables }) => ({ query: text, variables }));
  return `'use strict';
(async () => {
  // GraphiQL makes a tab of each list item, with buttons inside, which a screen reader cannot reach: a list of buttons says the same.
  new MutationObserver(() => {
    document.querySelectorAll('.graphiql-tabs[role=tablist]').forEach((list) => list.setAttribute('role', 'list'));
    document.querySelectorAll('.graphiql-tab').forEach((tab) => {
      if (tab.hasAttribute('role')) tab.removeAttribute('role');
      if (tab.hasAttribute('aria-selected')) tab.removeAttribute('aria-selected');
      const isCurrent = String(tab.classList.contains('graphiql-tab-active'));
      const button = tab.querySelector('button');
      if (button && button.getAttribute('aria-current') !== isCurrent) button.setAttribute('aria-current', isCurrent);
    });
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['role', 'aria-selected', 'class'] });
  const KEY = 'postroom-key';
  const form = document.querySelector('#key-form');
  const input = document.querySelector('#key');
  const state = document.querySelector('#key-state');
  const key = sessionStorage.getItem(KEY) ?? '';
  input.value = key;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, input.value.trim());
    location.reload();
  });
  const headers = key === '' ? {} : { authorization: 'Bearer ' + key };
  const result = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ viewer { email } }' }),
  }).then((response) => response.json(), (error) => ({ errors: [error] }));
  if (!result.data?.viewer) {
    state.textContent = key === '' ? 'not signed in' : result.errors?.[0]?.message ?? 'the key was not accepted';
    input.focus();
    return;
  }
  state.textContent = 'signed in as ' + result.data.viewer.email;
  // Several megabytes, loaded only with a valid key.
  await new Promise((resolve, reject) => {
    const script = document.createElement('script');
    Object.assign(script, { src: '${ASSETS}/graphiql.js', onload: resolve, onerror: reject });
    document.head.append(script);
  });
  document.querySelector('#explorer').replaceChildren();
  // GraphiQL opens an extra tab for an empty query in its storage.
  if (!localStorage.getItem('graphiql:query')) localStorage.removeItem('graphiql:query');
  ${workers(false)}
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#explorer'), {
    title: 'Postroom',
    endpoint: '/graphql',
    subscriptionsProtocol: 'SSE',
    additionalHeaders: headers,
    defaultTabs: ${JSON.stringify(tabs).replaceAll('<', String.raw`\u003c`)},
    schemaDescription: true,
    inputValueDeprecation: true,
  });
})();
`;
}
