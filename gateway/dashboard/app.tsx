import { Center, Loader } from '@mantine/core';
import type { ComponentType } from 'react';
import { Route, Switch, useLocation, useSearchParams } from 'wouter';
import { NotFoundPage } from './pages/not-found.tsx';
import { Frame } from './shell/frame.tsx';
import { FieldComing } from './shell/keys.ts';
import { LoadBoundary, later } from './shell/loading.tsx';
import { SessionGate } from './shell/session.tsx';

// Each page is loaded separately, so that the first page loads fast.
const page = (read: () => Promise<ComponentType>) => later(read, () => <Waiting />);
const openPages = {
  '/sign-in': page(async () => (await import('./pages/sign-in/sign-in-page.tsx')).SignInPage),
  '/sign-in/link': page(async () => (await import('./pages/sign-in/link-page.tsx')).LinkPage),
  '/invitation': page(async () => (await import('./pages/sign-in/invitation-page.tsx')).InvitationPage),
  '/oauth/consent': page(async () => (await import('./pages/connect/connect-pages.tsx')).ConsentPage),
  '/oauth/device': page(async () => (await import('./pages/connect/connect-pages.tsx')).DevicePage),
  '/sign-up': page(async () => (await import('./pages/sign-in/sign-in-page.tsx')).SignUpPage),
  '/forgot-password': page(async () => (await import('./pages/sign-in/link-page.tsx')).ForgotPasswordPage),
  '/reset-password': page(async () => (await import('./pages/sign-in/link-page.tsx')).ResetPasswordPage),
};
const pages = {
  '/': page(async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage),
  '/welcome': page(async () => (await import('./pages/overview/welcome-page.tsx')).WelcomePage),
  '/inbox/:threadId?': page(async () => (await import('./pages/inbox/inbox-page.tsx')).InboxPage),
  '/activity': page(async () => (await import('./pages/activity/activity-page.tsx')).ActivityPage),
  '/emails/:id': page(async () => (await import('./pages/activity/email-page.tsx')).EmailPage),
  '/drafts': page(async () => (await import('./pages/drafts/drafts-page.tsx')).DraftsPage),
  '/approvals': page(async () => (await import('./pages/approvals/approvals-page.tsx')).ApprovalsPage),
  '/scheduled': page(async () => (await import('./pages/scheduled/scheduled-page.tsx')).ScheduledPage),
  '/held': page(async () => (await import('./pages/held/held-page.tsx')).HeldPage),
  '/domains': page(async () => (await import('./pages/domains/domains-page.tsx')).DomainsPage),
  '/domains/:id': page(async () => (await import('./pages/domains/domain-page.tsx')).DomainPage),
  '/addresses': page(async () => (await import('./pages/addresses/addresses-page.tsx')).AddressesPage),
  '/endpoints': page(async () => (await import('./pages/endpoints/endpoints-page.tsx')).EndpointsPage),
  '/endpoints/:id': page(async () => (await import('./pages/endpoints/endpoint-page.tsx')).EndpointPage),
  '/rules': page(async () => (await import('./pages/rules/rules-page.tsx')).RulesPage),
  '/rules/:id': page(async () => (await import('./pages/rules/rule-page.tsx')).RulePage),
  '/suppressions': page(async () => (await import('./pages/suppressions/suppressions-page.tsx')).SuppressionsPage),
  '/refused': page(async () => (await import('./pages/refusals/refusals-page.tsx')).RefusalsPage),
  '/members': page(async () => (await import('./pages/members/members-page.tsx')).MembersPage),
  '/customers': page(async () => (await import('./pages/customers/customers-page.tsx')).CustomersPage),
  '/keys': page(async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
  '/requests': page(async () => (await import('./pages/requests/requests-page.tsx')).RequestsPage),
  '/audit': page(async () => (await import('./pages/audit/audit-page.tsx')).AuditPage),
  '/reference': page(async () => (await import('./pages/reference/reference-page.tsx')).ReferencePage),
  '/docs/*?': page(async () => (await import('./pages/docs/docs-page.tsx')).DocsPage),
  '/settings': page(async () => (await import('./pages/settings/settings-page.tsx')).SettingsPage),
};

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
              </LoadBoundary>
            </Frame>
          </SessionGate>
        </Route>
      </Switch>
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
