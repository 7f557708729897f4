import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './page.css';
import { MantineProvider } from '@mantine/core';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { App } from './app.tsx';
import { client } from './client.ts';
import { NoticesPlace } from './parts/notices-place.tsx';
import { listen } from './shell/keys.ts';
import { askFirstSession } from './shell/session.tsx';
import { theme } from './theme.ts';

// The content security policy allows only style files and styles with this nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

listen();

const place = document.querySelector('#app');
if (place === null) throw new Error('index.html has no root element');
const root = createRoot(place);
void askFirstSession().then(() =>
  root.render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <NoticesPlace />
        <Provider value={client}>
          <App />
        </Provider>
      </MantineProvider>
    </StrictMode>,
  ),
);
