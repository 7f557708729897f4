import { Badge, Collapse, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { formatCount } from '../../parts/counted.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { exactTime } from '../../parts/time-words.ts';
import { Json } from '../activity/json.tsx';
import { nameActor, type ShownEntry } from './audit-documents.ts';

/** An entry of the audit log, with its details when it is opened. */
export function AuditEntry({ entry }: { entry: ShownEntry }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const { action, objectName, objectId, isDenied, times, createdAt } = entry;
  return (
    <li style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}>
      <UnstyledButton w="100%" px="sm" py={8} onClick={toggle} aria-expanded={isOpen}>
        <Group gap="sm" wrap="wrap" justify="space-between">
          <Group gap="sm" wrap="wrap" flex="1 1 16rem" miw={0}>
            {isDenied && (
              <Badge color="red" variant="outline">
                Denied
              </Badge>
            )}
            <Text size="sm" className="postroom-wrap" miw={0}>
              <b>{action}</b> {objectName ?? objectId}
              {times > 1 && ` (${formatCount(times)} times)`}
            </Text>
          </Group>
          <Text size="sm" c="dimmed" className="postroom-wrap">
            {nameActor(entry)} · <RelativeTime at={createdAt} />
          </Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <Details entry={entry} />
      </Collapse>
    </li>
  );
}

function Details({ entry }: { entry: ShownEntry }) {
  const { createdAt, clientAddress, userAgent, requestId, reason, objectId, before, after } = entry;
  return (
    <Stack gap={4} px="sm" pb="sm">
      <Text size="sm">
        {exactTime(createdAt)}, {nameActor(entry)}
        {clientAddress !== null && `, from ${clientAddress}`}
      </Text>
      {reason !== null && <Text size="sm">{reason}</Text>}
      <Text size="sm" c="dimmed" className="postroom-wrap">
        {[objectId, userAgent, requestId === null ? null : `Request ID ${requestId}`]
          .filter((text) => text !== null)
          .join(' · ')}
      </Text>
      {before !== null && <Json text={JSON.stringify(before)} label="Before" />}
      {after !== null && <Json text={JSON.stringify(after)} label="After" />}
    </Stack>
  );
}
