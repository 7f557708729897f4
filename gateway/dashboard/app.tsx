import { Center, Loader } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { Route, Switch, useLocation, useSearchParams } from 'wouter';
import { NotFoundPage } from './pages/not-found.tsx';
import { Frame } from './shell/frame.tsx';
import { FieldComing } from './shell/keys.ts';
import { LoadBoundary } from './shell/loading.tsx';
import { SessionGate } from './shell/session.tsx';

// Each page is loaded separately, so that the first page loads fast.
const openPages: Record<string, LaterPage> = {
  '/sign-in': later(async () => (await import('./pages/sign-in/sign-in-page.tsx')).SignInPage),
  '/sign-in/link': later(async () => (await import('./pages/sign-in/link-page.tsx')).LinkPage),
  '/invitation': later(async () => (await import('./pages/sign-in/invitation-page.tsx')).InvitationPage),
  '/oauth/consent': later(async () => (await import('./pages/connect/connect-pages.tsx')).ConsentPage),
  '/oauth/device': later(async () => (await import('./pages/connect/connect-pages.tsx')).DevicePage),
  '/sign-up': later(async () => (await import('./pages/sign-in/sign-in-page.tsx')).SignUpPage),
  '/forgot-password': later(async () => (await import('./pages/sign-in/link-page.tsx')).ForgotPasswordPage),
  '/reset-password': later(async () => (await import('./pages/sign-in/link-page.tsx')).ResetPasswordPage),
};
const pages: Record<string, LaterPage> = {
  '/': later(async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage),
  '/welcome': later(async () => (await import('./pages/overview/welcome-page.tsx')).WelcomePage),
  '/inbox/:threadId?': later(async () => (await import('./pages/inbox/inbox-page.tsx')).InboxPage),
  '/activity': later(async () => (await import('./pages/activity/activity-page.tsx')).ActivityPage),
  '/emails/:id': later(async () => (await import('./pages/activity/email-page.tsx')).EmailPage),
  '/drafts': later(async () => (await import('./pages/drafts/drafts-page.tsx')).DraftsPage),
  '/approvals': later(async () => (await import('./pages/approvals/approvals-page.tsx')).ApprovalsPage),
  '/scheduled': later(async () => (await import('./pages/scheduled/scheduled-page.tsx')).ScheduledPage),
  '/held': later(async () => (await import('./pages/held/held-page.tsx')).HeldPage),
  '/domains': later(async () => (await import('./pages/domains/domains-page.tsx')).DomainsPage),
  '/domains/:id': later(async () => (await import('./pages/domains/domain-page.tsx')).DomainPage),
  '/addresses': later(async () => (await import('./pages/addresses/addresses-page.tsx')).AddressesPage),
  '/endpoints': later(async () => (await import('./pages/endpoints/endpoints-page.tsx')).EndpointsPage),
  '/endpoints/:id': later(async () => (await import('./pages/endpoints/endpoint-page.tsx')).EndpointPage),
  '/rules': later(async () => (await import('./pages/rules/rules-page.tsx')).RulesPage),
  '/rules/:id': later(async () => (await import('./pages/rules/rule-page.tsx')).RulePage),
  '/suppressions': later(async () => (await import('./pages/suppressions/suppressions-page.tsx')).SuppressionsPage),
  '/refused': later(async () => (await import('./pages/refusals/refusals-page.tsx')).RefusalsPage),
  '/members': later(async () => (await import('./pages/members/members-page.tsx')).MembersPage),
  '/customers': later(async () => (await import('./pages/customers/customers-page.tsx')).CustomersPage),
  '/keys': later(async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
  '/requests': later(async () => (await import('./pages/requests/requests-page.tsx')).RequestsPage),
  '/audit': later(async () => (await import('./pages/audit/audit-page.tsx')).AuditPage),
  '/reference': later(async () => (await import('./pages/reference/reference-page.tsx')).ReferencePage),
  '/docs/*?': later(async () => (await import('./pages/docs/docs-page.tsx')).DocsPage),
  '/settings': later(async () => (await import('./pages/settings/settings-page.tsx')).SettingsPage),
};

/** A page whose code is loaded when it is opened, or before by `load`. */
type LaterPage = ComponentType & { load: () => Promise<unknown> };

function later(read: () => Promise<ComponentType>): LaterPage {
  let Loaded: ComponentType | null = null;
  const load = async () => ({ default: (Loaded = await read()) });
  const Later = lazy(load);
  function Page() {
    // A page whose code is there is shown in the same frame, without what is shown meanwhile.
    const [Shown] = useState<ComponentType>(() => Loaded ?? Later);
    return <Shown />;
  }
  return Object.assign(Page, { load });
}

/** Loads the code of the page with this path. */
export async function loadPage(path: string): Promise<void> {
  const isShown = (pattern: string) =>
    new RegExp(`^${pattern.replace(/\/(?::\w+|\*)\?/g, '(?:/.*)?').replace(/:\w+/g, '[^/]+')}$`).test(path);
  const found = Object.entries({ ...openPages, ...pages }).find(([pattern]) => isShown(pattern));
  // A failure is shown when the page is.
  await found?.[1].load().catch(() => undefined);
}

/** Parameters of URLs that open a form, whose first field gets what is typed while its page loads. */
const FORMS = ['new', 'compose', 'reply', 'reply-all', 'forward'];

/** Shows the page of the current path. Pages of the first list need no session, or look for it themselves. */
export function App() {
  return (
    <LoadBoundary>
      <Suspense fallback={<Waiting />}>
        <Switch>
          {Object.entries(openPages).map(([path, Page]) => (
            <Route key={path} path={path}>
              <Page />
            </Route>
          ))}
          <Route>
            <SessionGate>
              <Frame>
                <LoadBoundary>
                  <Suspense fallback={<Waiting />}>
                    <Switch>
                      {Object.entries(pages).map(([path, Page]) => (
                        <Route key={path} path={path}>
                          <Page />
                        </Route>
                      ))}
                      <Route>
                        <NotFoundPage />
                      </Route>
                    </Switch>
                  </Suspense>
                </LoadBoundary>
              </Frame>
            </SessionGate>
          </Route>
        </Switch>
      </Suspense>
    </LoadBoundary>
  );
}

function Waiting() {
  const [path] = useLocation();
  const [search] = useSearchParams();
  const opensForm = path.endsWith('/new') || FORMS.some((name) => search.has(name));
  return (
    <Center mih="40vh">
      {opensForm && <FieldComing cancel={() => undefined} />}
      <Loader aria-label="Loading" />
    </Center>
  );
}
