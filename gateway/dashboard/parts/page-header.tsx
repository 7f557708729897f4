import { ActionIcon, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useLocation } from 'wouter';
import { IconArrowLeft } from './icons.ts';
import { setPageTitle } from './tab-title.ts';

/**
 * Heading of a page, also used as the tab title. `children` are the actions at its right; `back` is the list that leads to the page: the
 * button returns to what was shown before it, such as a filtered list, and to `back` in a new tab.
 */
export function PageHeader({
  title,
  about,
  back,
  children,
}: {
  title: string;
  about?: ReactNode;
  back?: string;
  children?: ReactNode;
}) {
  const [, navigate] = useLocation();
  useEffect(() => setPageTitle(title), [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      {back !== undefined && (
        <ActionIcon
          variant="default"
          size="lg"
          aria-label="Back"
          title="Back"
          onClick={() => (window.history.length > 1 ? window.history.back() : navigate(back))}
        >
          <IconArrowLeft size={18} aria-hidden />
        </ActionIcon>
      )}
      <Stack gap={2} flex={1} miw={0}>
        <Title order={1} className="postroom-wrap">
          {title}
        </Title>
        {about !== undefined && (
          <Text c="dimmed" size="sm" maw="65ch">
            {about}
          </Text>
        )}
      </Stack>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
