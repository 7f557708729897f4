import './reference.css';
import scalarUrl from 'virtual:scalar';
import { repairMarkup } from './repair-markup.ts';

/** The part of the global of @scalar/api-reference that this page uses. */
interface Scalar {
  createApiReference(place: string, configuration: object): unknown;
}

/** Where the dashboard stores the color scheme (MantineProvider). */
const SCHEME_KEY = 'mantine-color-scheme-value';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

function colorScheme(): 'light' | 'dark' {
  const chosen = localStorage.getItem(SCHEME_KEY);
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return systemIsDark.matches ? 'dark' : 'light';
}

/** Samples are in curl, TypeScript, Python and Go. */
const OTHER_LANGUAGES =
  'c clojure csharp dart fsharp http java julia kotlin node objc ocaml php powershell r ruby rust swift'.split(' ');

/** Sets the attribute of the dashboard's styles and the classes of Scalar's. */
function showColorScheme(): void {
  const scheme = colorScheme();
  document.documentElement.dataset['mantineColorScheme'] = scheme;
  for (const each of ['light', 'dark']) document.body.classList.toggle(`${each}-mode`, each === scheme);
}

function configuration() {
  return {
    url: '/api/e2/openapi.json',
    layout: 'modern',
    theme: 'none',
    forceDarkModeState: colorScheme(),
    hideDarkModeToggle: true,
    // Nothing comes from or goes to another server.
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    persistAuth: false,
    documentDownloadType: 'none',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    featuredClients: ['shell/curl', 'js/fetch', 'python/requests', 'go/native'],
    hiddenClients: {
      ...Object.fromEntries(OTHER_LANGUAGES.map((language) => [language, true])),
      shell: ['httpie', 'wget'],
      js: ['axios', 'jquery', 'ofetch', 'xhr'],
      python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
    },
  };
}

showColorScheme();
const script = document.createElement('script');
Object.assign(script, { src: scalarUrl, onload: showReference });
document.head.append(script);

function showReference(): void {
  repairMarkup();
  const { Scalar } = globalThis as unknown as { Scalar: Scalar };
  Scalar.createApiReference('#reference', configuration());
  systemIsDark.addEventListener('change', showColorScheme);
  // Scalar sets its classes again when the system changes.
  new MutationObserver(showColorScheme).observe(document.body, { attributeFilter: ['class'] });
  addEventListener('storage', ({ key }) => {
    if (key === SCHEME_KEY) showColorScheme();
  });
}
