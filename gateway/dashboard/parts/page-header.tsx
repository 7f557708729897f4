import { ActionIcon, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { guidePathOf } from '../shell/places.ts';
import { IconHelp } from './icons.ts';
import { setPageTitle } from './tab-title.ts';

/** Heading of a page, also used as the tab title. `children` are the actions at its right. */
export function PageHeader({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  useEffect(() => setPageTitle(title), [title]);
  const [pathname] = useLocation();
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      <Stack gap={2}>
        <Group gap={6} wrap="nowrap">
          <Title order={1} className="postroom-wrap">
            {title}
          </Title>
          {!pathname.startsWith('/docs') && (
            <ActionIcon
              component={Link}
              href={guidePathOf(pathname)}
              variant="subtle"
              color="gray"
              aria-label={`Guide: ${title}`}
              title="Guide to this page"
            >
              <IconHelp size={18} aria-hidden />
            </ActionIcon>
          )}
        </Group>
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
