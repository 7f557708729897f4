import { Anchor, List, Stack } from '@mantine/core';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { DialogButton } from '../../parts/buttons.tsx';
import { confirmSignIn } from '../../parts/confirm-sign-in.ts';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { countedAtLeast } from '../../parts/words.ts';
import { announceSignOut, leaveErased } from '../../shell/session-news.ts';
import { useRight, useViewer } from '../../shell/viewer.ts';
import { auth } from '../sign-in/auth-calls.ts';
import { startExport } from './account-settings.tsx';

const PREVIEW = graphql(`
  query PreviewErasure {
    viewer { erasurePreview { emails unsentEmails threads drafts domains addresses endpoints guardRules apiKeys } }
  }
`);
const ERASE = mutation('eraseAccount', 'email');

/** Erases the account, after its owner typed its address and signed in again. */
export function EraseSection() {
  const isOwner = useRight('erasure');
  return (
    <Section
      title="Erase account"
      about="Erases all mail, domains, keys and settings of this account. This cannot be undone."
    >
      {!isOwner && <Hint>Only the owner of the workspace can erase it.</Hint>}
      <DialogButton
        w="fit-content"
        label="Erase account"
        title="Erase this account?"
        icon="trash"
        size="sm"
        dialogSize="lg"
        disabled={!isOwner}
      >
        {(close) => <EraseDialog close={close} />}
      </DialogButton>
    </Section>
  );
}

function EraseDialog({ close }: { close: () => void }) {
  const query = useLiveQuery({ query: PREVIEW });
  return (
    <Stack>
      <Loaded query={query}>{({ viewer }) => <Erased counts={viewer.erasurePreview} />}</Loaded>
      <Small>
        To keep a copy,{' '}
        <Anchor
          href="/api/auth/export"
          download
          underline="always"
          onClick={(event) => {
            event.preventDefault();
            void startExport();
          }}
        >
          export the account
        </Anchor>{' '}
        first, and wait until the download has ended.
      </Small>
      <ConfirmErasure close={close} />
    </Stack>
  );
}

type Counts = ResultOf<typeof PREVIEW>['viewer']['erasurePreview'];

/** What goes, and what that means. */
function Erased({ counts }: { counts: Counts }) {
  const { emails, threads, drafts, domains, addresses, endpoints, guardRules, apiKeys, unsentEmails } = counts;
  return (
    <>
      <Small>This is erased within minutes and cannot be restored:</Small>
      <List size="sm">
        <List.Item>
          {[
            countedAtLeast(emails, 'email'),
            countedAtLeast(threads, 'thread'),
            ...(drafts > 0 ? [countedAtLeast(drafts, 'draft')] : []),
          ].join(', ')}
        </List.Item>
        <List.Item>
          {countedAtLeast(domains, 'domain')} with {countedAtLeast(addresses, 'address', 'addresses')}: they reject mail
          at once, and other accounts can add the domains
        </List.Item>
        <List.Item>
          {[
            countedAtLeast(endpoints, 'endpoint'),
            countedAtLeast(guardRules, 'guard rule'),
            countedAtLeast(apiKeys, 'API key'),
          ].join(', ')}
          : keys and webhooks stop at once
        </List.Item>
        {unsentEmails > 0 && (
          <List.Item>{countedAtLeast(unsentEmails, 'email')} in the queue or scheduled: never sent</List.Item>
        )}
      </List>
    </>
  );
}

/** Erases the account, once its owner has typed its address and confirmed the sign-in. */
function ConfirmErasure({ close }: { close: () => void }) {
  const { email } = useViewer();
  const { act } = useAct(ERASE, { quiet: true });
  const form = useRecordForm({
    values: { confirmEmail: '' },
    submit: async (input) => ((await isConfirmed()) ? act(input) : { payload: null, problem: null }),
    saved: ({ payload }) => {
      if (payload === null) return;
      announceSignOut();
      leaveErased();
    },
  });
  return (
    <RecordForm
      form={form}
      submit="Erase account"
      label="Erase account"
      color="red.9"
      cancel={close}
      isDisabled={form.values.confirmEmail.trim().toLowerCase() !== email}
    >
      <form.Text name="confirmEmail" label={`Type ${email} to confirm`} autoComplete="off" />
    </RecordForm>
  );
}

/** Asks for the password or a passkey, however new the sign-in is. Single sign-on leaves the page, and counts when it comes back. */
async function isConfirmed(): Promise<boolean> {
  const { result } = await auth.secondFactor();
  return (
    (result?.isByProvider === true && result.isFresh) ||
    confirmSignIn('The account is erased as soon as you have confirmed. This cannot be undone.')
  );
}
