import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './page.css';
import { MantineProvider } from '@mantine/core';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { App, loadPage } from './app.tsx';
import { client } from './client.ts';
import { readFirstList } from './pages/inbox/first-list.ts';
import { NoticeArea } from './parts/notices-place.tsx';
import { keepFocus } from './shell/focus.ts';
import { listen } from './shell/keys.ts';
import { OPEN_PATHS } from './shell/open-paths.ts';
import { askFirstSession } from './shell/session.tsx';
import { wasSignedIn } from './shell/shell-outline.tsx';
import { theme } from './theme.ts';

/** Within this time, the page is shown whole, when all that it opens with is there; after it, as much as is there. Milliseconds. */
const OUTLINE_AFTER_MS = 150;

// The content security policy allows only style files and styles with this nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

listen();
keepFocus();

const place = document.querySelector('#app');
if (place === null) throw new Error('index.html has no root element');
const root = createRoot(place);
void Promise.race([readFirst(), new Promise((resolve) => void setTimeout(resolve, OUTLINE_AFTER_MS))]).then(() =>
  root.render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <NoticeArea />
        <Provider value={client}>
          <App />
        </Provider>
      </MantineProvider>
    </StrictMode>,
  ),
);

/** Reads what the page opens with: its code, the session where someone was signed in, and then the list of the inbox. */
async function readFirst(): Promise<void> {
  const { pathname } = window.location;
  if (OPEN_PATHS.test(pathname)) return loadPage(pathname);
  if (!wasSignedIn()) return;
  const code = loadPage(pathname);
  if (await askFirstSession()) await readFirstList();
  await code;
}
