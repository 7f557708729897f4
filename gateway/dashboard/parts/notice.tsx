import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { hideNotice, notify } from './notify.ts';
import { randomId } from './random-id.ts';

/** Time that a notice with an action stays. Milliseconds. */
const STAYS_MS = 10_000;

/** Actions of a notice. */
export interface NoticeOffer {
  /** a link: its text and path */
  link?: { label: string; path: string } | undefined;
  /** undoes the action */
  undo?: (() => void) | undefined;
  /** time that the notice stays, 10 s by default; milliseconds */
  staysMs?: number | undefined;
}

/** Shows what was done, with an optional link and undo button. */
export function showNotice(text: string, { link, undo, staysMs = STAYS_MS }: NoticeOffer = {}): void {
  const id = randomId();
  const hide = () => hideNotice(id);
  notify({
    id,
    autoClose: staysMs,
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Close notice' },
    message: (
      <Group justify="space-between" gap="xs">
        <Text size="sm" flex="1 1 8rem" style={{ overflowWrap: 'break-word', minWidth: 0 }}>
          {text}
        </Text>
        <Group gap="sm" wrap="nowrap">
          {link !== undefined && (
            <Anchor component={Link} href={link.path} size="sm" onClick={hide}>
              {link.label}
            </Anchor>
          )}
          {undo !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                hide();
                undo();
              }}
            >
              Undo
            </Button>
          )}
        </Group>
      </Group>
    ),
  });
}
