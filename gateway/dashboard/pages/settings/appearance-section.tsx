import { Group, SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { IconMoon, IconSun, IconSunMoon } from '@tabler/icons-react';
import { Section } from './section.tsx';

/** Light or dark theme. */
export function AppearanceSection() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Section title="Appearance" about="Saved in this browser.">
      <Group>
        <SegmentedControl
          aria-label="Color scheme"
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme)}
          data={schemes.map(({ value, label, icon: Icon }) => ({
            value,
            label: (
              <Group gap={6} wrap="nowrap">
                <Icon size={16} aria-hidden />
                {label}
              </Group>
            ),
          }))}
        />
      </Group>
    </Section>
  );
}

const schemes = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconSunMoon },
] as const;
