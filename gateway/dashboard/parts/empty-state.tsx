import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import style from './empty-state.module.css';
import type { IconType } from './icons.ts';

type EmptyStateProps = { icon: IconType; title: string; about: ReactNode; children?: ReactNode };

/** Empty state of a page: the reason and the next step, below a wall of pigeonholes of which one is for this. */
export function EmptyState({ icon: Icon, title, about, children }: EmptyStateProps) {
  return (
    <Paper withBorder p="xl" radius="md" bg="var(--postroom-raised)">
      <Stack align="center" gap="sm" maw={640} mx="auto" py="lg">
        <div className={style['holes']} aria-hidden>
          {Array.from({ length: HOLES }, (_, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they never change
            <span key={at}>{at === MIDDLE && <Icon size={26} stroke={1.6} />}</span>
          ))}
        </div>
        <Title order={2} ta="center">
          {title}
        </Title>
        <Text c="dimmed" ta="center">
          {about}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}

const HOLES = 15;
const MIDDLE = 7;
