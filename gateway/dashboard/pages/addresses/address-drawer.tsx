import { Alert, Group, NativeSelect, Select, Stack, Switch, Text, Textarea, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { mutation } from '../../graphql.ts';
import { useLive } from '../../live/live-context.tsx';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { useEndpointChoices } from '../../parts/choices.ts';
import { Command, CopyButton } from '../../parts/command.tsx';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { RecordForm, Trouble, useRecordForm } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { RecordDrawer } from '../../parts/section.tsx';
import {
  POLICY_PARTS,
  PolicyFields,
  PolicyUsage,
  policyErrors,
  policyInput,
  policyInWords,
  policyValues,
  USAGE_PARTS,
} from '../../parts/send-policy.tsx';
import { Hint, Small, SmallLink, WarningAlert } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';
import { useRight, useViewer } from '../../shell/viewer.ts';
import { describeRoute, ONE_ADDRESS, type ShownAddress } from './address-form.tsx';

const UPDATE_ADDRESS = mutation(
  'updateEmailAddress',
  'emailAddress { id isActive routing signature policy { ...PolicyParts } policyUsage { ...UsageParts } }',
  [POLICY_PARTS, USAGE_PARTS],
);

const DELETE_ADDRESS = mutation('deleteEmailAddress', 'deletedId address domain { id }');

/** One address beside the list: destination, status, signature, send policy, test mail, and deletion. */
export function AddressDrawer({ id, close }: { id: string | null; close: () => void }) {
  const query = useLiveQuery({
    query: ONE_ADDRESS,
    variables: { id: id ?? '' },
    kinds: ['EMAIL_RECEIVED', 'EMAIL_SENT', 'EMAIL_SCHEDULED', 'DOMAIN_VERIFIED', 'DOMAIN_RECORDS_LOST'],
    types: ['EmailAddress', 'Domain'],
    isPaused: id === null,
  });
  return (
    <RecordDrawer
      id={id}
      close={close}
      query={query}
      find={({ emailAddress }) => emailAddress}
      title={({ address }) => address}
      kind="Address"
      missing="It was deleted, or it belongs to another account."
    >
      {(address) => <AddressDetails key={address.id} address={address} close={close} />}
    </RecordDrawer>
  );
}

function AddressDetails({ address, close }: { address: ShownAddress; close: () => void }) {
  const { act: remove } = useAct(DELETE_ADDRESS, { done: `${address.address} was deleted.`, onDone: close });
  const mail = address.emailStatistics;
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Group gap={4} wrap="nowrap">
          <Text fw={600} className="postroom-wrap">
            {address.address}
          </Text>
          <CopyButton text={address.address} label="Copy address" />
        </Group>
        <Hint component="div">
          {counted(mail.last24Hours, 'email')} in 24 h, {formatCount(mail.last7Days)} in 7 days,{' '}
          {formatCount(mail.last30Days)} in 30 days; <RelativeTime at={address.createdAt} prefix="created " />
        </Hint>
        <SmallLink href={`/activity?address=${encodeURIComponent(address.address)}`}>Emails</SmallLink>
        {address.domain !== null && (
          <SmallLink href={`/domains/${address.domain.id}`}>Domain {address.domain.name}</SmallLink>
        )}
      </Stack>
      {address.warning !== null && (
        <WarningAlert title="External mail does not reach this address" role="status">
          {address.warning}
        </WarningAlert>
      )}
      <Routing address={address} />
      <Signature address={address} />
      <SendPolicy address={address} />
      <DrawerPart title="Test this address">
        {address.isActive ? (
          <TestMail address={address} />
        ) : (
          <Small>Turn the address on first. Mail to it is currently rejected.</Small>
        )}
      </DrawerPart>
      <Group justify="space-between">
        <ConfirmButton
          needed="domains"
          label="Delete address"
          question={`Delete ${address.address}?`}
          about="Mail to this address will be rejected. The address can be created again by the owner of the domain. Received mail stays readable."
          act={() => remove({ id: address.id })}
        />
        <QuietButton label="Close" size="xs" onClick={close} />
      </Group>
    </Stack>
  );
}

function DrawerPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={3}>{title}</Title>
      {children}
    </Stack>
  );
}

/** Where the mail of the address goes. */
function Routing({ address }: { address: ShownAddress }) {
  const { act, isBusy, problem } = useAct(UPDATE_ADDRESS, { quiet: true });
  const mayChange = useRight('domains');
  const endpoints = useEndpointChoices(address.endpoint);
  const change = (input: { endpointId?: string | null; webhookId?: null; isActive?: boolean }) =>
    act({ id: address.id, ...input });
  return (
    <DrawerPart title="Routing">
      <Small>Now: {describeRoute(address)}</Small>
      <Select
        label="Deliver mail to"
        placeholder="Stored only, or the catch-all of the domain"
        data={endpoints}
        value={address.endpoint?.id ?? null}
        onChange={(endpointId) => void change({ endpointId, ...(endpointId === null ? { webhookId: null } : {}) })}
        disabled={isBusy || !mayChange}
        clearable
        clearButtonProps={{ 'aria-label': 'No endpoint' }}
      />
      <Switch
        label="Receive mail"
        description={
          address.isActive
            ? 'If you turn this off, mail to the address is rejected (550).'
            : 'Mail to the address is rejected (550).'
        }
        checked={address.isActive}
        disabled={isBusy || !mayChange}
        onChange={(event) => void change({ isActive: event.currentTarget.checked })}
      />
      <Trouble text={problem?.message} />
    </DrawerPart>
  );
}

