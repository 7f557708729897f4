import { Badge, Checkbox, Group, Modal, Radio, Stack, Title } from '@mantine/core';
import { createContext, useContext, useState } from 'react';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActButton, ConfirmButton, DialogButton } from '../../parts/buttons.tsx';
import { useVerifiedDomains } from '../../parts/choices.ts';
import { Command } from '../../parts/command.tsx';
import { FIELDS, RecordForm, useRecordForm } from '../../parts/form.tsx';
import { Row, RowName, Rows } from '../../parts/list.tsx';
import { PageHeader } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded } from '../../parts/section.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { Face } from '../../parts/thumbnail.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { announceSignOut, leave } from '../../shell/session-news.ts';
import { useRight, useViewer } from '../../shell/viewer.ts';

const MEMBERS = graphql(`
  query DashboardMembers {
    members { id email name image role isApprover limits { domainIds addresses } joinedAt apiKeys isYou }
  }
`);
type ShownMember = ResultOf<typeof MEMBERS>['members'][number];

/** The names of the domains of the workspace by their IDs, which limits have. */
const DomainNames = createContext<ReadonlyMap<string, string>>(new Map());

/** What sending an invitation returned: its link, if the person is to hand it over. */
type Sent = { invitation: { email: string; acceptUrl: string | null } | null };

/** The members of the workspace, and invitations. */
export function MembersPage() {
  const { person } = useViewer();
  const mayManage = useRight('members');
  const isLimited = person?.isLimited === true;
  const query = useLiveQuery({ query: MEMBERS, types: ['Member'], isPaused: isLimited });
  const { domains = [] } = useVerifiedDomains();
  const [sent, setSent] = useState<Sent['invitation']>(null);
  const handOver = ({ invitation }: Sent) => setSent(invitation);
  return (
    <DomainNames value={new Map(domains.map(({ id, name }) => [id, name]))}>
      <PageHeader
        title="Members"
        about={`Persons who work in the workspace ${person?.workspaceName ?? ''}, each with a role.`}
      >
        {mayManage && (
          <DialogButton label="Invite person" title="Invite person" icon="plus" variant="filled" size="sm">
            {(close) => <InviteForm done={close} handOver={handOver} />}
          </DialogButton>
        )}
      </PageHeader>
      <Stack gap="xl">
        {isLimited ? (
          <Small>You are limited to domains or addresses, so other members are not listed.</Small>
        ) : (
          <Loaded query={query}>
            {({ members }) => (
              <Rows label="Members">
                {members.map((member) => (
                  <MemberRow key={member.id} member={member} changed={query.refresh} />
                ))}
              </Rows>
            )}
          </Loaded>
        )}
        {mayManage && <Invitations handOver={handOver} />}
        {person != null && person.role !== 'OWNER' && <LeaveWorkspace />}
      </Stack>
      <Modal
        opened={sent?.acceptUrl != null}
        onClose={() => setSent(null)}
        title="Copy link"
        closeOnClickOutside={false}
      >
        <Stack>
          <Small>
            This service stores the mail of {sent?.email}, where others may read it, too. So the email has no link: give
            this one to the person yourself. It is shown only once, and works once, for 7 days.
          </Small>
          <Command text={sent?.acceptUrl ?? ''} label="Copy link" />
        </Stack>
      </Modal>
    </DomainNames>
  );
}

const REMOVE_MEMBER = mutation('removeMember', 'id');
const TRANSFER = mutation('transferOwnership', 'member { id role }');

/** Domains and addresses that a row names; more are counted. */
const MAX_NAMED = 3;

