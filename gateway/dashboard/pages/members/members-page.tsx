import { Button, Group, Modal, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconPlus } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Row, Rows } from '../../parts/row-list.tsx';
import { useAct } from '../../parts/use-act.ts';
import { announceSignOut } from '../../shell/session-news.ts';
import { leave } from '../../shell/sign-out.ts';
import { useRight, useViewer } from '../../shell/viewer.ts';
import { InviteForm } from './invite-form.tsx';
import { INVITATIONS, LEAVE, MEMBERS, RESEND, REVOKE, type ShownInvitation } from './member-documents.ts';
import { MemberRow } from './member-row.tsx';

/** The members of the workspace, and invitations. */
export function MembersPage() {
  const { person } = useViewer();
  const mayManage = useRight('members');
  const [isOpen, setOpen] = useState(false);
  const isLimited = person?.isLimited === true;
  const [{ data, error }, refresh] = useQuery({ query: MEMBERS, requestPolicy: 'network-only', pause: isLimited });
  const again = () => refresh({ requestPolicy: 'network-only' });
  return (
    <>
      <PageHeader
        title="Members"
        about={`Persons who work in the workspace ${person?.workspaceName ?? ''}, each with a role.`}
      >
        {mayManage && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen(true)}>
            Invite person
          </Button>
        )}
      </PageHeader>
      <Stack gap="xl">
        {error !== undefined && <ErrorNote error={error} retry={again} />}
        {isLimited && <Text size="sm">You are limited to domains or addresses, so other members are not listed.</Text>}
        {data === undefined && error === undefined && !isLimited && <Skeleton h={200} aria-label="Loading" />}
        {data !== undefined && (
          <Rows label="Members">
            {data.members.map((member) => (
              <MemberRow key={member.id} member={member} changed={again} />
            ))}
          </Rows>
        )}
        {mayManage && <Invitations isInviting={isOpen} />}
        {person != null && person.role !== 'OWNER' && <LeaveWorkspace />}
      </Stack>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Invite person"
        closeButtonProps={{ 'aria-label': 'Close' }}
        centered
      >
        <InviteForm done={() => setOpen(false)} />
      </Modal>
    </>
  );
}

/** Invitations that were not accepted. */
function Invitations({ isInviting }: { isInviting: boolean }) {
  const [{ data, error }, refresh] = useQuery({ query: INVITATIONS, requestPolicy: 'network-only', pause: isInviting });
  const again = () => refresh({ requestPolicy: 'network-only' });
  const pending = data?.invitations.filter(({ status }) => status === 'OPEN' || status === 'EXPIRED') ?? [];
  return (
    <Stack gap="sm" component="section" aria-label="Invitations">
      <Title order={2} size="h4">
        Invitations
      </Title>
      {error !== undefined && <ErrorNote error={error} retry={again} />}
      {data !== undefined && pending.length === 0 && (
        <Text size="sm" c="dimmed">
          Invitations that were not accepted yet appear here.
        </Text>
      )}
      {pending.length > 0 && (
        <Rows label="Invitations">
          {pending.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} changed={again} />
          ))}
        </Rows>
      )}
    </Stack>
  );
}

function InvitationRow({ invitation, changed }: { invitation: ShownInvitation; changed: () => void }) {
  const resend = useAct(RESEND, { done: 'The invitation was sent again.' });
  const revoke = useAct(REVOKE, { done: 'The invitation was revoked.' });
  const { id, email, role, status, sentAt, expiresAt, invitedBy } = invitation;
  return (
    <Row
      name={
        <Text fw={600} size="sm" className="postroom-wrap">
          {email}
        </Text>
      }
      about={
        <>
          {role.toLowerCase()}, sent <RelativeTime at={sentAt} />
          {invitedBy !== null && ` by ${invitedBy}`}, {status === 'EXPIRED' ? 'expired ' : 'expires '}
          <RelativeTime at={expiresAt} />
        </>
      }
      actions={
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            aria-label={`Send again: invitation of ${email}`}
            loading={resend.isBusy}
            onClick={() => void resend.act({ input: { id } }).then(changed)}
          >
            Send again
          </Button>
          <ConfirmButton
            label="Revoke"
            aria-label={`Revoke invitation of ${email}`}
            question={`Revoke the invitation of ${email}?`}
            about="The link in the email stops working."
            confirm="Revoke invitation"
            act={() => revoke.act({ input: { id } }).then(changed)}
          />
        </Group>
      }
    />
  );
}

function LeaveWorkspace() {
  const { id, person } = useViewer();
  const { act } = useAct(LEAVE);
  const name = person?.workspaceName ?? '';
  return (
    <Group>
      <ConfirmButton
        label="Leave workspace"
        question={`Leave ${name}?`}
        about="You lose access at once, and API keys that you created are revoked. You then sign in to another workspace of yours."
        confirm="Leave workspace"
        act={async () => {
          const { problem } = await act({ input: { workspaceId: id } });
          if (problem !== null) return;
          announceSignOut();
          leave();
        }}
      />
    </Group>
  );
}
