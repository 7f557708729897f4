import { Alert, Anchor, Button, Drawer, Group, Select, Skeleton, Stack, Switch, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { counted, formatCount } from '../../parts/counted.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { type Problem, useAct } from '../../parts/use-act.ts';
import { useRight } from '../../shell/viewer.ts';
import { DELETE_ADDRESS, ONE_ADDRESS, routeOf, type ShownAddress, UPDATE_ADDRESS } from './address-documents.ts';
import { AddressPolicy } from './address-policy.tsx';
import { AddressSignature } from './address-signature.tsx';
import { useEndpointChoices } from './endpoint-choice.tsx';
import { TestMail } from './test-mail.tsx';

/** One address beside the list: destination, status, signature, send policy, test mail, and deletion. */
export function AddressDrawer({ id, close }: { id: string | null; close: () => void }) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: ONE_ADDRESS,
    variables: { id: id ?? '' },
    kinds: ['EMAIL_RECEIVED', 'EMAIL_SENT', 'EMAIL_SCHEDULED', 'DOMAIN_VERIFIED', 'DOMAIN_RECORDS_LOST'],
    types: ['EmailAddress', 'Domain'],
    isPaused: id === null,
  });
  const address = id === null ? null : (data?.emailAddress ?? null);
  return (
    <Drawer
      opened={id !== null}
      onClose={close}
      position="right"
      size="lg"
      title={address?.address ?? 'Address'}
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ title: 'postroom-wrap' }}
    >
      {isLoading && id !== null && <Skeleton h={240} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {data !== undefined && address === null && id !== null && (
        <Text>Address not found. It was deleted, or it belongs to another account.</Text>
      )}
      {address !== null && <Details address={address} close={close} />}
    </Drawer>
  );
}

function Details({ address, close }: { address: ShownAddress; close: () => void }) {
  const { act, isBusy } = useAct(UPDATE_ADDRESS, { quiet: true });
  const mayChange = useRight('domains');
  const { act: remove } = useAct(DELETE_ADDRESS, { done: `${address.address} was deleted.` });
  const endpoints = useEndpointChoices(address.endpoint);
  const [problem, setProblem] = useState<Problem | null>(null);
  const change = async (input: { endpointId?: string | null; webhookId?: null; isActive?: boolean }) =>
    setProblem((await act({ input: { id: address.id, ...input } })).problem);
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
        <Text size="sm" c="dimmed" component="div">
          {counted(mail.last24Hours, 'email')} in 24 h, {formatCount(mail.last7Days)} in 7 days,{' '}
          {formatCount(mail.last30Days)} in 30 days; <RelativeTime at={address.createdAt} prefix="created " />
        </Text>
        <Anchor component={Link} href={`/activity?address=${encodeURIComponent(address.address)}`} size="sm">
          Emails
        </Anchor>
        {address.domain !== null && (
          <Anchor component={Link} href={`/domains/${address.domain.id}`} size="sm">
            Domain {address.domain.name}
          </Anchor>
        )}
      </Stack>
      {address.warning !== null && (
        <Alert color="yellow" variant="outline" title="External mail does not reach this address" role="status">
          {address.warning}
        </Alert>
      )}
      <Stack gap="sm" component="section" aria-label="Routing">
        <Title order={3}>Routing</Title>
        <Text size="sm">Now: {routeOf(address)}</Text>
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
        {problem !== null && (
          <Alert color="red" variant="outline" role="alert">
            {problem.message}
          </Alert>
        )}
      </Stack>
      <AddressSignature key={`${address.id} signature`} address={address} />
      <AddressPolicy key={address.id} address={address} />
      <Stack gap="sm" component="section" aria-label="Test this address">
        <Title order={3}>Test this address</Title>
        {address.isActive ? (
          <TestMail address={address} />
        ) : (
          <Text size="sm">Turn the address on first. Mail to it is currently rejected.</Text>
        )}
      </Stack>
      <Group justify="space-between">
        <ConfirmButton
          {...needs('domains')}
          label="Delete address"
          question={`Delete ${address.address}?`}
          about="Mail to this address will be rejected. The address can be created again by the owner of the domain. Received mail stays readable."
          confirm="Delete address"
          act={async () => {
            const { problem: why } = await remove({ input: { id: address.id } });
            if (why === null) close();
          }}
        />
        <Button variant="default" size="xs" onClick={close}>
          Close
        </Button>
      </Group>
    </Stack>
  );
}