/** A member, with what the signed-in person may do about it. */
function MemberRow({ member, changed }: { member: ShownMember; changed: () => void }) {
  const { id, email, name, image, role, isApprover, isYou, joinedAt, limits, apiKeys } = member;
  const called = name === '' ? email : name;
  const mayTransfer = useRight('ownership');
  const isManaged = useRight('members') && role !== 'OWNER' && !isYou;
  const { act: remove } = useAct(REMOVE_MEMBER, { done: `${called} is no member any more.` });
  const [keys, setKeys] = useState<KeyFate>('revoke');
  return (
    <Row
      name={
        <Group gap="xs">
          <Face name={called} image={image} size={28} />
          <RowName>{called}</RowName>
          <Badge variant="default">{role.toLowerCase()}</Badge>
          {isApprover && role !== 'OWNER' && role !== 'ADMIN' && <Badge variant="default">approver</Badge>}
          {isYou && <Badge variant="default">you</Badge>}
        </Group>
      }
      about={
        <>
          {email}, joined <RelativeTime at={joinedAt} />
          {apiKeys > 0 && `, ${counted(apiKeys, 'API key')}`}
        </>
      }
      actions={
        <Group gap="xs">
          {isManaged && (
            <DialogButton label="Change role" aria-label={`Change role of ${called}`} title={`Role of ${called}`}>
              {(close) => (
                <ChangeForm
                  member={member}
                  done={() => {
                    close();
                    changed();
                  }}
                />
              )}
            </DialogButton>
          )}
          {mayTransfer && !isYou && <MakeOwner id={id} called={called} changed={changed} />}
          {isManaged && (
            <ConfirmButton
              label="Remove"
              of={called}
              about="The member loses access to this workspace at once."
              confirm="Remove member"
              act={() => remove({ id, keepsKeys: apiKeys > 0 && keys === 'keep' }).then(changed)}
            >
              {apiKeys > 0 && <KeyChoice count={apiKeys} value={keys} change={setKeys} />}
            </ConfirmButton>
          )}
        </Group>
      }
    >
      <Limits limits={limits} />
    </Row>
  );
}

/** What a member is limited to: the domains and the addresses, or how many. */
function Limits({ limits }: { limits: ShownMember['limits'] }) {
  const names = useContext(DomainNames);
  if (limits === null) return null;
  const { domainIds, addresses } = limits;
  const domains = domainIds.flatMap((id) => names.get(id) ?? []);
  const isNamed = domains.length === domainIds.length && domains.length + addresses.length <= MAX_NAMED;
  const some = isNamed
    ? [...domains, ...addresses]
    : [
        ...(domainIds.length > 0 ? [counted(domainIds.length, 'domain')] : []),
        ...(addresses.length > 0 ? [counted(addresses.length, 'address', 'addresses')] : []),
      ];
  return <Hint className="postroom-wrap">Only {some.join(', ')}</Hint>;
}

function MakeOwner({ id, called, changed }: { id: string; called: string; changed: () => void }) {
  const { act } = useAct(TRANSFER, { done: 'The ownership was transferred.' });
  const [keeps, setKeeps] = useState(false);
  return (
    <ConfirmButton
      label="Make owner"
      aria-label={`Make owner: ${called}`}
      question={`Make ${called} the owner?`}
      about="The owner can do everything, including closing the workspace. You become an admin."
      confirm="Transfer ownership"
      act={() => act({ id, keepsKeys: keeps }).then(changed)}
    >
      <Checkbox
        checked={keeps}
        onChange={(event) => setKeeps(event.currentTarget.checked)}
        label="Keep the keys of customers’ workspaces and the SCIM token"
        description="They are then the new owner’s, and so are your API keys that created them, which can do what an admin can and create nothing more for customers. Otherwise they stop working."
      />
    </ConfirmButton>
  );
}

type KeyFate = 'revoke' | 'keep';

/** Asks what happens to the API keys of a member. */
function KeyChoice({ count, value, change }: { count: number; value: KeyFate; change: (value: KeyFate) => void }) {
  return (
    <Radio.Group
      label={`What happens to the ${counted(count, 'API key')} of this member?`}
      value={value}
      onChange={(chosen) => change(chosen === 'keep' ? 'keep' : 'revoke')}
    >
      <Stack gap="xs" mt="xs">
        <Radio
          value="revoke"
          label="Revoke"
          description="Programs that use them lose access at once, and what they set up stops."
        />
        <Radio value="keep" label="Keep" description="They are then yours, with what they set up." />
      </Stack>
    </Radio.Group>
  );
}

