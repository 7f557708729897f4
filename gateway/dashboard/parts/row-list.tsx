import { Group, Stack, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import style from './row-list.module.css';
import { Hint, SmallLink, Strong } from './text.tsx';

/** The surface of rows. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={style['list']} aria-label={label}>
      {children}
    </ul>
  );
}

type RowProps = { name: ReactNode; about?: ReactNode; actions?: ReactNode; children?: ReactNode };

/** A row: its name and marks, what there is to know of it, and its actions; below them, `children` have the width of the row. */
export function Row({ name, about, actions, children }: RowProps) {
  return (
    <li className={style['row']}>
      <div className={style['name']}>{name}</div>
      <div className={style['about']}>{about}</div>
      <div className={style['actions']}>{actions}</div>
      <div className={style['more']}>{children}</div>
    </li>
  );
}

/** The name of a row in bold, which links to its page if it has one. */
export function RowName({ href, children }: { href?: string; children: ReactNode }) {
  return href === undefined ? (
    <Strong className="postroom-wrap" miw={0}>
      {children}
    </Strong>
  ) : (
    <SmallLink href={href} fw={600} className="postroom-wrap">
      {children}
    </SmallLink>
  );
}

/** A row with lines of its own. */
export function FreeRow({ children }: { children: ReactNode }) {
  return (
    <Stack component="li" gap={2} px="sm" py={8} className={style['free'] ?? ''}>
      {children}
    </Stack>
  );
}

interface PressedRowProps {
  name: ReactNode;
  about: ReactNode;
  press: () => void;
  /** whether what is below it is shown; absent: it opens something else */
  isExpanded?: boolean;
  children?: ReactNode;
}

/** A row of one line that is pressed to show more: below it as `children`, or elsewhere. */
export function PressedRow({ name, about, press, isExpanded, children }: PressedRowProps) {
  return (
    <li className={style['free']}>
      <UnstyledButton w="100%" px="sm" py={8} onClick={press} aria-expanded={isExpanded}>
        <Group gap="sm" wrap="wrap" justify="space-between">
          <Group gap="sm" wrap="wrap" flex="1 1 16rem" miw={0}>
            {name}
          </Group>
          <Hint className="postroom-wrap">{about}</Hint>
        </Group>
      </UnstyledButton>
      {children}
    </li>
  );
}
