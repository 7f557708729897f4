import { Anchor, Modal, Stack, Text } from '@mantine/core';
import { auth } from '../pages/sign-in/auth-calls.ts';
import { withNext } from '../pages/sign-in/next-path.ts';
import { SignInForm } from '../pages/sign-in/sign-in-form.tsx';
import { useAuthSettings } from '../pages/sign-in/use-auth-settings.ts';
import type { Viewer } from './viewer.ts';

/** Dialog over a page whose session has ended. After sign-in, the page continues with its unsaved input. */
export function SessionOver({ viewer, onSignedIn }: { viewer: Viewer; onSignedIn: () => void }) {
  const settings = useAuthSettings();
  const { pathname, search, hash } = window.location;
  // The new session may be in another workspace than the page.
  const enterAgain = async (personId: string) => {
    const isSame = personId === viewer.person?.id && (await auth.switchWorkspace(viewer.id)).problem === null;
    if (isSame) onSignedIn();
    else window.location.reload();
  };
  return (
    <Modal
      opened
      onClose={() => undefined}
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
      title="Your session has ended"
      centered
      zIndex={400}
    >
      <Stack>
        <Text size="sm">Sign in again to continue on this page.</Text>
        <SignInForm
          email={viewer.person?.email ?? viewer.email ?? ''}
          passkeyHost={settings?.passkeyHost ?? null}
          singleSignOn={settings?.singleSignOn ?? null}
          returnTo={pathname + search + hash}
          onSignedIn={(user) => void enterAgain(user.id)}
        />
        <Anchor href={withNext('/sign-in', pathname + search + hash)} size="sm" ta="center">
          Go to sign-in
        </Anchor>
      </Stack>
    </Modal>
  );
}