/** Maximum length of a signature, as the service accepts it. Characters. */
const MAX_SIGNATURE = 2_000;

/** The signature of the address, with the form that changes it. */
function Signature({ address }: { address: ShownAddress }) {
  const { act, isBusy, problem } = useAct(UPDATE_ADDRESS, { quiet: true, done: 'The signature was saved.' });
  const saved = address.signature ?? '';
  const [text, setText] = useState(saved);
  return (
    <DrawerPart title="Signature">
      <Small>The dashboard puts it below new mail and replies from this address.</Small>
      <Textarea
        aria-label="Signature"
        autosize
        minRows={3}
        maxRows={12}
        maxLength={MAX_SIGNATURE}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Trouble text={problem?.fields['signature'] ?? problem?.message} />
      <QuietButton
        label="Save signature"
        needed="domains"
        size="xs"
        loading={isBusy}
        disabled={text === saved}
        onClick={() => void act({ id: address.id, signature: text.trim() === '' ? null : text })}
        style={{ alignSelf: 'flex-start' }}
      />
    </DrawerPart>
  );
}

/** What the address may send, with the form that changes it. */
function SendPolicy({ address }: { address: ShownAddress }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <DrawerPart title="Send policy">
      <Small className="postroom-wrap">
        Mail from this address: {address.policy === null ? 'no limits' : policyInWords(address.policy)}
      </Small>
      <PolicyUsage usage={address.policyUsage} />
      {isOpen ? (
        <PolicyForm address={address} close={() => setOpen(false)} />
      ) : (
        <QuietButton
          label="Edit send policy"
          needed="domains"
          size="xs"
          onClick={() => setOpen(true)}
          style={{ alignSelf: 'flex-start' }}
        />
      )}
    </DrawerPart>
  );
}

function PolicyForm({ address, close }: { address: ShownAddress; close: () => void }) {
  const { act } = useAct(UPDATE_ADDRESS, { quiet: true, done: 'The send policy was changed.' });
  const form = useRecordForm({
    values: { policy: policyValues(address.policy) },
    submit: ({ policy }) => act({ id: address.id, policy: policyInput(policy) }),
    rename: policyErrors,
    saved: close,
  });
  return (
    <RecordForm
      form={form}
      submit="Save send policy"
      label="Send policy of the address"
      cancel={close}
      gap="sm"
      size="xs"
    >
      <PolicyFields recipients={form.values.policy.recipients} />
    </RecordForm>
  );
}

const SIMULATE = mutation('simulateInbound', 'emailId to');

const TEMPLATES = [
  { value: 'PLAIN', label: 'A short question' },
  { value: 'NEWSLETTER', label: 'A newsletter with HTML' },
  { value: 'ATTACHMENT', label: 'An invoice with attachments' },
  { value: 'ONE_TIME_CODE', label: 'A one-time code' },
  { value: 'SPAM', label: 'A message that looks like spam' },
] as const;

/** Simulates an incoming message to the address and shows its arrival, or shows a command that sends one. */
function TestMail({ address }: { address: ShownAddress }) {
  const { service } = useViewer();
  const { act, isBusy, problem } = useAct(SIMULATE, { quiet: true });
  const [template, setTemplate] = useState<string>('PLAIN');
  const [emailId, setEmailId] = useState<string | null>(null);
  const [arrived, setArrived] = useState<readonly string[]>([]);
  useLive(['EMAIL_RECEIVED', 'EMAIL_THREADED'], (event) => {
    const id = event?.emailId ?? null;
    if (id !== null) setArrived((before) => [...before.slice(-50), id]);
  });
  const send = async () => {
    setEmailId(null);
    const chosen = TEMPLATES.find(({ value }) => value === template)?.value ?? 'PLAIN';
    const { payload } = await act({ to: address.address, template: chosen });
    setEmailId(payload?.emailId ?? null);
  };
  const isThere = emailId !== null && arrived.includes(emailId);
  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="xs">
        <NativeSelect
          label="Test email"
          data={[...TEMPLATES]}
          value={template}
          onChange={(event) => setTemplate(event.currentTarget.value)}
        />
        <MainButton label="Send test email" needed="endpoints" loading={isBusy} onClick={() => void send()} />
      </Group>
      <div aria-live="polite">
        <Trouble text={problem?.message} />
        {emailId !== null && (
          <Alert
            color={isThere ? 'green' : 'post.6'}
            variant="outline"
            icon={<Icon name="circle-check" />}
            title={isThere ? 'The test email arrived' : 'The test email was accepted'}
          >
            <SmallLink href={`/emails/${emailId}`}>Open email</SmallLink>
          </Alert>
        )}
      </div>
      <Small>Or use a terminal:</Small>
      <Command
        label="Copy swaks command"
        text={`swaks --server ${service.smtpHost}:${service.smtpPort} --from ada@example.com --to ${address.address} --header 'Subject: Hello' --body 'A test'`}
      />
    </Stack>
  );
}