/** The roles that can be given, each with what it may do. */
const GIVEN_ROLES = [
  {
    value: 'ADMIN',
    label: 'Admin',
    about: 'Members, domains, policies and retention, and all that a developer may do',
  },
  {
    value: 'DEVELOPER',
    label: 'Developer',
    about: 'API keys, endpoints and logged requests, and all that an agent may do',
  },
  { value: 'AGENT', label: 'Agent', about: 'Reads, sends and organizes mail' },
  { value: 'VIEWER', label: 'Viewer', about: 'Reads mail' },
] as const;
type GivenRole = (typeof GIVEN_ROLES)[number]['value'];

/** What a form gives to a member. Limits are domains, and addresses, which have an @; none: all mail. */
type RoleValues = { role: GivenRole; isApprover: boolean; limits: string[] };

/** Whether a role can be limited to domains and addresses, and has no API keys. */
const isLowRole = (role: GivenRole) => role === 'AGENT' || role === 'VIEWER';

/** Fields of a role and its limits, in a form that has them. */
function RoleFields({ values: { role, limits }, roleProps }: { values: RoleValues; roleProps: object }) {
  return (
    <Stack>
      <Radio.Group label="Role" {...roleProps}>
        <Stack gap="xs" mt="xs">
          {GIVEN_ROLES.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Radio.Group>
      {role !== 'ADMIN' && (
        <FIELDS.Checkbox name="isApprover" label="Approver" description="May approve mail that waits for approval." />
      )}
      {isLowRole(role) && (
        <FIELDS.Tags
          name="limits"
          label="Only these domains and addresses"
          description="Leave it empty for all mail. The rest does not exist for this member."
          placeholder={limits.length === 0 ? 'example.com or support@example.com' : ''}
          splitChars={[',', ' ']}
          acceptValueOnBlur
        />
      )}
    </Stack>
  );
}

/** Returns the values as the input of a mutation. */
function writeRole({ role, isApprover, limits }: RoleValues) {
  const given = isLowRole(role) ? limits : [];
  const addresses = given.filter((each) => each.includes('@'));
  const domains = given.filter((each) => !each.includes('@'));
  return { role, isApprover, ...(given.length === 0 ? {} : { domains, addresses }) };
}

/** Puts the errors of domains and addresses at the field that has both. */
function renameLimits({ domains, addresses, ...fields }: Record<string, string>): Record<string, string> {
  const limits = domains ?? addresses;
  return { ...fields, ...(limits !== undefined && { limits }) };
}

const CHANGE_MEMBER = mutation('updateMember', 'member { id role isApprover }');

function ChangeForm({ member, done }: { member: ShownMember; done: () => void }) {
  const { id, role, isApprover, limits, apiKeys } = member;
  const names = useContext(DomainNames);
  const { act } = useAct(CHANGE_MEMBER, { quiet: true, done: 'The member was changed.' });
  const [keys, setKeys] = useState<KeyFate>('revoke');
  const losesKeys = (values: RoleValues) => apiKeys > 0 && isLowRole(values.role);
  const form = useRecordForm({
    values: {
      role: GIVEN_ROLES.find(({ value }) => value === role)?.value ?? 'VIEWER',
      isApprover,
      limits: [...(limits?.domainIds.map((each) => names.get(each) ?? each) ?? []), ...(limits?.addresses ?? [])],
    },
    submit: (values) => act({ id, ...writeRole(values), keepsKeys: losesKeys(values) && keys === 'keep' }),
    rename: renameLimits,
    saved: done,
  });
  return (
    <RecordForm form={form} submit="Save role">
      <RoleFields values={form.values} roleProps={form.getInputProps('role')} />
      {losesKeys(form.values) && <KeyChoice count={apiKeys} value={keys} change={setKeys} />}
    </RecordForm>
  );
}

const INVITATIONS = graphql(`
  query DashboardInvitations {
    invitations { id email role isApprover limits { domainIds addresses } status invitedBy sentAt expiresAt }
  }
`);
type ShownInvitation = ResultOf<typeof INVITATIONS>['invitations'][number];

/** Invitations that were not accepted. */
function Invitations({ handOver }: { handOver: (sent: Sent) => void }) {
  const query = useLiveQuery({ query: INVITATIONS, types: ['Invitation'] });
  return (
    <Stack gap="sm" component="section" aria-label="Invitations">
      <Title order={2} size="h4">
        Invitations
      </Title>
      <Loaded query={query} height={40}>
        {({ invitations }) => {
          const pending = invitations.filter(({ status }) => status === 'OPEN' || status === 'EXPIRED');
          if (pending.length === 0) return <Hint>Invitations that were not accepted yet appear here.</Hint>;
          return (
            <Rows label="Invitations">
              {pending.map((invitation) => (
                <InvitationRow key={invitation.id} {...{ invitation, handOver }} changed={query.refresh} />
              ))}
            </Rows>
          );
        }}
      </Loaded>
    </Stack>
  );
}

const RESEND = mutation('resendInvitation', 'invitation { id email acceptUrl }');
const REVOKE = mutation('revokeInvitation', 'invitation { id status }');

type InvitationRowProps = { invitation: ShownInvitation; handOver: (sent: Sent) => void; changed: () => void };

function InvitationRow({ invitation, handOver, changed }: InvitationRowProps) {
  const { id, email, role, isApprover, limits, status, sentAt, expiresAt, invitedBy } = invitation;
  const { act: revoke } = useAct(REVOKE, { done: 'The invitation was revoked.' });
  return (
    <Row
      name={<RowName>{email}</RowName>}
      about={
        <>
          {role.toLowerCase()}
          {isApprover && ' and approver'}, sent <RelativeTime at={sentAt} />
          {invitedBy !== null && ` by ${invitedBy}`}, {status === 'EXPIRED' ? 'expired ' : 'expires '}
          <RelativeTime at={expiresAt} />
        </>
      }
      actions={
        <Group gap="xs">
          <ActButton
            label="Send again"
            aria-label={`Send again: invitation of ${email}`}
            mutation={RESEND}
            input={{ id }}
            done="The invitation was sent again."
            onDone={(sent) => {
              handOver(sent);
              changed();
            }}
          />
          <ConfirmButton
            label="Revoke"
            aria-label={`Revoke invitation of ${email}`}
            question={`Revoke the invitation of ${email}?`}
            about="The link stops working."
            confirm="Revoke invitation"
            act={() => revoke({ id }).then(changed)}
          />
        </Group>
      }
    >
      <Limits limits={limits} />
    </Row>
  );
}

const INVITE = mutation('createInvitation', 'invitation { id email acceptUrl }');

/** Invites a person. */
function InviteForm({ done, handOver }: { done: () => void; handOver: (sent: Sent) => void }) {
  const { act } = useAct(INVITE, { quiet: true, done: 'The invitation was sent.', onDone: handOver });
  const form = useRecordForm({
    values: { email: '', role: 'AGENT' as GivenRole, isApprover: false, limits: [] as string[] },
    validate: {
      email: (text) => (/^\S+@\S+$/.test(text.trim()) ? null : 'Enter a complete address, such as ann@example.com.'),
    },
    submit: (values) => act({ email: values.email.trim(), ...writeRole(values) }),
    rename: renameLimits,
    saved: done,
  });
  return (
    <RecordForm form={form} submit="Send invitation" label="Invite person">
      <form.Text
        name="email"
        label="Email address"
        description="Postroom sends a link that works once, for 7 days."
        type="email"
        data-autofocus
      />
      <RoleFields values={form.values} roleProps={form.getInputProps('role')} />
    </RecordForm>
  );
}

const LEAVE = mutation('leaveWorkspace', 'message');

function LeaveWorkspace() {
  const { id, person } = useViewer();
  const { act } = useAct(LEAVE, {
    onDone: () => {
      announceSignOut();
      leave();
    },
  });
  return (
    <ConfirmButton
      w="fit-content"
      label="Leave workspace"
      question={`Leave ${person?.workspaceName ?? ''}?`}
      about="You lose access at once, and API keys that you created are revoked. You then sign in to another workspace of yours."
      act={() => act({ workspaceId: id })}
    />
  );
}
