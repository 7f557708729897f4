import { Center, Loader } from '@mantine/core';
import { type ComponentType, lazy, Suspense } from 'react';
import { Route, Switch, useLocation, useSearchParams } from 'wouter';
import { NotFoundPage } from './pages/not-found.tsx';
import { Frame } from './shell/frame.tsx';
import { FieldComing } from './shell/keys.ts';
import { LoadBoundary } from './shell/load-boundary.tsx';
import { SessionGate } from './shell/session.tsx';

// Each page is loaded separately, so that the first page loads fast.
const openPages: Record<string, ComponentType> = {
  '/sign-in': lazy(async () => ({ default: (await import('./pages/sign-in/sign-in-page.tsx')).SignInPage })),
  '/sign-in/link': lazy(async () => ({ default: (await import('./pages/sign-in/link-page.tsx')).LinkPage })),
  '/invitation': lazy(async () => ({ default: (await import('./pages/sign-in/invitation-page.tsx')).InvitationPage })),
  '/oauth/consent': lazy(async () => ({ default: (await import('./pages/connect/connect-pages.tsx')).ConsentPage })),
  '/oauth/device': lazy(async () => ({ default: (await import('./pages/connect/connect-pages.tsx')).DevicePage })),
  '/sign-up': lazy(async () => ({ default: (await import('./pages/sign-in/sign-in-page.tsx')).SignUpPage })),
  '/forgot-password': lazy(async () => ({
    default: (await import('./pages/sign-in/link-page.tsx')).ForgotPasswordPage,
  })),
  '/reset-password': lazy(async () => ({
    default: (await import('./pages/sign-in/link-page.tsx')).ResetPasswordPage,
  })),
};
const pages: Record<string, ComponentType> = {
  '/': lazy(async () => ({ default: (await import('./pages/overview/overview-page.tsx')).OverviewPage })),
  '/welcome': lazy(async () => ({ default: (await import('./pages/overview/welcome-page.tsx')).WelcomePage })),
  '/inbox/:threadId?': lazy(async () => ({ default: (await import('./pages/inbox/inbox-page.tsx')).InboxPage })),
  '/activity': lazy(async () => ({ default: (await import('./pages/activity/activity-page.tsx')).ActivityPage })),
  '/emails/:id': lazy(async () => ({ default: (await import('./pages/activity/email-page.tsx')).EmailPage })),
  '/drafts': lazy(async () => ({ default: (await import('./pages/drafts/drafts-page.tsx')).DraftsPage })),
  '/approvals': lazy(async () => ({ default: (await import('./pages/approvals/approvals-page.tsx')).ApprovalsPage })),
  '/scheduled': lazy(async () => ({ default: (await import('./pages/scheduled/scheduled-page.tsx')).ScheduledPage })),
  '/held': lazy(async () => ({ default: (await import('./pages/held/held-page.tsx')).HeldPage })),
  '/domains': lazy(async () => ({ default: (await import('./pages/domains/domains-page.tsx')).DomainsPage })),
  '/domains/:id': lazy(async () => ({ default: (await import('./pages/domains/domain-page.tsx')).DomainPage })),
  '/addresses': lazy(async () => ({ default: (await import('./pages/addresses/addresses-page.tsx')).AddressesPage })),
  '/endpoints': lazy(async () => ({ default: (await import('./pages/endpoints/endpoints-page.tsx')).EndpointsPage })),
  '/endpoints/:id': lazy(async () => ({ default: (await import('./pages/endpoints/endpoint-page.tsx')).EndpointPage })),
  '/rules': lazy(async () => ({ default: (await import('./pages/rules/rules-page.tsx')).RulesPage })),
  '/rules/:id': lazy(async () => ({ default: (await import('./pages/rules/rule-page.tsx')).RulePage })),
  '/suppressions': lazy(async () => ({
    default: (await import('./pages/suppressions/suppressions-page.tsx')).SuppressionsPage,
  })),
  '/refused': lazy(async () => ({ default: (await import('./pages/refusals/refusals-page.tsx')).RefusalsPage })),
  '/members': lazy(async () => ({ default: (await import('./pages/members/members-page.tsx')).MembersPage })),
  '/customers': lazy(async () => ({ default: (await import('./pages/customers/customers-page.tsx')).CustomersPage })),
  '/keys': lazy(async () => ({ default: (await import('./pages/keys/keys-page.tsx')).KeysPage })),
  '/requests': lazy(async () => ({ default: (await import('./pages/requests/requests-page.tsx')).RequestsPage })),
  '/audit': lazy(async () => ({ default: (await import('./pages/audit/audit-page.tsx')).AuditPage })),
  '/reference': lazy(async () => ({ default: (await import('./pages/reference/reference-page.tsx')).ReferencePage })),
  '/docs/*?': lazy(async () => ({ default: (await import('./pages/docs/docs-page.tsx')).DocsPage })),
  '/settings': lazy(async () => ({ default: (await import('./pages/settings/settings-page.tsx')).SettingsPage })),
};

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
