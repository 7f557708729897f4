import { Menu, type MenuItemProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { type ControlProps, controlProps } from './controls.tsx';
import type { IconType } from './icons.ts';

type MenuActionProps = ControlProps & Omit<MenuItemProps, 'children'> & { label: ReactNode; icon: IconType };

/** Item of a menu. */
export function MenuAction({ label, icon: Icon, ...props }: MenuActionProps) {
  return (
    <Menu.Item leftSection={<Icon size={16} aria-hidden />} {...controlProps(props)}>
      {label}
    </Menu.Item>
  );
}
