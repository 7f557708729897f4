import { Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useLocation } from 'wouter';
import { findGuidePath } from '../shell/places.ts';
import { IconArrowLeft, IconHelp } from './icons.ts';
import { IconButton } from './quiet-button.tsx';
import { setPageTitle } from './tab-title.ts';
import { Hint } from './text.tsx';

type PageHeaderProps = { title: string; about?: ReactNode; back?: string; children?: ReactNode };

/**
 * Heading of a page, also used as the tab title. `children` are the actions at its right; `back` is the list that leads to the page: the
 * button returns to what was shown before it, such as a filtered list, and to `back` in a new tab.
 */
export function PageHeader({ title, about, back, children }: PageHeaderProps) {
  const [pathname, navigate] = useLocation();
  useEffect(() => setPageTitle(title), [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      {back !== undefined && (
        <IconButton
          label="Back"
          icon={IconArrowLeft}
          variant="default"
          size="lg"
          title="Back"
          onClick={() => (window.history.length > 1 ? window.history.back() : navigate(back))}
        />
      )}
      {/* Actions for which a phone has no room beside the title go below it. */}
      <Stack gap={2} flex="1 1 14rem" miw={0}>
        <Group gap={6} wrap="nowrap">
          <Title order={1} className="postroom-wrap">
            {title}
          </Title>
          {!pathname.startsWith('/docs') && (
            <IconButton
              label={`Guide: ${title}`}
              icon={IconHelp}
              href={findGuidePath(pathname)}
              title="Guide to this page"
            />
          )}
        </Group>
        {about !== undefined && <Hint maw="65ch">{about}</Hint>}
      </Stack>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
