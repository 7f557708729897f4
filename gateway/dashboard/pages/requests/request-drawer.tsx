import { Alert, Anchor, Button, Drawer, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Link } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { formatCount } from '../../parts/counted.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconCheck, IconTerminal2 } from '../../parts/icons.ts';
import { exactTime } from '../../parts/time-words.ts';
import { Json } from '../activity/json.tsx';
import { ONE_REQUEST, subjectOf, type WholeRequest } from './request-documents.ts';
import { RequestStatus } from './request-status.tsx';

/** One request beside the list: headers, bodies, and a command that sends it again. */
export function RequestDrawer({ id, close }: { id: string | null; close: () => void }) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: ONE_REQUEST,
    variables: { id: id ?? '' },
    kinds: [],
    isPaused: id === null,
  });
  const request = id === null ? null : (data?.apiRequest ?? null);
  return (
    <Drawer
      opened={id !== null}
      onClose={close}
      position="right"
      size="xl"
      title={request === null ? 'Request' : `${request.method} ${subjectOf(request)}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ title: 'postroom-wrap' }}
    >
      {isLoading && id !== null && <Skeleton h={240} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {data !== undefined && request === null && id !== null && (
        <Text>Request not found. Requests are kept for 7 days.</Text>
      )}
      {request !== null && <Details request={request} />}
    </Drawer>
  );
}

function Details({ request }: { request: WholeRequest }) {
  const { status, durationMs, createdAt, clientAddress, requestId, path, apiKey, curl, omitsBodies } = request;
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} miw={0} flex="1 1 16rem">
          <Group gap="xs">
            <RequestStatus status={status} />
            <Text size="sm">{formatCount(durationMs)} ms</Text>
          </Group>
          <Text size="sm">{exactTime(createdAt)}</Text>
          <Text size="sm">
            {apiKey === null ? (
              'Deleted key'
            ) : (
              <>
                API key{' '}
                <Anchor component={Link} href="/keys" size="sm">
                  {apiKey.name}
                </Anchor>
                {apiKey.hint !== null && ` (${apiKey.hint})`}
              </>
            )}
            , from {clientAddress}
          </Text>
          <Group gap={4} wrap="nowrap">
            <Text size="sm" c="dimmed" className="postroom-wrap">
              Request ID {requestId}
            </Text>
            <CopyButton text={requestId} label="Copy request ID" />
          </Group>
          <Text size="sm" ff="monospace" className="postroom-wrap">
            {path}
          </Text>
        </Stack>
        <CopyCurl curl={curl} />
      </Group>
      {omitsBodies && (
        <Alert color="orange" variant="outline" role="status">
          The service was busy and stored this request without its bodies.
        </Alert>
      )}
      <Side title="Request" headers={request.requestHeaders} body={request.requestBody} bytes={request.requestBytes} />
      <Side
        title="Response"
        headers={request.responseHeaders}
        body={request.responseBody}
        bytes={request.responseBytes}
      />
    </Stack>
  );
}

function CopyCurl({ curl }: { curl: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return (
    <Button
      variant="default"
      leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconTerminal2 size={16} aria-hidden />}
      onClick={() => copy(curl)}
    >
      {copied ? 'Copied' : 'Copy as curl'}
    </Button>
  );
}

function Side({
  title,
  headers,
  body,
  bytes,
}: {
  title: string;
  headers: WholeRequest['requestHeaders'];
  body: string | null;
  bytes: number | null;
}) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={3} size="h4">
        {title}
      </Title>
      {headers.length > 0 && (
        <Json text={headers.map(({ name, value }) => `${name}: ${value}`).join('\n')} label={`${title} headers`} />
      )}
      {body === null || body === '' ? (
        <Text size="sm" c="dimmed">
          No body
        </Text>
      ) : (
        <Json text={body} label={bytes === null ? `${title} body` : `${title} body, ${formatCount(bytes)} bytes`} />
      )}
    </Stack>
  );
}
