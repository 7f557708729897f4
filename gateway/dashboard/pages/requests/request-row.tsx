import { Group, Text, UnstyledButton } from '@mantine/core';
import { formatCount } from '../../parts/counted.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { type ShownRequest, subjectOf } from './request-documents.ts';
import { RequestStatus } from './request-status.tsx';

/** A request in the list, which opens it. */
export function RequestRow({ request, open }: { request: ShownRequest; open: (id: string) => void }) {
  const { id, method, status, durationMs, createdAt, apiKey } = request;
  return (
    <li>
      <UnstyledButton
        w="100%"
        px="sm"
        py={8}
        onClick={() => open(id)}
        style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
      >
        <Group gap="sm" wrap="wrap" justify="space-between">
          <Group gap="sm" wrap="nowrap" flex="1 1 16rem" miw={0}>
            <RequestStatus status={status} />
            <Text size="sm" ff="monospace" className="postroom-wrap" miw={0}>
              <b>{method}</b> {subjectOf(request)}
            </Text>
          </Group>
          <Text size="sm" c="dimmed" className="postroom-wrap">
            {apiKey?.name ?? 'Deleted key'} · {formatCount(durationMs)} ms · <RelativeTime at={createdAt} />
          </Text>
        </Group>
      </UnstyledButton>
    </li>
  );
}
