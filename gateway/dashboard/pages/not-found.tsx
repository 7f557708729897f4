import { QuietButton } from '../parts/controls.tsx';
import { EmptyState, Page } from '../parts/page.tsx';

/** Shown for an unknown URL. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon="map-off"
        title="This page does not exist"
        about="The link may be incomplete, or the item was deleted."
      >
        <QuietButton label="Go to overview" href="/" />
      </EmptyState>
    </Page>
  );
}
